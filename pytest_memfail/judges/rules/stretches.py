"""What of a view the reading of links needs, computed once per store: words of stretches, words of one origin, the speaker."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Final

from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.anchors import tokens_of
from pytest_memfail.judges.rules.kinship import kin
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.view import View

PREFIX: Final = 4
FIELDS: Final = 5
TITLE: Final = 2
"""Words of a name or a heading."""
SPEAKS: Final = frozenset("user users user's i me my i'm i've i'd i'll".split())


def tokens(view: View, at: tuple[int, ...]) -> tuple[Token, ...]:
    """The words of neighbouring sentences."""
    known = view.shared.get(("tokens", at))
    if known is None:
        found = tokens_of([view.sentences[i] for i in at])
        if len(at) > 1 and is_row(view, view.entry[at[0]]):
            found = _in_fields(found)
        known = view.shared["tokens", at] = found
    assert isinstance(known, tuple)
    return known


def is_row(view: View, entry: int) -> bool:
    """Whether the entry is a row of a few fields: "Ada | when lonely | phones her aunt"."""
    edges = view.edges(entry)
    return "|" in edges and "\n" not in edges and view.first[entry + 1] - view.first[entry] <= FIELDS


def title(view: View, entry: int, *, last: bool = False) -> tuple[Token, ...]:
    """What stands alone before the first bar of an entry or at its head, or in its last field, of a word or two."""
    at = view.first[entry + 1] - 1 if last else view.first[entry]
    words = tokens(view, (at,)) if view.first[entry + 1] > view.first[entry] + 1 else ()
    return words if len(words) <= TITLE and not view.sentences[at].text.endswith((".", "!", "?")) else ()


def subjects(view: View) -> frozenset[str]:
    """What rows of the view have in their first field."""
    known = view.shared.get(("subjects",))
    if known is None:
        rows = (entry for entry in range(view.entries) if is_row(view, entry))
        known = view.shared["subjects",] = frozenset(t.lower for entry in rows for t in title(view, entry))
    assert isinstance(known, frozenset)
    return known


def _in_fields(found: tuple[Token, ...]) -> tuple[Token, ...]:
    """The words of a row, in which a field is what the one before it is told to be, or to lead to."""
    return tuple(replace(t, gap=" : ") if i and found[i - 1].inside != t.inside else t for i, t in enumerate(found))


def akin(view: View, key: str) -> tuple[str, ...]:
    """Keys of the view that are of one origin with this one."""
    known = view.shared.get(("akin", key))
    if known is None:
        others = _by_prefix(view).get(key.removeprefix("re")[:PREFIX], []) + _by_prefix(view).get(key[:PREFIX], [])
        entry = lookup(key)
        near = {other for other in others if other != key and kin(key, other)[1]}
        near |= (entry.same | entry.close) & view.postings.keys()
        known = view.shared["akin", key] = tuple(sorted(near))
    assert isinstance(known, tuple)
    return known


def _by_prefix(view: View) -> dict[str, list[str]]:
    known = view.shared.get(("prefixes",))
    if known is None:
        found: dict[str, list[str]] = defaultdict(list)
        for key in {key for sentence in view.sentences for key in sentence.keys}:
            found[key[:PREFIX]].append(key)
        known = view.shared["prefixes",] = dict(found)
    assert isinstance(known, dict)
    return known


def speaker_is_named(view: View) -> bool:
    """Whether nothing in the view says "user" or "I", so that a name may well be the speaker's."""
    known = view.shared.get(("speaker",))
    if known is None:
        known = view.shared["speaker",] = not any(sentence.lowers & SPEAKS for sentence in view.sentences)
    assert isinstance(known, bool)
    return known
