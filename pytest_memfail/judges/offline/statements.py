"""Read memory texts as statements: sentences, and fields of JSON, YAML, lists, tables and notes, with owner and
headings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import Token, apart, plain, tokens_of
from pytest_memfail.texts import statements

MAX_TOKENS: Final = 60
"""Longer stretches without a full stop are split."""
USER: Final = "user"
"""The owner of statements about the user, however they refer to the user."""
STAMP: Final = re.compile(
    r"^\W*(?:\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(?=\]))\W*"
)
SPEAKER: Final = re.compile(
    r"^[\"'(\[]*([A-Z][\w'.-]*(?: [A-Z][\w'.-]*)?|user|assistant|human|ai|system)(?: said| says)?\s?:\s+(?=\S)"
)
ROLES: Final = frozenset("user human speaker me".split())
VOICES: Final = frozenset("assistant ai system bot agent".split())
HEADING: Final = re.compile(r"(?:\*\*([^*]+)\*\*:?|([^:|]{1,60}):)")
"""A line in bold, or one that ends with a colon; lines starting with # are headings too."""
BULLET: Final = re.compile(r"^(\s*)(?:[-*•–+]|\d{1,3}[.)])\s+")
FIELD: Final = re.compile(r"^([\w][\w /'&().-]{0,48}?)\s*[:=]\s+(?=\S)")
TAGS: Final = re.compile(r"^\W*(?:tags?|keywords?|topics?|labels?|categor(?:y|ies))\b", re.IGNORECASE)
FENCE: Final = re.compile(r"'''\w*\n(.*)\n'''", re.DOTALL)
"""A block of code, with plain characters instead of backticks."""
BEFORE_PLACES: Final = frozenset(
    """in at from to of near on with by for about via through into around between behind beside outside inside after before
    since""".split()
)
"""A name after one of these is not the subject of a sentence."""
SAID_BY: Final = {"true": "", "yes": "", "false": "not ", "no": "not "}
"""What the value of a field that asks yes or no makes of its key."""
NAMED: Final = frozenset("name owner user person entity subject who client patient contact".split())
"""Keys of a profile whose value is the person the rest is about."""
MYSELF: Final = frozenset("i me my mine myself user user's".split())
"""Words for the user in one form."""
SHORTENED: Final = frozenset("he she it that there here what who where how when".split())
"""What "'s" is short for "is" after; after a name it may be whose something is."""
# Contractions and forms of a verb, and the one form that all are read as:
ENDINGS: Final = {"m": "be", "re": "be", "s": "be", "ve": "have", "ll": "will", "d": "'d"}
FORMS: Final = {"am": "be", "is": "be", "are": "be", "has": "have", "does": "do"}
UNSHORTENED: Final = {"can't": "can", "won't": "will", "shan't": "shall"}
FIRST_PERSON: Final = frozenset("i i'm i've i'd i'll my me mine myself we our us".split())
THIRD_PERSON: Final = frozenset("he she they it his her their its him them hers theirs he's she's they're it's".split())


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One statement of an entry."""

    text: str
    tokens: tuple[Token, ...]
    context: tuple[Token, ...] = ()
    """Tokens of the headings and keys above it."""
    owner: tuple[str, ...] = ()
    """The person it is about: lower-case words of a name, `("user",)`, or empty if not stated."""
    is_tags: bool = False
    """Whether it is only a list of keywords."""

    in_order: tuple[str, ...] = field(init=False)
    """The keys of its words and headings in order, each once, names without their marker."""
    keys: frozenset[str] = field(init=False)
    """The same keys as a set."""
    words: str = field(init=False)
    """Its lower-case words, with a space between and around them; "I don't" and "the user does not" are the same."""
    pairs: tuple[str, ...] = field(init=False)
    """Single words that mean the same as two consecutive words ("call off": cancel)."""

    def __post_init__(self) -> None:
        keys = tuple(dict.fromkeys(t.key.lstrip("@") for some in (self.tokens, self.context) for t in some if t.key))
        object.__setattr__(self, "in_order", keys)
        object.__setattr__(self, "keys", frozenset(keys))
        object.__setattr__(self, "words", f" {' '.join(_in_one_form(self.tokens))} ")
        rows = zip(self.tokens, self.tokens[1:], strict=False)
        meant = (lexicon.phrase(f"{one.key} {other.key or other.lower}") for one, other in rows if one.key)
        object.__setattr__(self, "pairs", tuple(word for words in meant for word in words))


def _in_one_form(tokens: tuple[Token, ...]) -> Iterator[str]:
    """Yield words as the user would say them, without contractions: "the user doesn't row" has the words of "I do not row"."""
    before = ""
    for at, token in enumerate(tokens):
        lower = token.lower
        if lower == "the" and at + 1 < len(tokens) and tokens[at + 1].lower in (USER, "user's"):
            continue
        if lower.endswith("n't"):
            verb = UNSHORTENED.get(lower, lower[:-3])
            words = [FORMS.get(verb, verb), "not"]
        else:
            word, apostrophe, end = lower.partition("'")
            ending = ENDINGS.get(end) if apostrophe and (end != "s" or word in SHORTENED) else None
            words = [word, ending] if ending else ["can", "not"] if lower == "cannot" else [lower]
            words[0] = USER if words[0] in MYSELF else FORMS.get(words[0], words[0])
            if before == USER and token.key and lower in (f"{token.key}s", f"{token.key}es", f"{token.key[:-1]}ies"):
                words = [token.key]
        yield from words
        before = words[-1]


@dataclass(slots=True)
class _Line:
    text: str
    context: str = ""
    speaker: tuple[str, ...] | None = None
    is_tags: bool = False
    starts: bool = True
    """Whether nothing before it explains its pronouns."""
    is_field: bool = False
    """Whether it is a field, whose value may contain names that it is not about."""
    is_apart: bool = False
    """Whether only its headings, not the lines before it, can state its owner (fields of JSON)."""


def read_entry(text: str) -> tuple[Statement, ...]:
    """Return the statements of one memory text, in order."""
    return _read_entry(text) if len(text) <= 4000 else _statements(text)


@lru_cache(maxsize=8192)
def _read_entry(text: str) -> tuple[Statement, ...]:
    return _statements(text)


def _statements(text: str) -> tuple[Statement, ...]:
    text = plain(text)
    found: list[Statement] = []
    owner: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    contexts: dict[str, tuple[tuple[Token, ...], tuple[str, ...]]] = {}
    for line in _lines(text):
        if line.context not in contexts:
            tokens = tokens_of(line.context) if line.context else ()
            contexts[line.context] = tokens, _names(tokens)
        context, named = contexts[line.context]
        if line.starts and named:
            owner = named
        elif line.is_apart and not named:
            owner = first
        if line.speaker is not None:
            owner = line.speaker
        tokens = tokens_of(line.text)
        for at in range(0, len(tokens), MAX_TOKENS):
            some = tokens[at : at + MAX_TOKENS]
            whole = len(tokens) <= MAX_TOKENS
            start = some[0].start
            piece = line.text if whole else line.text[start : some[-1].end]
            if not whole:
                some = tuple(t._replace(start=t.start - start, end=t.end - start) for t in some)
            subject = owner
            if line.is_field:
                colon = piece.find(":")
                value = [t for t in some if t.start > colon]
                key = tuple(t for t in some if t.start < colon)
                if any(t.is_name or t.lower in (USER, "user's") for t in key):
                    subject = _subject(key, owner, line.speaker)
                elif (
                    not found and not context and value and all(t.is_name for t in value)
                ):  # a profile that starts with its person
                    subject = first = tuple(t.lower for t in value)
            elif not named or some[0].is_name or some[0].lower in FIRST_PERSON:
                subject = _subject(some, owner, line.speaker)
            found.append(Statement(piece, some, context, subject, line.is_tags))
            if subject and not any(part.startswith("~") for part in subject):
                owner = subject
    if owner and found and not found[0].owner and found[-1].context and len({s.owner for s in found if s.owner}) == 1:
        found = [replace(s, owner=owner) if not s.owner else s for s in found]  # a note that names its person last
    return tuple(found)


def _subject(tokens: tuple[Token, ...], owner: tuple[str, ...], speaker: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the owner of the statement: the first person it refers to, else the owner of the one before."""
    for at, token in enumerate(tokens):
        lower = token.lower
        if lower in ("user", "user's", "users"):
            return _related(tokens, at, (USER,))
        if lower in FIRST_PERSON:
            mine = speaker or (USER,)
            return _related(tokens, at, mine) if lower == "my" else mine
        if lower in THIRD_PERSON:
            return _related(tokens, at, owner) if lower in ("his", "her", "their") else owner
        if token.is_name and at and tokens[at - 1].is_name and _follows(tokens, at - 1):
            continue  # part of a name that was skipped
        if token.is_name and not (at and tokens[at - 1].lower in BEFORE_PLACES):
            names = [lower.removesuffix("'s").rstrip("'")]
            while at + 1 < len(tokens) and _follows(tokens, at) and not lower.endswith("'s"):
                at += 1
                lower = tokens[at].lower
                names.append(lower.removesuffix("'s").rstrip("'"))
            return _related(tokens, at, tuple(names)) if lower.endswith(("'s", "s'")) else tuple(names)
    return owner


