"""What a store calls its user where it says neither "user" nor a name: "this host", "the student"."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.text import Word
from pytest_memfail.judges.rules.view import View

ROLES: Final = frozenset(
    "student client customer guest host tenant patient pupil trainee intern apprentice mentee".split()
)
"""Nouns for somebody one speaks with as well as for somebody else."""
SPOKEN_OF: Final = frozenset("user user's users i my me".split())
AUXILIARIES: Final = frozenset("is was would will can may does did had could".split())
OFTEN: Final = 2
"""In so many entries at least an account of its user names them."""


def user_roles(view: View) -> frozenset[str]:
    """The roles by which the view means its user."""
    known = view.shared.get("roles")
    if known is None:
        known = view.shared["roles"] = _user_roles(view)
    assert isinstance(known, frozenset)
    return known


def _user_roles(view: View) -> frozenset[str]:
    """Those that stand behind "this", before what they do, or behind "the" in several entries, if nobody else is the user there."""
    named: dict[str, set[int]] = {}
    pointed = set()
    for at, sentence in enumerate(view.sentences):
        if sentence.lowers & SPOKEN_OF:
            return frozenset()
        if len(sentence.words) > 1 and _is_reported(*sentence.words[:2]):
            role = sentence.words[0].lower
            named.setdefault(role, set()).add(view.entry[at])
            pointed.add(role)
        for before, word in zip(sentence.words, sentence.words[1:], strict=False):
            role = word.lower.removesuffix("'s")
            if role in ROLES and before.lower in ("the", "this"):
                named.setdefault(role, set()).add(view.entry[at])
                pointed |= {role} if before.lower == "this" else set()
    return frozenset(role for role, entries in named.items() if role in pointed or len(entries) >= OFTEN)


def _is_reported(role: Word, verb: Word) -> bool:
    """Whether the note reports of one of that role: "Client holds bonds"."""
    return role.lower in ROLES and (
        verb.lower in AUXILIARIES or (verb.lower.endswith("s") and not verb.lower.endswith(("'s", "ss")))
    )
