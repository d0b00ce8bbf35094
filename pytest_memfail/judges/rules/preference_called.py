"""What else a preference is called or plainly described as, and what it becomes where less is said: tables, loaded when needed.

A line of `preference_called.txt` holds the thing and, behind a colon, wordings that can mean nothing else of its kind; a line of
`preference_vaguer.txt` holds several things and wordings that do not tell which of them is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.attitude import LIKED, against, is_liking, liked
from pytest_memfail.judges.rules.name_spelling import is_reordered
from pytest_memfail.judges.rules.naming import Mention, mentions
from pytest_memfail.judges.rules.preference_likeness import likelier_of_sibling, statement_words
from pytest_memfail.judges.rules.preference_meant import is_count
from pytest_memfail.judges.rules.preference_reading import Preference, Reading, read_mention
from pytest_memfail.judges.rules.preference_words import soft_support
from pytest_memfail.judges.rules.targets import Target, read_target
from pytest_memfail.judges.rules.text import Sentence, weight, words_of
from pytest_memfail.judges.rules.traces import ASKING, HAVING, VAGUE, VALUED, is_narrowed
from pytest_memfail.judges.rules.verbatim import keeps, verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE
from pytest_memfail.judges.rules.whose_words import NARRATED

BACKED: Final = 0.15
"""Share of our statement, in whatever words, that shows such a wording to be meant for ours."""
WELL_BACKED: Final = 0.25
"""The same though another of the row has more: they may stand in one list."""
LEFT: Final = 0.1
"""The same for a vaguer wording, which says less of what is meant."""
HINTED: Final = 0.1
"""The same for one that is a single word, and plain."""
BESIDE: Final = 2
"""How many telling words at most stand beside a wording that is all of what is liked."""
TURNING: Final = frozenset("before after without no not".split())
SLIGHT: Final = frozenset("a an the one's their of".split())
"""Small words that a wording has to spare: treks that last several days for "treks of several days"."""
AROUND: Final = 3
"""Within so many words of a wording its own small words stand."""
MERGED: Final = 1.6
"""How many times as much of another of the row may stand beside a wording that several have become."""
APART: Final = 3
"""How many other words may stand between those of a wording; telling ones where it is plain."""


def called_so(wanted: Preference, view: View) -> list[Reading]:
    """Where the preference stands under another wording, with something of its statement beside it."""
    if verbatim_store(view):
        return []
    return _readings(wanted, view, names_of(wanted), BACKED, plainly=True)


def said_vaguely(wanted: Preference, view: View) -> Reading | None:
    """Where the user's preference stands under a vaguer wording, with something of its statement beside it."""
    for reading in () if verbatim_store(view) else _readings(wanted, view, vaguer_of(wanted), LEFT, plainly=False):
        at = reading.mention.at
        told = (_rest(wanted, reading, wanted.context) >= LEFT and _is_said(reading)) or _is_all_liked(wanted, reading)
        if told and reading.owner == MINE and ASKING.search(view.sentences[at].text) is None:
            return reading
    return None


def _is_all_liked(wanted: Preference, reading: Reading) -> bool:
    """Whether the wording is what is said to be liked, with hardly a word beside it."""
    sentence, mention = reading.view.sentences[reading.mention.at], reading.mention
    if not liked(sentence) or against(sentence.text) or is_narrowed(sentence, mention.first, wanted.stated):
        return False
    keys = {w.key for w in sentence.words[mention.first : mention.last + 1]}
    words = (w for w in sentence.words if w.key and w.key not in keys | wanted.topic and weight(w.key) >= 1.0)
    beside = [w for w in words if not is_liking(w.lower) and LIKED.fullmatch(w.lower) is None]
    return not keys <= wanted.topic and len(beside) <= BESIDE