def _follows(tokens: tuple[Token, ...], at: int) -> bool:
    """Return whether the next token continues this name; a comma would separate two names."""
    return tokens[at + 1].is_name and tokens[at + 1].start - tokens[at].end <= 1


def _related(tokens: tuple[Token, ...], at: int, owner: tuple[str, ...]) -> tuple[str, ...]:
    """Return the relative or friend that a possessive introduces ("her brother Kit"); else the owner."""
    for token in tokens[at + 1 : at + 4]:
        if token.key and not token.is_name and lexicon.lookup(token.key).field == lexicon.PERSON:
            behind = tokens[tokens.index(token) + 1 : tokens.index(token) + 2]
            if behind and behind[0].is_name:
                return (behind[0].lower.removesuffix("'s"), "~" + token.key)
            return ("~" + token.key,)
        if token.lower in ("and", "is", "has", "was"):
            break
    return owner


def _names(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    """Return the last run of names among the tokens of headings."""
    run: list[str] = []
    last: tuple[str, ...] = ()
    for token in tokens:
        if token.is_name:
            run.append(token.lower.removesuffix("'s"))
            last = tuple(run)
        elif token.lower == USER:
            last, run = (USER,), []
        else:
            run = []
    return last


def _lines(text: str) -> Iterator[_Line]:
    stripped = text.strip()
    if fence := FENCE.fullmatch(stripped):
        text = stripped = fence[1].strip()
    if stripped[:1] in "{[" and stripped[-1:] in "}]" and stripped:
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, (dict, list)):
                yield from _fields(value)
                return
    yield from _written(text)


