"""Which entry was made from a source, where the fact itself is nowhere."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.text import weight
from pytest_memfail.judges.rules.view import View

RARE: Final = 20
"""Words in more sentences than these, and in more than their share of all, tell no entry from the others."""
SHARE: Final = 20
TELLS: Final = 3
"""So many of the source's words show an entry to be made from it."""
OWN: Final = 0.3
"""Share of its words that are the source's."""


def made_from(stated: frozenset[str], name: Name | None, view: View) -> int | None:
    """The entry that has most of the source's rarer words, if one plainly was made from it; one that names the entity first."""
    most = max(RARE, len(view.sentences) // SHARE)
    shared: dict[int, float] = defaultdict(float)
    held: dict[int, int] = defaultdict(int)
    for key in sorted(stated):
        at = view.postings.get(key, ())
        if not at or len(at) > most or weight(key) < 1.0:
            continue
        for entry in {view.entry[i] for i in at}:
            shared[entry] += 1 / len(at)
            held[entry] += 1
    named = {view.entry[i] for i in view.mentions(name)} if name is not None else set()
    found = [entry for entry in shared if held[entry] >= TELLS and (entry in named or _is_own(entry, stated, view))]
    return max(found, key=lambda entry: (entry in named, shared[entry], -entry), default=None)


def _is_own(entry: int, stated: frozenset[str], view: View) -> bool:
    return view.own_share(range(view.first[entry], view.first[entry + 1]), stated) >= OWN