def blurred(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence has a vaguer wording in place of the thing."""
    written = view.as_written()
    return any(
        mention.at == at and mention.exact and mention.last - mention.first < len(target.parts)
        for target in vaguer_of(wanted)
        if all(part.key in written.sentences[at].keys - wanted.topic for part in target.parts)
        for mention in mentions(target, written, wanted.stated, whole=True)
    )


def _rest(wanted: Preference, reading: Reading, statement: Mapping[str, float]) -> float:
    """The share of a statement that the words beside the wording have; what all of the row share does not count."""
    sentence, mention = reading.view.sentences[reading.mention.at], reading.mention
    words = sentence.words[: mention.first] + sentence.words[mention.last + 1 :]
    beside = replace(sentence, words=tuple(w for w in words if w.key not in wanted.topic))
    own = {w.key for w in sentence.words[mention.first : mention.last + 1]} | wanted.topic
    return soft_support({key: value for key, value in statement.items() if key not in own}, [beside])


def _is_of_another(wanted: Preference, target: Target, reading: Reading) -> bool:
    """Whether the sentence with a vaguer wording rather tells another of the row."""
    mine = _rest(wanted, reading, wanted.statement)
    other = max((_rest(wanted, reading, statement_words(text)) for text in wanted.siblings), default=0.0)
    mention = reading.mention
    if len(target.parts) > 1 and mention.last - mention.first + 1 >= len(target.parts) and mine >= BACKED:
        return other > MERGED * mine  # several may have become one wording that says more than what they are all called
    return other > max(mine, LEFT) or likelier_of_sibling(wanted, reading.view, mention.at)


def _is_said(reading: Reading) -> bool:
    """Whether the sentence is about the user, says a liking, what is done with things or found in them, or has the statement."""
    sentence = reading.view.sentences[reading.mention.at]
    if not sentence.lowers.isdisjoint(NARRATED):
        return True
    text = sentence.text
    return reading.soft >= WELL_BACKED or any(pattern.search(text) for pattern in (LIKED, HAVING, VALUED, VAGUE))


def _readings(
    wanted: Preference, view: View, wordings: tuple[Target, ...], least: float, *, plainly: bool
) -> list[Reading]:
    """Where any of the wordings stands, the best backed first."""
    found = []
    written = view.as_written()
    for target in wordings:
        if any(part.key not in written.postings for part in target.parts):
            continue
        for mention in mentions(target, written, wanted.stated, whole=True):
            between = view.sentences[mention.at].words[mention.first : mention.last]
            apart = sum(bool(word.key) or not plainly for word in between) - len(target.parts)
            if (
                not mention.exact
                or apart > APART
                or (plainly and _is_single(target, view.sentences[mention.at], mention))
            ):
                continue
            if _is_named_like_sibling(wanted, written.sentences[mention.at], mention, target):
                continue
            if is_reordered(wanted.targets[0], view.sentences[mention.at]):
                continue
            if is_count(view.sentences[mention.at], mention, f"{wanted.source} {target.text}"):
                continue
            if word_for_word(view, mention.at) and (len(target.parts) < 2 or keeps(view, wanted.siblings)):
                continue  # what is kept as it was said has few other words
            if not _turning(target.text) <= view.sentences[mention.at].lowers:
                continue
            reading = read_mention(wanted, view, mention)
            backed = reading.soft >= least or (not plainly and _is_all_liked(wanted, reading))
            if (plainly and (reading.soft >= WELL_BACKED or _is_plain(wanted, target, reading))) or (
                backed
                and not (
                    likelier_of_sibling(wanted, view, mention.at)
                    if plainly
                    else _is_of_another(wanted, target, reading)
                )
            ):
                found.append(
                    replace(
                        reading,
                        ours=reading.ours
                        or (reading.soft >= BACKED and (not mention.foreign or len(target.parts) > 1)),
                    )
                )
    return sorted(found, key=lambda reading: (-reading.soft, reading.mention.at))


def _is_named_like_sibling(wanted: Preference, sentence: Sentence, mention: Mention, target: Target) -> bool:
    """Whether a word of the wording is part of what another of the row is called: a quick power nap, where power naps are one."""
    own = {part.key for part in target.parts}
    words = sentence.words[max(0, mention.first - 1) : mention.last + 1]
    names = {
        (one.key, two.key)
        for one, two in pairwise(words)
        if two.key in own and one.key and one.key not in own | wanted.stated
    }
    return bool(names) and any(not names.isdisjoint(_pairs_of(sibling)) for sibling in wanted.siblings)


@lru_cache(maxsize=4096)
def _pairs_of(statement: str) -> frozenset[tuple[str, str]]:
    """The keys of the words that stand side by side in the statement."""
    words = words_of(statement)
    return frozenset((one.key, two.key) for one, two in pairwise(words) if one.key and two.key)


def _is_single(target: Target, sentence: Sentence, mention: Mention) -> bool:
    """Whether a wording for many is there for but one that happened: a mystery at work, where mysteries are read."""
    at = mention.first
    if " " in target.text or not target.text.endswith("s") or sentence.words[at].lower.endswith("s") or liked(sentence):
        return False
    return any(word.lower in ("a", "an", "one") for word in sentence.words[max(0, at - 2) : at])


@lru_cache(maxsize=4096)
def _turning(wording: str) -> frozenset[str]:
    """The small words of the wording without which it says something else."""
    return TURNING.intersection(wording.split())


def _is_plain(wanted: Preference, target: Target, reading: Reading) -> bool:
    """Whether the wording alone tells the thing: none of its words is left out, and it is liked, asked for or has several."""
    wording, mention = words_of(target.text), reading.mention
    sentence = reading.view.sentences[mention.at]
    around = {word.lower for word in sentence.words[max(0, mention.first - AROUND) : mention.last + AROUND]}
    if not {word.lower for word in wording if not word.key} <= around | SLIGHT:
        return False
    if _is_turned(target, reading) and likelier_of_sibling(wanted, reading.view, mention.at):
        return False  # an herb garden near the kitchen is no kitchen garden
    if len(wording) > 1 or reading.soft >= HINTED or reading.attitude > 0:
        return True
    return liked(sentence) or not wanted.topic.isdisjoint(sentence.keys)


def _is_turned(target: Target, reading: Reading) -> bool:
    """Whether the words of the wording stand there in another order."""
    mention = reading.mention
    keys = [w.key for w in reading.view.as_written().sentences[mention.at].words[mention.first : mention.last + 1]]
    at = [keys.index(part.key) for part in target.parts if part.key in keys]
    return at != sorted(at)


@lru_cache(maxsize=4096)
def called(name: str) -> tuple[Target, ...]:
    """The other wordings of the thing, ready to be looked for.

    >>> called("Freestyle")[0].text
    'front crawl'
    """
    return tuple(map(_whole, _table("called").get(_key(name), ())))


def names_of(wanted: Preference) -> tuple[Target, ...]:
    """The other wordings of the thing, those of its row last."""
    return _names_of(wanted.wording, wanted.wordings)


@lru_cache(maxsize=4096)
def _names_of(name: str, others: tuple[str, ...]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys((*called(name), *map(_whole, others))))


def vaguer_of(wanted: Preference) -> tuple[Target, ...]:
    """The vaguer wordings of the thing, those of its row first."""
    return _vaguer_of(wanted.wording, wanted.vaguer)


@lru_cache(maxsize=4096)
def _vaguer_of(name: str, others: tuple[str, ...]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys((*map(_whole, others), *vaguer(name))))


@lru_cache(maxsize=4096)
def vaguer(name: str) -> tuple[Target, ...]:
    """The vaguer wordings that the thing may become."""
    return tuple(map(_whole, _table("vaguer").get(_key(name), ())))


@lru_cache(maxsize=4096)
def wordings_of(statement: str) -> tuple[frozenset[str], ...]:
    """The keys of each other wording of the thing that the statement names first, of two words or more."""
    said = [word.key for word in words_of(statement) if word.key]
    named = {
        name: said.index(name.split()[0]) for name in _table("called") if name and set(said).issuperset(name.split())
    }
    first = min(named.values(), default=0)
    wordings = (wording for name, at in named.items() if at == first for wording in _table("called")[name])
    found = (frozenset(part.key for part in _whole(wording).parts) for wording in wordings)
    return tuple(dict.fromkeys(keys for keys in found if len(keys) > 1))


@lru_cache(maxsize=8192)
def _whole(wording: str) -> Target:
    """The wording with every word needed; the letters with which its words begin are no name."""
    target = read_target(wording)
    parts = tuple(replace(part, optional=False) for part in target.parts)
    return replace(target, parts=parts, initials="", joined=())


@cache
def _table(kind: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in files(__package__).joinpath(f"preference_{kind}.txt").read_text("utf-8").splitlines():
        things, _, wordings = line.partition(": ")
        for thing in things.split(", ") if wordings and not line.startswith("#") else ():
            key = _key(thing)
            found[key] = (*found.get(key, ()), *wordings.split(" | "))
    return found


def _key(name: str) -> str:
    return " ".join(word.key for word in words_of(name) if word.key)
