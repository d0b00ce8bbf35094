"""Answer the prompts of judge, test-taker and episode generator by rule, for a local endpoint: without a model.

The prompts contain their data in marked blocks of JSON. For the memory stages the offline judge decides over the
entries that were sent, so that a run over HTTP can be compared with one by that judge alone. Answers are guessed from
shared words, which is enough to produce every verdict.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from pytest_memfail.core import Claim, Fact, Listing, Memory, Part, PartRole, Question, StageResult
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.testing.chats import chats_by_rule, rows_to_write
from pytest_memfail.texts import after_stops

BLOCK: Final = re.compile(r"^<(\w+)>\n(?:(.*?)\n)?</\1>$", re.DOTALL | re.MULTILINE)
WORD: Final = re.compile(r"[^\W_]+")
NAME: Final = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
CLOSED: Final = re.compile(
    r"(?:^\W*|[,;:\u2013\u2014] *(?:and |or |so |then )?)"
    r"(?:am|are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would)\b",
    re.IGNORECASE,
)
"""How the last sentence of a question begins, or a clause of it, that Yes or No answers."""
NAME_END: Final = re.compile("['’]s$")
OPTION: Final = re.compile(r"^([A-E])\. (.*)$", re.MULTILINE)
STEM: Final = 5
"""The letters of a word that are compared."""
COVERED: Final = 0.5
"""The share of an expected item's words that covers it."""
PRESENT: Final = 0.6
"""The minimum share of a value's words in an entry that holds it, for a suite's own kind of evidence."""
AGREES: Final = 0.4
"""The share of the gold answer's words that a right free answer contains."""
LENT: Final = 4
"""The number of words of an essay, beyond those of the question, that reveal a wrong use in an answer about a
stranger."""
HOLDS: Final = 0.6
"""The minimum share of a question's words in the memories for its situation to count as the remembered one."""
RESTATED: Final = 6
"""The most sentences that an answer repeats."""
COMMON: Final = frozenset(
    word[:STEM]
    for word in """a an the and or but of to in on at by for from with is are was were be been do does did will would can
    could should may might have has had i me my you your he him his she her it its we our they them their this that these
    those what which who when where why how if as so not no yes there here than then about into only just any some right
    now today used answer memories none""".split()
)

_one_at_a_time = threading.Lock()


def answer_by_rule(request: Mapping[str, Any]) -> str:
    """Return the reply to a chat completion request: `LocalEndpoint(answer=answer_by_rule)`."""
    if (rows := rows_to_write(request)) is not None:
        return _text(chats_by_rule(rows))
    blocks, shape = _blocks(request), str(request["messages"][-1]["content"]).rpartition("\n")[2]
    if "fact" in blocks and (fact := json.loads(blocks["fact"]))["kind"] not in _default_kinds():
        return _text(
            _about_suite(fact, _entries(blocks["memories"]), has_state='"outdated"' in str(request["messages"]))
        )
    if "fact" in blocks:
        with _one_at_a_time:  # the judge caches, and endpoints answer on threads of their own
            return _text(_about_entries(json.loads(blocks["fact"]), blocks["memories"]))
    if "facts" in blocks and (facts := json.loads(blocks["facts"]))["check"] == "added":
        return _text(_about_added(facts, _entries(blocks["memories"])))
    if "facts" in blocks:
        return _text(_about_answer(json.loads(blocks["facts"]), json.loads(blocks["reply"])))
    if "right_answer" in blocks:
        (_, wanted), (_, reply) = (_entries(blocks[name])[0] for name in ("right_answer", "reply"))
        return _text(_in_shape(shape, right=_share(wanted, reply) >= AGREES))
    if "question" in blocks:
        return _answer(json.loads(blocks["question"]), [text for _, text in _entries(blocks["memories"])])
    if "memories" in blocks:
        return _text({"reason": "ok"})
    return _text(_in_shape(shape)) if shape.startswith('{"') else "Thank you, I will remember that."


@cache
def _default_kinds() -> frozenset[str]:
    """Return the kinds of facts and questions of the default suites, whose prompts show all that the offline judge reads."""
    from pytest_memfail.suites import DEFAULT, built_in_suite  # pydantic, which is read with it, only to answer

    return frozenset(name for suite in map(built_in_suite, DEFAULT) for name in (*suite.kinds, *suite.answers))


