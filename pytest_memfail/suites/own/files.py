"""The task `custom`: a user's own cases, one incident per YAML file (`*.memfail.yaml`).

```yaml
id: lost-allergy                      # optional; defaults to the file name
conversations:                        # in the order they are stored
  - I'm allergic to penicillin.       # one user message, or
  - forget: We moved to Lisbon.       # a call of the system's forget(), or a message that asks for it
  - date: 2026-03-02 14:30            # optional: a day (then 9:00) or a time; UTC unless it names a zone
    messages:
      - user: We moved to Lisbon in May.
      - assistant: Noted!
question: Which antibiotic must I not be given?
answer: penicillin                    # the right answer, for a model as judge
expected:                             # what must be stored, kept and retrieved; [] if the answer is that it was never said
  - fact: The user is allergic to penicillin.
    conversation: 1                   # 1-based; optional with a single conversation
    details: [[allergic, allergy], [penicillin]]   # what must survive; each a list of acceptable wordings
    forbidden: [no known allergies]   # what the store must not hold as current
user: Ulla Brandt                     # optional: the user's name, by which memories may call the user
must_not_hold:                        # optional: what memory must lack; a text is words that no entry may have
  - fact: Ulla takes aspirin.         # or a fact, looked for like an expected one, or by its `details`
    conversation: 2                   # the conversation that says it; none for what the user never said
other_user:                           # optional: conversations of another user, in a store of the same system
  - Aspirin does me good.
k: 5                                  # optional; defaults to the run's k
haystack: memories_of_a_friend         # optional: a task, or a folder of conversations, to store around the case's own
```

A file may hold several cases as YAML documents (`---`). Each case has a store of its own. A haystack folder holds YAML
or JSON files. Each is a list of conversations as above, or a mapping with the key `conversations`; a JSON file may also be a
chat as programs log or export it (`rows/chats.py`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pytest_memfail.core import (
    MAX_K,
    MEMORY_STAGES,
    MORNING,
    NOT_RETRIEVED,
    NOT_STORED,
    STAGES,
    SUMMARY_ERROR,
    WRONGLY_HELD,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Moment,
    Part,
    Probe,
    Question,
    Role,
    RowError,
    Step,
    StorePlan,
    Task,
    moment_needed,
    problem_of,
    short,
)
from pytest_memfail.rows import (
    HALF,
    ROW_ID,
    Text,
    YamlError,
    digest,
    half_character,
    is_chat,
    may_be_cut,
    place_of,
    read_chats,
    read_yaml,
    slug,
)
from pytest_memfail.suites.kinds import NEVER_SAID, UNWANTED
from pytest_memfail.suites.own.finding import CUSTOM, SUFFIX
from pytest_memfail.suites.own.haystacks import HaystackFinder, NoHaystackError, combined_hash
from pytest_memfail.suites.places import better_said, elsewhere
from pytest_memfail.texts import content, sentences, statements

if TYPE_CHECKING:
    import yaml

M = TypeVar("M", bound=BaseModel)
SAME_STATE: Final = 0.6
"""The share of the words of a forbidden state that a sentence has which states it."""
ROLES: Final = get_args(Role)
_ASKED: Final = re.compile(
    r"(?!.*\b(?:that|know|remember|note|told|since|because|given|if|but|i'm|i\u2019m|i am|i've|i\u2019ve)\b)"
    r"(?:(?:and|so|hi|hey|ok|okay)\b,? )*(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|"
    r"who|whom|whose|what|when|where|which|why|how)\b.*\?$",
    re.I,
)
"""A sentence that only asks: nothing in it tells something besides."""
DAY_CHARACTERS: Final = len("2026-03-01")
PLAIN: Final = (str, int, float, date)
"""Texts, and what YAML makes of those that lack quotes: they are read as texts, and refused."""


def _wordings(value: object) -> object:
    return [value] if isinstance(value, PLAIN) else value


Wordings = Annotated[list[Text], BeforeValidator(_wordings), Field(min_length=1)]


def _moment(value: object) -> datetime:
    """Return the time that a date names: of a day 9:00, of a time without a zone that in UTC."""
    if isinstance(value, str):
        text = re.sub(r"[Zz]$", "+00:00", value.strip())  # Python 3.10 reads no Z
        with suppress(ValueError):
            value = date.fromisoformat(text) if len(text) <= DAY_CHARACTERS else datetime.fromisoformat(text)
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
    if isinstance(value, date):
        return datetime.combine(value, MORNING)
    raise ValueError("a day or a time, such as 2026-03-01 or 2026-03-01 14:30")


When = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]


def _plain_id(value: str) -> str:
    if not ROW_ID.fullmatch(value):
        raise ValueError("only ASCII letters and digits, with . _ - between them")
    return value


class CaseConversation(BaseModel):
    """A conversation as the user writes it."""

    model_config = ConfigDict(extra="forbid")

    date: When | None = None
    messages: Annotated[list[dict[Role, Text]], Field(min_length=1)] | None = None
    forget: Text | None = None
    """What the user asks to forget, instead of messages."""

    @model_validator(mode="before")
    @classmethod
    def _plain_text(cls, value: object) -> object:
        """Accept plain text as a conversation of one user message."""
        return {"messages": [{"user": value}]} if isinstance(value, PLAIN) else value

    @model_validator(mode="after")
    def _one_role_each(self) -> CaseConversation:
        if (self.messages is None) == (self.forget is None):
            raise ValueError(
                f"messages: got {'nothing' if self.forget is None else 'forget besides'}, expected a value"
            )
        for message in self.told:
            if len(message) != 1:
                raise ValueError(f"messages: got {sorted(message)} in one message, expected one role with its text")
        if self.date is not None:
            try:  # a system may convert each time to UTC
                _ = [(self.date + timedelta(minutes=at)).astimezone(timezone.utc) for at in (0, len(self.told) - 1)]
            except OverflowError:
                raise ValueError(
                    f"date: got {self.date:%Y-%m-%d} for {len(self.told)} messages one minute apart from {self.date:%H:%M}, "
                    "expected a time between the years 1 and 9999 for each"
                ) from None
        return self

    @property
    def told(self) -> list[dict[Role, str]]:
        """Return the messages; to ask to forget something is one."""
        return self.messages or [{"user": f"Please forget this: {self.forget}"}]


class UnwantedFact(BaseModel):
    """One fact that memory must not hold."""

    model_config = ConfigDict(extra="forbid")

    fact: Text
    conversation: Annotated[int, Field(ge=1)] | None = None
    entity: Text | None = None
    details: list[Wordings] = []

    @model_validator(mode="before")
    @classmethod
    def _plain_text(cls, value: object) -> object:
        """Accept plain text as words that no entry may have."""
        if isinstance(value, PLAIN):
            return {"fact": value, "details": [value] if isinstance(value, str) else []}
        return value


class ExpectedFact(BaseModel):
    """One fact that the memory must hold."""

    model_config = ConfigDict(extra="forbid")

    fact: Text
    conversation: Annotated[int, Field(ge=1)] | None = None
    entity: Text | None = None
    details: list[Wordings] = []
    forbidden: list[Text] = []


class CustomCase(BaseModel):
    """One case: an incident to check."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, AfterValidator(_plain_id)] | None = None
    conversations: Annotated[list[CaseConversation], Field(min_length=1)]
    question: Text
    answer: Text | None = None
    """May be left out where nothing is expected, and something must not be held."""
    expected: list[ExpectedFact] | None = None
    """Empty: it was never said, and the right answer is that it is not known."""
    must_not_hold: list[UnwantedFact] = []
    other_user: list[CaseConversation] = []
    user: Text | None = None
    k: Annotated[int, Field(ge=1, le=MAX_K)] | None = None
    haystack: Text | None = None

    @model_validator(mode="after")
    def _places(self) -> CustomCase:
        if faults := list(self._faults()):
            raise ValueError("\n".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        n = len(self.conversations)
        if self.expected is None and not self.must_not_hold:
            yield "expected: got nothing, expected facts, or [] if the answer is that it is not known"
        if self.answer is None and (self.expected or not self.must_not_hold):
            yield "answer: got nothing, expected the right answer"
        if self.other_user and not self.must_not_hold:
            yield "other_user: got conversations without must_not_hold, expected what the user's memory must lack"
        if (
            self.forgets == [0]
            and not self.other_user
            and any(fact.conversation is None for fact in self.must_not_hold)
        ):
            yield "conversations.0.forget: got a request to forget what was never said, expected a conversation before it"
        for key, i, fact in self.placed:
            if fact.conversation is None and key == "expected" and self.only_told is None:
                yield f"expected.{i}.conversation: got nothing, expected 1 to {n} (the conversation that states it)"
            if (fact.conversation or 1) > n:
                yield f"{key}.{i}.conversation: got {fact.conversation}, expected 1 to {n}"
            elif fact.conversation and fact.conversation - 1 in self.forgets:
                yield f"{key}.{i}.conversation: got {fact.conversation}, a request to forget, expected one that states it"

    @property
    def placed(self) -> Iterator[tuple[str, int, ExpectedFact | UnwantedFact]]:
        """Yield the facts with their places."""
        yield from (("expected", i, fact) for i, fact in enumerate(self.expected or ()))
        yield from (("must_not_hold", i, fact) for i, fact in enumerate(self.must_not_hold))

    @property
    def forgets(self) -> list[int]:
        """Return the places of the requests to forget among the conversations, from 0."""
        return [at for at, one in enumerate(self.conversations) if one.forget is not None]

    @property
    def only_told(self) -> int | None:
        """Return the number of the only conversation that says something; None if several do."""
        told = [number for number, one in enumerate(self.conversations, 1) if one.forget is None]
        return told[0] if len(told) == 1 else None


def case_schema() -> dict[str, Any]:
    """Return the JSON schema of a case, for checks and completion in an editor."""
    schema = CustomCase.model_json_schema()
    kinds = schema["$defs"]
    # the short forms that validators turn into the long ones before the models see them
    text = {"type": "string", "minLength": 1}
    for name in ("ExpectedFact", "UnwantedFact"):
        details = kinds[name]["properties"]["details"]
        details["items"] = {"anyOf": [text, details["items"]]}
    for name in ("CaseConversation", "UnwantedFact"):
        kinds[name] = {"anyOf": [text, kinds[name]]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A case of your own for pytest-memfail",
    }


class ConversationFile(BaseModel):
    """A file of haystack conversations."""

    model_config = ConfigDict(extra="forbid")

    conversations: Annotated[list[CaseConversation], Field(min_length=1)]


def read_custom(
    paths: Sequence[Path],
    root: Path,
    haystacks: HaystackFinder | None = None,
    needed: Iterable[Path] | None = None,
) -> Task | None:
    """Return the task of these files, as `suites.read_custom` says."""
    must_be_sound = {path.resolve() for path in (paths if needed is None else needed)}
    left_out: list[str] = []
    haystacks = haystacks or HaystackFinder()
    hashes: dict[str, None] = {}
    plans: list[StorePlan] = []
    evidence: dict[str, Fact] = {}
    seen: dict[str, str] = {}
    sha = hashlib.sha256()
    for path in sorted(paths):
        try:
            content = _content(path)
            sha.update(content)
            found = [_store_of(path, *case, seen, haystacks) for case in _cases(path, content)]
        except RowError as fault:
            if path.resolve() in must_be_sound:
                raise
            left_out.append(str(fault))
            continue
        for plan, facts, data_hash in found:
            plans.append(plan)
            evidence.update(facts)
            if data_hash:
                hashes[data_hash] = None
    if not plans:
        return None
    return Task(
        name=CUSTOM,
        targets=(NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, WRONGLY_HELD),
        stores=tuple(plans),
        evidence=evidence,
        licence="the user's own",
        data_hash=combined_hash(sha.hexdigest(), *hashes) if hashes else sha.hexdigest(),
        description=f"your own cases below {root.name}",
        note="; ".join(f"left out: {fault}" for fault in left_out),
    )


def _store_of(
    path: Path, node: Any, case: CustomCase, seen: dict[str, str], haystacks: HaystackFinder
) -> tuple[StorePlan, dict[str, Fact], str]:
    """Return the store of a case, its evidence, and the digest of its haystack; empty without one."""
    line = node.start_mark.line + 1
    case_id = case.id or slug(path.name.removesuffix(SUFFIX))
    if case_id in seen:
        problem = (
            f"got {case_id!r} again (first at {seen[case_id]}), expected unique ids; delete one or give it another id"
        )
        raise RowError(str(path), line, "id", problem)
    seen[case_id] = f"{path}:{line}"
    plan, facts = _plan(case, case_id, path, line)
    if case.haystack is None:
        return plan, facts, ""
    return _in_haystack(case, plan, facts, haystacks, path, node)


def misplaced(path: Path) -> Iterator[RowError]:
    """Yield the dates of a file's cases that are not in order, and the facts that the conversation which they name does not state.

    Raises `RowError` for the first fault.
    """
    for node, case in _cases(path, _content(path)):
        dated = [(at, one.date) for at, one in enumerate(case.conversations) if one.date is not None]
        for (_, before), (at, after) in itertools.pairwise(dated):
            if after < before:
                place = ["conversations", at, "date"]
                problem = f"got {after}, before the {before} of an earlier conversation; they are stored in the order of the file"
                yield RowError(str(path), _line_of(node, place), ".".join(map(str, place)), problem)
        texts = [
            (str(number), "\n".join(text for message in conversation.told for text in message.values()))
            for number, conversation in enumerate(case.conversations, 1)
        ]
        words = [(number, content(text)) for number, text in texts]
        for at, fact in enumerate(case.expected or ()):
            home = (fact.conversation or case.only_told or 1) - 1
            found = [
                (f"no wording of the detail {short(wordings[0])} is in conversation {home + 1}", other)
                for wordings in fact.details
                if (other := elsewhere(wordings, texts[home][1], texts)) is not None
            ]
            if not fact.details and (said := better_said(content(fact.fact), words[home][1], words)) and said[1]:
                found = [(f"conversation {home + 1} has {said[0]:.0%} of the words of the fact", said[1])]
            for problem, other in found:
                better = f"conversation {other} has it" if other else "no conversation of the case has it"
                line = _line_of(node, ["expected", at])
                yield RowError(str(path), line, f"expected.{at}", f"{problem}; {better}")


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # reading a named pipe would block
        raise RowError(str(path), 1, "file", "cannot be read (not a regular file)")
    try:
        return path.read_bytes()
    except OSError as error:
        raise RowError(str(path), 1, "file", f"cannot be read ({error.strerror})") from None


def _documents(path: Path, content: bytes) -> Iterator[tuple[yaml.Node | None, object]]:
    """Yield the documents of a YAML file, each with its node."""
    try:
        yield from read_yaml(content)
    except YamlError as error:
        raise RowError(str(path), error.line, "file", error.problem) from None


def _cases(path: Path, content: bytes) -> Iterator[tuple[Any, CustomCase]]:
    for node, value in _documents(path, content):
        yield node, _case(path, node, value)


def _case(path: Path, node: Any, value: object) -> CustomCase:
    """Return the case of a document. Raises its first fault, with the others."""
    if node is None or not isinstance(value, dict):
        problem = f"got {type(value).__name__}, expected a case (keys conversations, question, …)"
        raise RowError(str(path), _line_of(node, ()), "file", problem)
    return _checked(path, node, value, CustomCase)


def _checked(path: Path, node: Any, value: object, model: type[M], *, skip: int = 0) -> M:
    """Return a document as a value of this class, without the first `skip` keys of its places.

    Raises its first fault, with the others.
    """
    if (cut := half_character(value)) is not None:
        raise RowError(str(path), _line_of(node, cut[skip:]), place_of(cut[skip:]) or "file", HALF)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _together(list(_faults(str(path), node, error, model, skip=skip))) from None


def _together(faults: Sequence[RowError]) -> RowError:
    """Return the first of some faults, with the others."""
    faults[0].more = faults[1:]
    return faults[0]


@contextmanager
def _kept(faults: list[RowError]) -> Iterator[None]:
    """Add the faults that are raised to these."""
    try:
        yield
    except RowError as error:
        faults += [error, *error.more]


def case_faults(path: Path, haystacks: HaystackFinder) -> list[RowError]:
    """Return the faults of a file's cases in the order of its lines, then those of their haystacks."""
    found: list[RowError] = []
    seen: dict[str, str] = {}
    with _kept(found):
        for node, value in _documents(path, _content(path)):
            with _kept(found):
                _store_of(path, node, _case(path, node, value), seen, haystacks)
    return sorted(found, key=lambda fault: (fault.file != str(path), fault.file, fault.line))


def _haystack_file(path: Path, content: bytes, faults: list[RowError]) -> Iterator[Conversation]:
    """Yield the conversations of a haystack file: in the form of cases, or chats in any form that is read.

    Adds to the faults. Raises the one after which no more of the file can be read.
    """
    numbers = itertools.count(1)
    as_json = _json(path, content)
    documents: Iterable[tuple[Any, object]]
    if path.suffix == ".jsonl" or is_chat(as_json):
        chats = [
            {"date": c.day, "messages": [{turn.role: turn.text} for turn in c.turns]} for c in read_chats(path).chats
        ]
        documents = [(None, chats)]
    elif as_json is not None and may_be_cut(content.decode("utf-8-sig")) and half_character(as_json) is None:
        documents = [(None, as_json)]  # YAML does not join the halves of an escaped emoji, as JSON does
    else:  # it knows the lines of faults
        documents = _documents(path, content)
    for node, value in documents:
        is_list = isinstance(value, list)
        with _kept(faults):
            whole = {"conversations": value} if is_list else value
            for conversation in _checked(path, node, whole, ConversationFile, skip=int(is_list)).conversations:
                yield _conversation(conversation, f"c-{digest(f'{path.name}:{next(numbers)}', 10)}")


def _json(path: Path, content: bytes) -> object:
    """Return the value of a JSON file; None for another file, or for JSON that only YAML accepts."""
    try:
        return json.loads(content) if path.suffix == ".json" else None
    except (ValueError, RecursionError):
        return None


def _faults(
    file: str, node: Any, error: ValidationError, model: type[BaseModel], *, skip: int = 0
) -> Iterator[RowError]:
    """Yield the faults with the lines of their keys. The first `skip` keys of their locations are not in the file."""
    meant = set()
    # a misspelt key is also a missing one: report the misspelling only
    for fault in sorted(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden"):
        loc = [part for part in fault["loc"] if not str(part).startswith(("function-", "list[", "[key]"))][skip:]
        if fault["type"] == "missing" and tuple(loc) in meant:
            continue
        for message in fault["msg"].removeprefix("Value error, ").split("\n"):
            place = loc
            key, colon, rest = message.partition(": ")
            if fault["type"] == "value_error" and colon and " " not in key:
                place, message = [*loc, *(int(p) if p.isdigit() else p for p in key.split("."))], rest
            elif fault["type"] == "extra_forbidden":
                known = _keys_at([*["conversations"] * skip, *loc], model)
                close = get_close_matches(str(loc[-1]), known, 1)
                meant |= {(*loc[:-1], name) for name in close}
                message = "no such key" + (f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}")
            else:
                message = problem_of(fault)
            yield RowError(file, _line_of(node, place), ".".join(map(str, place)) or "file", message)


def _keys_at(place: Sequence[object], model: type[BaseModel]) -> list[str]:
    names: dict[str, type[BaseModel]] = {
        "conversations": CaseConversation,
        "other_user": CaseConversation,
        "expected": ExpectedFact,
        "must_not_hold": UnwantedFact,
    }
    model = names.get(str(place[0]), model) if len(place) > 1 else model
    return list(model.model_fields)


def _line_of(node: Any, place: Sequence[object]) -> int:
    """Return the 1-based line of the deepest part of the location that the file contains."""
    import yaml

    line = 1 if node is None else node.start_mark.line + 1
    for part in place:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is None:
                return int(line)
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return int(line)
    return int(line)


def _plan(case: CustomCase, case_id: str, path: Path, line: int) -> tuple[StorePlan, dict[str, Fact]]:
    conversations = [_conversation(written, f"c-{case_id}-{i}") for i, written in enumerate(case.conversations, 1)]
    facts = {}
    for number, expected in enumerate(case.expected or (), 1):
        home = conversations[(expected.conversation or case.only_told or 1) - 1]
        facts[f"{case_id}:{number}"] = Fact(
            id=f"{case_id}:{number}",
            kind="fact",
            text=expected.fact,
            source=_source(home, expected),
            conversation_id=home.id,
            claim=replace(
                _claim(case, expected),
                replaced=tuple(expected.forbidden),
                moment=_when(case, home, expected),
                **_earlier(conversations, home, expected),
            ),
        )
    beside = tuple(_conversation(one, f"c-{case_id}-other-{i}") for i, one in enumerate(case.other_user, 1))
    told = [*conversations, *beside]
    for number, unwanted in enumerate(case.must_not_hold, 1):
        fact = _unwanted(case, unwanted, f"{case_id}:not-{number}", told)
        facts[fact.id] = fact
    question = Question(
        id=case_id,
        task=CUSTOM,
        text=case.question,
        query=case.question,
        gold=(case.answer,)
        if case.answer
        else tuple(f"memory must not hold: {fact.fact}" for fact in case.must_not_hold),
        evidence=tuple(facts),
        kind="open" if case.expected else NEVER_SAID,
        k=case.k,
        file=str(path),
        line=line,
        stages=STAGES if case.answer else MEMORY_STAGES,
    )
    steps: list[Step] = [*map(Ingest, conversations)]
    for at in sorted({at for fact in case.must_not_hold for at in _before(case, fact)}, reverse=True):
        if 0 < at < len(conversations):  # a memory that never held it has forgotten nothing
            steps.insert(at, Probe(()))
    return StorePlan(case_id, (*steps, Probe((question,))), beside=beside), facts


def _earlier(told: Sequence[Conversation], home: Conversation, fact: ExpectedFact) -> dict[str, Any]:
    """Return what an earlier conversation said that must no longer hold, and whether the fact was said on a later day."""
    for before in reversed(told[: told.index(home)]):
        for said in (said for line in before.text.splitlines() for said in statements(line)):
            words = content(said)
            if any(len(words & content(old)) >= SAME_STATE * len(content(old)) for old in fact.forbidden):
                is_later = (
                    before.began is not None and home.began is not None and before.began.date() < home.began.date()
                )
                return {"earlier": said, "is_dated": is_later}
    return {}


def _when(case: CustomCase, home: Conversation, fact: ExpectedFact) -> Moment | None:
    """Return when a fact was, if it, or the answer from it alone, gives a time that only the date of its conversation tells."""
    if home.began is None:
        return None
    texts = [fact.fact, *(each for wordings in fact.details for each in wordings)]
    texts += [case.answer or ""] if len(case.expected or ()) == 1 else []
    return moment_needed("\n".join(texts), home.text, home.began.date(), home.began.tzinfo)


def _claim(case: CustomCase, fact: ExpectedFact | UnwantedFact) -> Claim:
    details = (Part(wordings[0], wordings=tuple(wordings)) for wordings in fact.details)
    return Claim((Part(fact.fact), *details), owner=fact.entity, user=case.user)


def _unwanted(case: CustomCase, fact: UnwantedFact, fact_id: str, told: Sequence[Conversation]) -> Fact:
    """Return a fact that memory must not hold: said in one of the conversations, or by the other user."""
    number = fact.conversation or (len(case.conversations) + 1 if case.other_user else case.only_told or 1)
    return Fact(
        id=fact_id,
        kind=UNWANTED,
        text=fact.fact,
        source=fact.fact,
        conversation_id=told[number - 1].id,
        claim=_claim(case, fact),
        history=tuple(conversation.id for conversation in told),
        is_distractor=True,
        may_hold_part=True,
    )


def _before(case: CustomCase, fact: UnwantedFact) -> list[int]:
    """Return after how many conversations memory may hold what it must forget: before each request, if no place is known."""
    if fact.conversation is None:
        return case.forgets
    return [next((at for at in case.forgets if at >= fact.conversation), fact.conversation)]


def _source(home: Conversation, expected: ExpectedFact) -> str:
    """Return what the user said in a conversation; all of it if a detail is only in what others said.

    Where the user only asked for the fact, it is what states it: all but the user's questions.
    """
    said = "\n".join(message.content for message in home.messages if message.role == "user")
    told = [
        (message.role, "\n".join(text for text in sentences(message.content) if not _ASKED.match(text)))
        if message.role == "user"
        else (message.role, message.content)
        for message in home.messages
    ]
    stated, by_all = ("\n".join(text for role, text in told if text and role in roles) for roles in (("user",), ROLES))
    if len(stated) < len(said) and _lacks(stated, home, expected) and not _lacks(by_all, home, expected):
        return by_all
    return home.text if not said or (expected.details and _lacks(said, home, expected)) else said


def _lacks(text: str, home: Conversation, fact: ExpectedFact) -> bool:
    """Return whether a text lacks a detail of a fact that its conversation has; of a fact without details, most of its words."""
    if not fact.details:
        return better_said(content(fact.fact), content(text), ()) is not None
    return any(elsewhere(wordings, text, [("all", home.text)]) for wordings in fact.details)


def _in_haystack(
    case: CustomCase,
    plan: StorePlan,
    facts: dict[str, Fact],
    haystacks: HaystackFinder,
    path: Path,
    node: yaml.Node,
) -> tuple[StorePlan, dict[str, Fact], str]:
    """Return a case's store and facts with a haystack around its conversations, and the haystack's hash.

    Raises `RowError` if the haystack does not exist, or the first fault of its files, with the others.
    """

    def fault(problem: str) -> RowError:
        return RowError(str(path), _line_of(node, ["haystack"]), "haystack", problem)

    try:
        haystack = haystacks.find(case.haystack or "", path.parent)
    except NoHaystackError as error:
        raise fault(str(error)) from None
    hay, data_hash = list(haystack.conversations), haystack.data_hash
    faults: list[RowError] = []
    for file in haystack.files:
        with _kept(faults):
            content = _content(file)
            hay += _haystack_file(file, content, faults)
            data_hash = combined_hash(data_hash, content.decode("utf-8"))
    if faults:
        raise _together(faults)
    # an id with the case's name would reveal which conversations matter
    names = {c.id: f"c-{digest(f'{CUSTOM}:{c.id}', 10)}" for c in plan.read_conversations()}
    own = [replace(conversation, id=names[conversation.id]) for conversation in plan.read_conversations()]
    try:
        stored = haystacks.around(own, hay, plan.id)
    except OverflowError:
        raise fault("the dates of the conversations leave no room for a haystack around them") from None
    ids = [conversation.id for conversation in stored]
    moved = {  # a sample that keeps the case keeps its haystack
        name: replace(fact, conversation_id=names.get(fact.conversation_id, fact.conversation_id), history=tuple(ids))
        for name, fact in facts.items()
    }
    early: dict[str, Probe] = {}
    """The probe after a conversation."""
    *first, last = plan.steps
    for before, step in itertools.pairwise(first):
        if isinstance(before, Ingest) and isinstance(step, Probe):
            early[names[before.conversation.id]] = step
    steps: list[Step] = []
    for conversation in stored:
        steps += [Ingest(conversation), *filter(None, [early.get(conversation.id)])]
    return replace(plan, steps=(*steps, last)), moved, data_hash


def _conversation(written: CaseConversation, conversation_id: str) -> Conversation:
    start, messages = written.date, []
    for i, message in enumerate(written.told):
        ((role, content),) = message.items()
        messages.append(Message(role, content, None if start is None else start + timedelta(minutes=i)))
    return Conversation(conversation_id, tuple(messages), start, written.forget or "")
