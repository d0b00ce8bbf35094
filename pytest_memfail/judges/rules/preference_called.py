"""What else a preference is called or plainly described as: a table, loaded when first needed.

A line of `preference_called.txt` holds the thing and, behind a colon, wordings that can mean nothing else of its kind.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from pytest_memfail.judges.rules.naming import mentions
from pytest_memfail.judges.rules.preference_likeness import likelier_of_sibling
from pytest_memfail.judges.rules.preference_reading import Preference, Reading, read_mention
from pytest_memfail.judges.rules.targets import Target, read_target
from pytest_memfail.judges.rules.text import words_of
from pytest_memfail.judges.rules.verbatim import word_for_word
from pytest_memfail.judges.rules.view import View

BACKED: Final = 0.15
"""Share of our statement, in whatever words, that shows such a wording to be meant for ours."""

APART: Final = 2
"""How many other words may stand between those of a wording."""


def called_so(wanted: Preference, view: View) -> list[Reading]:
    """Where the preference stands under another wording, with something of its statement beside it."""
    found = []
    for target in called(wanted.wording):
        if any(part.key not in view.postings for part in target.parts):
            continue
        for mention in mentions(target, view, wanted.stated):
            apart = mention.last - mention.first - len(target.parts)
            if mention.share < 1.0 or not mention.exact or apart > APART or word_for_word(view, mention.at):
                continue
            reading = read_mention(wanted, view, mention)
            if reading.soft >= BACKED and not likelier_of_sibling(wanted, view, mention.at):
                found.append(reading)
    return sorted(found, key=lambda reading: (-reading.soft, reading.mention.at))


@lru_cache(maxsize=4096)
def called(name: str) -> tuple[Target, ...]:
    """The other wordings of the thing, ready to be looked for.

    >>> called("Freestyle")[0].text
    'front crawl'
    """
    return tuple(map(_whole, _table().get(_key(name), ())))


def _whole(wording: str) -> Target:
    """The wording with every word needed; the letters with which its words begin are no name."""
    target = read_target(wording)
    parts = tuple(replace(part, optional=False) for part in target.parts)
    return replace(target, parts=parts, initials="", joined=())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in files(__package__).joinpath("preference_called.txt").read_text("utf-8").splitlines():
        thing, _, wordings = line.partition(": ")
        if wordings and not line.startswith("#"):
            found[_key(thing)] = tuple(wordings.split(" | "))
    return found


def _key(name: str) -> str:
    return " ".join(word.key for word in words_of(name) if word.key)