def _in_shape(shape: str, *, right: bool = True) -> dict[str, Any]:
    """Return a reply to a suite's own check, whose prompt ends with the shape of the reply; affirmative by default.

    >>> _in_shape('{"reason": "one short sentence", "fluent": true or false, "numbers": [the numbers]}')
    {'reason': 'yes', 'fluent': True, 'numbers': [1]}
    """
    kinds = {"t": right, "f": right, "[": [1], '"': "yes" if right else "no"}
    return {name: kinds.get(start, 1) for name, start in re.findall(r'"(\w+)": (.)', shape)}


def _blocks(request: Mapping[str, Any]) -> dict[str, str]:
    """Return the marked blocks of the first user message that has any."""
    for message in request["messages"]:
        if message["role"] == "user" and (found := BLOCK.findall(message["content"])):
            return dict(found)
    return {}


def _text(reply: Mapping[str, Any]) -> str:
    return json.dumps(reply, ensure_ascii=False)


def _entries(block: str) -> list[tuple[int, str]]:
    """Return the numbers and texts of the entries."""
    lines = (line.partition(" ") for line in block.split("\n") if line)
    return [(int(number), json.loads(text)) for number, _, text in lines]


# -- the memory stages -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _judge(protocol: str) -> OfflineJudge:
    from pytest_memfail.suites import DEFAULT, built_in_suite

    kinds = {name: kind for suite in map(built_in_suite, DEFAULT) for name, kind in suite.kinds.items()}
    return OfflineJudge("paper" if protocol == "paper" else "ours", kinds=kinds)


@lru_cache(maxsize=16)
def _listing(texts: tuple[str, ...]) -> Listing:
    """Return one listing for all prompts about the same entries, so that the judge reads it once."""
    return Listing("shown", tuple(Memory(text) for text in texts))


_ANY_QUESTION: Final = Question("", "", "", "", (), (), "open")


def _about_entries(fact: Mapping[str, Any], block: str) -> dict[str, Any]:
    entries = _entries(block)
    numbers = [number for number, _ in entries]
    listing = _listing(tuple(text for _, text in entries))
    evidence, judge = _evidence(fact), _judge(fact.get("protocol", "ours"))
    if fact["check"] == "retrieval":
        found = judge.retrieval(evidence, _ANY_QUESTION, listing.memories)
        return {**_shared(found, numbers), "missing": _missing(found), "recoverable": found.outcome == "passed"}
    storage, summary = judge.storage(evidence, listing), judge.summary(evidence, listing)
    present, faithful = storage.outcome == "passed", summary.outcome == "passed"
    if fact["check"] == "storage":
        return {**_shared(storage, numbers), "present": present}
    reply = {**_shared(summary, numbers), "missing": _missing(summary)}
    if fact["check"] == "summary":
        return {**reply, "faithful": faithful}
    present = present and not storage.vacuous  # a model is asked whether the entries state that something ended
    reply |= {"present": present, "faithful": present and faithful}
    if evidence.kind == "fact":
        reply["outdated"] = storage.label == "stale_value"
    return reply


def _about_suite(fact: Mapping[str, Any], entries: Sequence[tuple[int, str]], *, has_state: bool) -> dict[str, Any]:
    """Return the reply about a suite's own kind of evidence: the words of its value, or that something has ended."""
    statement = fact.get("fact") or fact.get("said", "")
    wanted = statement if fact.get("taken_back") else fact.get("value") or statement
    share, closest = max((_share(wanted, text), -number) for number, text in entries)
    present, faithful = share >= PRESENT, share == 1.0 or (share >= PRESENT and wanted is statement)
    reply: dict[str, Any] = {
        "reason": f"{share:.0%} of its words are in one entry",
        "entries": [-closest] if present else [],
        "missing": [] if faithful else [wanted],
    }
    if fact["check"] == "retrieval":
        return {**reply, "recoverable": faithful}
    reply |= {"present": present, "faithful": faithful}
    if has_state:
        reply["outdated"] = not present and any(
            _share(old, text) == 1.0 for old in fact.get("replaced", ()) for _, text in entries
        )
    return reply


