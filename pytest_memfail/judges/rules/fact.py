"""Any other fact: its text or value, and the states that it replaced (paper, section 3.2)."""

from __future__ import annotations

from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, passage
from pytest_memfail.judges.rules.polarity import negated
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.text import Sentence, sentences_of
from pytest_memfail.judges.rules.view import OPEN, Name, View, needs

STORED: Final = 0.5
FAITHFUL: Final = 0.65
PAST: Final = frozenset(
    "formerly previously former previous before used old past earlier until once originally ago switched changed moved replaced was were had".split()
)


def find_fact(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The fact in a view: some version of it (stored), and all that it says, as current (faithful)."""
    name = Name.of(evidence.entity)
    ignore = keys_of(evidence.entity or "")
    stated = keys_of(evidence.source)
    keys = keys_of(evidence.text) - ignore
    need = needs((keys & stated) or keys)
    wanted = sentences_of(evidence.text)
    numbers = [q for s in wanted for q in quantities(s.text, s.words)]
    value = needs(keys_of(evidence.value or "") - ignore) if evidence.value else {}
    wording = evidence.value or _wording(evidence, wanted)
    best = None
    for window in view.search(need or value, name):
        if window.link < OPEN or window.coverage < STORED:
            continue
        sentences = [view.sentences[i] for i in window.sentences]
        held = frozenset().union(*(s.keys for s in sentences))
        told = [q for s in sentences for q in quantities(s.text, s.words)]
        whole = all(k in held for k in value) and all(any(q.same(o) for o in told) for q in numbers)
        rank = (whole, window.coverage, [-i for i in window.sentences])
        if best is None or rank > best[0]:
            best = (rank, window, sentences, whole)
    stale = _stale(evidence, view, name)
    if best is None or (value and not best[3] and stale):
        if stale:
            old, at = stale
            return Finding(
                False,
                False,
                f"only the old state {old!r} is stored, not {wording!r}",
                view.entries_of(at),
                (),
                (wording,),
                label="stale_value",
            )
        closest = view.search(need, None, 3)
        return Finding(
            False,
            False,
            f"no entry says {wording!r}",
            view.entries_of([i for w in closest for i in w.sentences]),
            (),
            (wording,),
        )
    _, window, sentences, whole = best
    entries = view.entries_of(window.sentences)
    if not whole or window.coverage < FAITHFUL:
        return Finding(
            True, False, f"{wording!r} is stored, but not as it was said", entries, (), (wording,), confidence=0.7
        )
    source_negated = any(negated(s, need) for s in sentences_of(evidence.source))
    if any(negated(s, need) for s in sentences) and not source_negated:
        return Finding(True, False, f"{wording!r} is stored, but negated", entries, (), (wording,), confidence=0.7)
    return Finding(True, True, f"{wording!r} is stored", entries, (wording,))


def _wording(evidence: Evidence, wanted: tuple[Sentence, ...]) -> str:
    return passage(evidence.source, wanted[0], wanted[0].keys) if wanted else evidence.text


def _stale(evidence: Evidence, view: View, name: Name | None) -> tuple[str, tuple[int, ...]] | None:
    """A replaced state that is stored as if it still held."""
    for old in evidence.stale_values:
        need = needs(keys_of(old))
        for window in view.search(need, name, 8):
            if window.coverage >= 0.999 and window.link >= OPEN:
                return old, window.sentences
    return None
