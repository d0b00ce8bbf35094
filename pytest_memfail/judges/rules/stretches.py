"""What of a view the reading of links needs, computed once per store: words of stretches, words of one origin, the speaker."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.anchors import tokens_of
from pytest_memfail.judges.rules.kinship import kin
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.view import View

PREFIX: Final = 4
SPEAKS: Final = frozenset("user users user's i me my i'm i've i'd i'll".split())


def tokens(view: View, at: tuple[int, ...]) -> tuple[Token, ...]:
    """The words of neighbouring sentences."""
    known = view.shared.get(("tokens", at))
    if known is None:
        known = view.shared["tokens", at] = tokens_of([view.sentences[i] for i in at])
    assert isinstance(known, tuple)
    return known


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