def _fields(value: Any) -> Iterator[_Line]:
    """Flatten JSON into one line per field, with the keys above it; iterative, so that deep nesting is harmless."""
    stack: list[tuple[str, str, Any]] = [("", "", value)]
    while stack:
        path, key, held = stack.pop()
        if isinstance(held, dict):
            names = [str(v) for k, v in held.items() if str(k).casefold() in NAMED and isinstance(v, str)]
            below = " ".join(part for part in (path, _spaced(key), *names) if part)[-400:]
            stack.extend((below, str(k), v) for k, v in reversed(list(held.items())))
        elif isinstance(held, list):
            if all(not isinstance(item, (dict, list)) for item in held) and sum(len(str(i)) for i in held) <= 80:
                text = _field(key, ", ".join(map(str, held)))
                yield _Line(text, path, is_tags=bool(TAGS.match(key)), is_field=bool(key), is_apart=True)
            else:
                stack.extend((path, key, item) for item in reversed(held))
        else:
            for piece in statements(str(held).replace("\n", " ")) or [""]:
                yield _Line(_field(key, piece), path, is_tags=bool(TAGS.match(key)), is_field=bool(key), is_apart=True)


def _field(key: str, value: str) -> str:
    """Return a field as text: "is vegan: true" is the statement "is vegan"."""
    if (said := SAID_BY.get(value.strip(" .").casefold())) is not None and key:
        return f"{said}{_spaced(key)}"
    return f"{_spaced(key)}: {value}" if key else value


def _written(text: str) -> Iterator[_Line]:
    """Read lines: headings, bullets, fields and table rows among plain sentences."""
    reader = _Lines()
    lines = [line for line in text.splitlines() if line.strip()]
    for raw, following in zip(lines, [*lines[1:], ""], strict=False):
        yield from reader.read(raw, following)
    yield from reader.rest()


