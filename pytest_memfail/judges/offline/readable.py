"""Tell what the judge cannot read, because its lexicon is English, and find facts that stand word for word in any script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_memfail.core import Claim
from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import ABBREVIATIONS, NUMBERS, STOP, Token, plain, tokens_of, unaccented
from pytest_memfail.judges.offline.reading import Reading, read_claim
from pytest_memfail.judges.offline.statements import ROLES, SPEAKER, STAMP, VOICES
from pytest_memfail.texts import UNSPACED, has_sentence, sentences, spelled

if TYPE_CHECKING:
    from pytest_memfail.judges.offline.index import Index

LEAST: Final = 3
"""A text with fewer words outside the lexicon can be read: a name or a rare word makes no language."""
SHARE: Final = 0.4
"""From this share of words outside the lexicon, a text cannot be read."""
ENTRIES: Final = 0.25
"""From this share of entries that cannot be read, a fact that the others lack may be in one of these."""
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_NOW: Final = "(?:now|currently|nowadays|these days)"
_PLAINER: Final = re.compile(rf"^the (?=user\b)|\b{_NOW} | {_NOW}\b", re.IGNORECASE)


class Words(NamedTuple):
    """The words of a text, without names, acronyms, codes and single letters."""

    unknown: tuple[str, ...]
    """Those outside the lexicon, in lower case; two characters of a script without spaces count as a word."""
    total: int
    script: float
    """The share of letters that are not Latin, also in names."""

    def is_foreign(self, known: frozenset[str] = frozenset()) -> bool:
        """Return whether the text cannot be read, if these words are known too."""
        unknown = [word for word in self.unknown if word not in known]
        return self.script > 0.5 or (len(set(unknown)) >= LEAST and len(unknown) >= SHARE * self.total)


READ: Final = Words((), 0, 0.0)
"""The words of a text that can be read, whatever else is known."""


def words_of(statements: Iterable[tuple[str, Sequence[Token]]]) -> Words:
    """Return the words of some texts with their tokens; nothing of English ones, which is what almost all are."""
    statements = list(statements)
    if all(text.isascii() for text, _ in statements):
        different = {token.lower for _, tokens in statements for token in tokens if not token.is_name}
        if len(different) - sum(map(_is_known, different)) < LEAST:
            return READ
    unknown: list[str] = []
    total = 0
    letters = Counter[bool]()
    for text, tokens in statements:
        letters.update(_is_latin(c) for c in text if c.isalpha())
        for run in _runs(text, tokens):
            if any(token.surface[0].isdigit() for token in run):
                continue  # a code or a time
            for token in run:
                surface = token.surface
                if not surface.isascii() and (size := len(_UNSPACED.findall(surface))) > 1:
                    total += size // 2
                    unknown += [surface[at : at + 2] for at in range(0, 2 * (size // 2), 2)]
                elif not token.is_name and len(surface) > 1 and not (surface.isupper() and surface.isascii()):
                    total += 1
                    if not _is_known(token.lower):
                        unknown.append(token.lower)
    return Words(tuple(unknown), total, letters[False] / (letters.total() or 1))


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter <= "\u1eff"


def _runs(text: str, tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens that no space separates together."""
    run: list[Token] = []
    for token in tokens:
        if run and any(map(str.isspace, text[run[-1].end : token.start])):
            yield run
            run = []
        run.append(token)
    yield run


@lru_cache(maxsize=65536)
def _is_known(lower: str) -> bool:
    bare = unaccented(lower).split("'")[0]
    return lower.endswith("n't") or bare in STOP or bare in NUMBERS or bare in ABBREVIATIONS or lexicon.is_common(bare)


@lru_cache(maxsize=8192)
def is_foreign(claim: Claim) -> bool:
    """Return whether a claim, or the sentences of its source that state it, cannot be read."""
    texts = list(map(plain, claim.texts()))
    parts = [(text, tokens_of(text)) for text in texts]
    said = [(statement.text, statement.tokens) for statement in read_claim(claim).said]
    return any(words_of(some).is_foreign() for some in (parts, said, [*parts, *said]))


def standing(reading: Reading, index: Index, *, is_shown: bool = False) -> tuple[int, ...]:
    """Return the entries that hold a claim word for word, in any script; empty if that does not settle the matter.

    A claim that cannot be read is also held by the whole of its source. A replaced value in a later entry, a listed detail
    in none of those found, or an owner that none of them names leaves the matter open.
    """
    claim = reading.claim
    texts = claim.texts()
    foreign = is_foreign(claim)
    if claim.has_ended:
        return ()
    forms = dict.fromkeys((*texts, *map(plainer, texts))) if len(texts) == 1 else ()
    found = next(filter(None, (_places([form], reading, index, within=foreign) for form in forms)), ())
    if not found and foreign:
        found = _places(sentences(claim.source), reading, index, within=True)
    held = [index.spelled[at] for at in found]
    if reading.owner and not any(all(f" {name} " in entry for name in reading.owner) for entry in held):
        return ()
    if not all(_mentions(held, part.wordings, whole=not foreign) for part in claim.listed if part.required):
        return ()
    if found and claim.replaced and not (is_shown and not index.times):
        last = max(map(index.entry_order, found))
        later = [entry for at, entry in enumerate(index.spelled) if index.entry_order(at) > last]
        if _mentions(later, claim.replaced, whole=not foreign):
            return ()
    return found


def plainer(text: str) -> str:
    """Return a text without the words that a memory of the present need not have.

    >>> plainer("The user now lives in Ghent."), plainer("She is in room 2 now.")
    ('user lives in Ghent.', 'She is in room 2.')
    """
    return _PLAINER.sub("", text)


def unread_entries(reading: Reading, index: Index) -> int:
    """Return how many of the different entries cannot be read; 0 if they are too few to hide a fact."""
    known = reading.full | reading.names
    foreign = sum(words.is_foreign(known) for words in index.vocabulary)
    return foreign if foreign >= ENTRIES * len(index.vocabulary) else 0


def _places(texts: Iterable[str], reading: Reading, index: Index, *, within: bool) -> tuple[int, ...]:
    """Return the first entry that states each text word for word; empty if none states one."""

    def lines(entry: str) -> Iterator[str]:
        return (line for line in entry.splitlines() if not _is_of_another(line, reading))

    found = {}
    for text in texts:
        wanted = spelled(text)
        likely = (at for at, entry in enumerate(index.spelled) if wanted in entry)
        found[text] = next(
            (at for at in likely if any(has_sentence(line, text, within=within) for line in lines(index.texts[at]))), -1
        )
    return () if -1 in found.values() else tuple(dict.fromkeys(found.values()))


def _is_of_another(line: str, reading: Reading) -> bool:
    """Return whether a line begins with the name of another speaker, or with a word that may be one."""
    said = SPEAKER.match(STAMP.sub("", plain(line)))
    if said is None:
        return False
    name = said[1].casefold().split()
    is_label = name[0] in ROLES or (lexicon.is_common(name[0]) and name[0] not in VOICES)
    return not is_label and reading.owner.isdisjoint(name)


def _mentions(entries: Iterable[str], texts: Iterable[str], *, whole: bool) -> bool:
    """Return whether an entry has a text; only as whole words, or also as a part of inflected ones."""
    wanted = [words if whole else words.strip() for text in texts if (words := spelled(text)).strip()]
    return any(words in entry for entry in entries for words in wanted)
