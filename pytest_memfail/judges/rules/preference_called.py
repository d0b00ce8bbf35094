"""What else a preference is called or plainly described as, and what it becomes where less is said: tables, loaded when needed.

A line of `preference_called.txt` holds the thing and, behind a colon, wordings that can mean nothing else of its kind; a line of
`preference_vaguer.txt` holds several things and wordings that do not tell which of them is meant.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from pytest_memfail.judges.rules.attitude import liked
from pytest_memfail.judges.rules.naming import mentions
from pytest_memfail.judges.rules.preference_likeness import likelier_of_sibling
from pytest_memfail.judges.rules.preference_reading import Preference, Reading, read_mention
from pytest_memfail.judges.rules.preference_words import soft_support
from pytest_memfail.judges.rules.targets import Target, read_target
from pytest_memfail.judges.rules.text import words_of
from pytest_memfail.judges.rules.traces import ASKING
from pytest_memfail.judges.rules.verbatim import verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE

BACKED: Final = 0.15
"""Share of our statement, in whatever words, that shows such a wording to be meant for ours."""

LEFT: Final = 0.15
"""The same for a vaguer wording, which says less of what is meant."""
HINTED: Final = 0.1
"""The same for one that is a single word, and plain."""
TURNING: Final = frozenset("before after without no not".split())
APART: Final = 3
"""How many other words may stand between those of a wording."""


def called_so(wanted: Preference, view: View) -> list[Reading]:
    """Where the preference stands under another wording, with something of its statement beside it."""
    return [] if verbatim_store(view) else _readings(wanted, view, called(wanted.wording), BACKED, plainly=True)


def said_vaguely(wanted: Preference, view: View) -> Reading | None:
    """Where the user's preference stands under a vaguer wording, with something of its statement beside it."""
    for reading in () if verbatim_store(view) else _readings(wanted, view, vaguer(wanted.wording), LEFT, plainly=False):
        at = reading.mention.at
        if reading.owner == MINE and ASKING.search(view.sentences[at].text) is None and _rest(wanted, reading) >= LEFT:
            return reading
    return None


def blurred(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence has a vaguer wording in place of the thing."""
    written = view.as_written()
    return any(
        mention.at == at and mention.exact and mention.last - mention.first < len(target.parts)
        for target in vaguer(wanted.wording)
        if all(part.key in written.sentences[at].keys - wanted.topic for part in target.parts)
        for mention in mentions(target, written, wanted.stated, whole=True)
    )


def _rest(wanted: Preference, reading: Reading) -> float:
    """The share of the statement that the words beside the wording have; what all of the row share does not count."""
    sentence, mention = reading.view.sentences[reading.mention.at], reading.mention
    words = sentence.words[: mention.first] + sentence.words[mention.last + 1 :]
    beside = replace(sentence, words=tuple(w for w in words if w.key not in wanted.topic))
    own = {w.key for w in sentence.words[mention.first : mention.last + 1]} | wanted.topic
    return soft_support({key: value for key, value in wanted.context.items() if key not in own}, [beside])


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
            apart = mention.last - mention.first - len(target.parts)
            if not mention.exact or apart > APART or word_for_word(view, mention.at):
                continue
            if not _turning(target.text) <= view.sentences[mention.at].lowers:
                continue
            reading = read_mention(wanted, view, mention)
            backed = reading.soft >= least and not likelier_of_sibling(wanted, view, mention.at)
            if backed or (plainly and _is_plain(target, reading)):
                found.append(reading)
    return sorted(found, key=lambda reading: (-reading.soft, reading.mention.at))


@lru_cache(maxsize=4096)
def _turning(wording: str) -> frozenset[str]:
    """The small words of the wording without which it says something else."""
    return TURNING.intersection(wording.split())


def _is_plain(target: Target, reading: Reading) -> bool:
    """Whether the wording alone tells which thing is meant: none of its words is left out, and it is liked or has several."""
    if len(target.parts) < len(words_of(target.text)):
        return False
    several = len(target.parts) > 1
    return several or reading.soft >= HINTED or liked(reading.view.sentences[reading.mention.at])


@lru_cache(maxsize=4096)
def called(name: str) -> tuple[Target, ...]:
    """The other wordings of the thing, ready to be looked for.

    >>> called("Freestyle")[0].text
    'front crawl'
    """
    return tuple(map(_whole, _table("called").get(_key(name), ())))


@lru_cache(maxsize=4096)
def vaguer(name: str) -> tuple[Target, ...]:
    """The vaguer wordings that the thing may become."""
    return tuple(map(_whole, _table("vaguer").get(_key(name), ())))


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