class _Lines:
    """Reads lines in order and remembers what earlier lines imply for later ones."""

    def __init__(self) -> None:
        self._headings: list[tuple[float, str]] = []
        self._columns: list[str] = []
        self._speaker: tuple[str, ...] | None = None
        self._words: list[str] = []
        """Lines of a single word, which are read together."""

    def rest(self) -> Iterator[_Line]:
        """Yield the words still held back."""
        for at in range(0, len(self._words), MAX_TOKENS):
            yield _Line(" ".join(self._words[at : at + MAX_TOKENS]), self._path)
        self._words = []

    def read(self, raw: str, following: str) -> Iterator[_Line]:
        """Yield the statements of one line."""
        if raw.strip().isalnum() and not raw[:1].isspace() and not BULLET.match(following):
            self._words.append(raw.strip())
            return
        yield from self.rest()
        line = STAMP.sub("", raw) if raw.strip()[:1] in "[(0123456789" else raw
        depth: float = len(raw) - len(raw.lstrip())
        bullet = BULLET.match(line)
        if bullet:
            depth, line = len(bullet[1]) + 1, line[bullet.end() :]
        if line.count("|") >= 2 and line.strip().startswith("|"):
            yield from self._row(line, following)
            return
        self._columns = []
        if self._is_heading(line, depth, is_bullet=bool(bullet)):
            return
        self._headings = [h for h in self._headings if h[0] < depth]
        line = line.strip()
        if bullet:
            self._speaker = None
        pieces = statements(line)
        for at, piece in enumerate(pieces):
            yield self._piece(piece, depth, is_first=at == 0)
        if (
            not bullet
            and BULLET.match(following)
            and len(following) - len(following.lstrip()) >= depth
            and len(pieces) == 1
        ):
            self._headings.append((depth, re.split(r"\s-\s|:", line)[0][:80]))  # it introduces the list below

    @property
    def _path(self) -> str:
        return " / ".join(text for _, text in self._headings[-4:])

    def _row(self, line: str, following: str) -> Iterator[_Line]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if all(set(cell) <= set("-: ") for cell in cells):
            return
        if not self._columns and following.strip() and set(following.strip()) <= set("|-: "):
            self._columns = cells
            return
        columns = [*self._columns, *[""] * len(cells)]
        row = ", ".join(f"{_spaced(c)}: {v}" if c else v for c, v in zip(columns, cells, strict=False) if v)
        yield _Line(row, self._path)

    def _is_heading(self, line: str, depth: float, *, is_bullet: bool) -> bool:
        text = line.strip()
        marks = len(text) - len(text.lstrip("#"))
        if 0 < marks <= 6 and text[marks : marks + 1].isspace():
            title, level = text.strip("#").strip(), marks - 10.0
        else:
            heading = HEADING.fullmatch(text)
            if not heading or (heading[2] and is_bullet and len(line) > 60) or TAGS.match(text):
                return False
            title, level = heading[1] or heading[2], -1.0 if heading[1] else depth
        self._headings = [h for h in self._headings if h[0] < level]
        self._headings.append((level, _spaced(title)[:120]))
        return True

    def _piece(self, piece: str, depth: float, *, is_first: bool) -> _Line:
        is_tags = bool(TAGS.match(piece))
        said = None if is_tags else SPEAKER.match(piece)
        if said:
            name = said[1].casefold().split()
            rest = piece[said.end() :]
            if name[0] in ROLES and not _is_name(rest):
                self._speaker, piece = (USER,), rest
            elif name[0] in VOICES:
                self._speaker, piece = (name[0],), rest
            elif said[1][0].isupper() and name[0] not in NAMED and not lexicon.is_common(name[0]):
                self._speaker, piece = tuple(name), rest
            else:
                self._speaker = None
        field = FIELD.match(piece)
        if field and piece[field.end() :].strip(" .").casefold() in SAID_BY:
            piece, field = _field(field[1], piece[field.end() :]), None
        if field and field[1].casefold() in NAMED and _is_name(piece[field.end() :]):
            self._headings = [h for h in self._headings if h[0] < depth - 0.5]
            self._headings.append((depth - 0.5, piece[field.end() :][:80]))
            field = None
        return _Line(piece, self._path, self._speaker, is_tags, is_first, bool(field))


def _is_name(value: str) -> bool:
    """Return whether the value of a field is a name: a few words, the first capitalised, not a sentence."""
    words = value.strip(" .\"'").split()
    return (
        0 < len(words) <= 4
        and words[0][0].isupper()
        and words[0].casefold() not in FIRST_PERSON
        and value[-1:] not in "!?"
    )


def _spaced(key: str) -> str:
    """Return a key as words: start_time and startTime are start time."""
    return apart(key.replace("_", " "))