def _about_added(facts: Mapping[str, Any], entries: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """Return the reply about memories that a dialogue added: the share of their words that it has."""
    memories = []
    for number, text in entries:
        share = _share(text, facts["dialogue"])
        is_target = any(_share(point, text) >= AGREES for point in facts["points"])
        support = 2 if share == 1.0 else 1 if share >= COVERED else 0
        memories.append({"entry": number, "support": support, "target": is_target})
    return {"reason": "by the words that the dialogue has", "memories": memories}


def _shared(result: StageResult, numbers: Sequence[int]) -> dict[str, Any]:
    return {"reason": result.reason, "entries": [numbers[at] for at in result.entries]}


def _missing(result: StageResult) -> list[str]:
    return list(result.missing)


def _evidence(fact: Mapping[str, Any]) -> Fact:
    """Return the fact with the claim that a prompt shows, which is all that the judge reads."""
    kind, said = fact["kind"], fact.get("said", "")
    rule = " ".join(fact[part] for part in ("entity", "behavior", "condition") if part in fact)
    claim = Claim(
        (*_parts(fact), *_listed(fact)),
        owner=fact.get("entity"),
        replaced=tuple(fact.get("replaced", ())),
        has_ended=fact.get("taken_back", False),
    )
    return Fact("", kind, fact.get("fact") or (f"{rule}." if kind == "rule" else said), said, "", claim)


def _parts(fact: Mapping[str, Any]) -> tuple[Part, ...]:
    match fact:
        case {"behavior": behavior, "condition": condition}:
            return Part(behavior), Part(condition, "condition")
        case {"preference": preference}:
            return (Part(preference),)
        case {"anchors": [start, end]}:
            return Part(end), Part(start, "cause")
    return (Part(fact.get("needed") or fact.get("value") or fact.get("fact") or fact.get("said", "")),)


def _listed(fact: Mapping[str, Any]) -> Iterator[Part]:
    details = fact.get("must_keep", ())
    for at, detail in enumerate(details):
        role: PartRole = "condition" if detail["part"] in ("condition", "exclusivity") else "core"
        if len(details) == 2 and "anchors" in fact:
            role = "core" if at else "cause"
        yield Part(detail["any_of"][0], role, tuple(detail["any_of"]), name=detail["part"])


# -- answers ---------------------------------------------------------------------------------------------------------


def _words(text: str) -> dict[str, None]:
    """Return the content words of a text, in order."""
    stems = (word[:STEM] for word in WORD.findall(text.casefold()))
    return dict.fromkeys(stem for stem in stems if stem not in COMMON)


def _share(wanted: str, text: str) -> float:
    """Return the share of the wanted words that the text contains."""
    words, there = _words(wanted), _words(text)
    return sum(word in there for word in words) / len(words) if words else 1.0


def _about_answer(facts: Mapping[str, Any], reply: str) -> dict[str, Any]:
    missing: list[str] = []
    if "distractor" in facts:
        lent = _words(facts["said"]).keys() & (_words(reply).keys() - _words(facts["question"]).keys())
        right = len(lent) < LENT
    elif facts["kind"] == "all_of":
        missing = [item for item in facts["gold"] if _share(item, reply) < COVERED]
        right = not missing
    elif facts["kind"] == "yes_no":
        right = _first(facts["gold"][0]) == _first(reply.rpartition("Answer:")[2])
    else:
        right = any(_share(gold, reply) >= AGREES for gold in facts["gold"])
    if facts["kind"] not in _default_kinds():
        given = (old for old in facts.get("replaced", ()) if _share(old, " ".join(facts["gold"])) < 1.0)
        right = right and not any(_share(old, reply) == 1.0 for old in given)
    return {"reason": "its words agree" if right else "its words do not agree", "missing": missing, "right": right}


def _first(text: str) -> str | None:
    """Return the first yes or no of a text."""
    found = re.search(r"\b(yes|no)\b", text, re.IGNORECASE)
    return found[1].casefold() if found else None


def _answer(question: str, memories: Sequence[str]) -> str:
    """Return the test-taker's reply: the memories that share most with the question, only about the person it names."""
    if options := OPTION.findall(question):
        known = " ".join(memories)
        letter, _ = max(options, key=lambda option: _share(option[1], known))
        return _text({"selected_choice": letter})
    names = _names(question)
    about = [text for text in memories if all(name in text.casefold() for name in names)]
    # of long memories take only the relevant sentences, as a model would
    shares = {text: _share(question, text) for memory in about for text in after_stops(memory)}
    used = [text for text in sorted(shares, key=lambda text: -shares[text]) if shares[text] > 0][:RESTATED]
    if not used:
        return "Memories used: none\nAnswer: I do not know that."
    said = " ".join(used)
    decided = "Yes." if _share(question, said) >= HOLDS else "No."
    return f"Memories used: {said}\nAnswer: {decided if CLOSED.search(after_stops(question)[-1]) else said}"


def _names(question: str) -> list[str]:
    """Return the full names in the question."""
    found = (NAME_END.sub("", name).casefold().split() for name in NAME.findall(question))
    # the first word of a question is capitalised too
    parts = ([word for word in words if word[:STEM] not in COMMON] for words in found)
    return [" ".join(words) for words in parts if len(words) > 1]
