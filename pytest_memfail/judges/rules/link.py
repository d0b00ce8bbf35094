"""Links of a chain: both ends, the relation between them, and its direction (paper, section 4, task 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, quote
from pytest_memfail.judges.rules.polarity import is_negator, sentiment
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of
from pytest_memfail.judges.rules.view import OTHER, Name, View, needs
from pytest_memfail.judges.rules.words import OPENERS, STOP

ANCHOR_STORED: Final = 0.5
ANCHOR_KEPT: Final = 0.65
OWN: Final = 0.7
"""Share of an entry's words that are the link's own, if it was made from it."""
BACKWARD: Final = frozenset(
    "because since when whenever after once while if by from due thanks following upon as during under".split()
)
"""Between two ends, these say that the second comes first."""
FRONTED: Final = frozenset(
    "because since when whenever after once while if upon following due thanks as during by".split()
)
FRONTED_BACK: Final = frozenset("before".split())
PLACING: Final = frozenset("on with during in at upon over using".split())
"""Right before the second end these say that it is where, or with what, the first happens."""
FORWARD: Final = frozenset(
    fold(word)
    for word in """make lead give cause trigger put leave inspire prompt spark motivate push send bring drive let get
    turn encourage result""".split()
)
ARTICLES: Final = frozenset("a an the his her their my your its user's".split())
LISTING: Final = frozenset("and or also plus with both as well".split())


@dataclass(frozen=True, slots=True)
class Link:
    """What must be found of a link."""

    ends: tuple[Mapping[str, float], Mapping[str, float]]
    wordings: tuple[str, str]
    person: int | None
    """Which end is a person, if one is: then the order of words says nothing."""
    direction: int
    relation: frozenset[str]
    sentiment: int
    negative: bool
    stated: frozenset[str]
    owner: Name | None
    """Somebody the link is about who is not one of its ends."""


@lru_cache(maxsize=4096)
def read_link(evidence: Evidence, protocol: str) -> Link:
    """The link of the evidence."""
    source = sentences_of(evidence.source)
    stated = {key for s in source for key in s.keys}
    anchors = (
        evidence.anchors[:2]
        if len(evidence.anchors) >= 2
        else (evidence.entity or evidence.text, evidence.value or evidence.text)
    )
    ends = []
    for anchor in anchors:
        keys = keys_of(anchor)
        ends.append(needs(keys if protocol == "paper" or not keys & stated else keys & stated))
    home = max(source, key=lambda s: len(s.keys & (set(ends[0]) | set(ends[1])))) if source else None
    direction, relation = _direction(home, ends[0], ends[1]) if home else (0, frozenset())
    person = next(
        (i for i, a in enumerate(anchors) if a[:1].isupper() and len(a.split()) <= 2 and len(keys_of(a)) == 1), None
    )
    return Link(
        (ends[0], ends[1]),
        (quote(evidence.source, anchors[0].split()), quote(evidence.source, anchors[1].split())),
        person,
        direction,
        relation,
        sentiment(home) if home else 0,
        any(is_negator(w.lower) for w in home.words) if home else False,
        frozenset(stated),
        _owner(home, anchors) if home and person is None else None,
    )


def _owner(sentence: Sentence, anchors: tuple[str, ...]) -> Name | None:
    inside = {w for anchor in anchors for w in anchor.casefold().split()}
    for at, word in enumerate(sentence.words):
        bare = word.lower.removesuffix("'s")
        if word.surface[0].isupper() and at and len(bare) > 2 and bare not in STOP | OPENERS and bare not in inside:
            return Name.of(word.surface.removesuffix("'s"))
    return None


def find_link(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The link in a view: both ends in one place (stored), related the right way round (faithful)."""
    link = read_link(evidence, protocol)
    best = _find(link, view)
    if best.faithful or best.fault:
        return best
    for other in _otherwise_worded(evidence, protocol):
        finding = _find(other, view)
        if (finding.faithful, finding.present) > (best.faithful, best.present):
            best = finding
        if best.faithful:
            break
    return best


@lru_cache(maxsize=4096)
def _otherwise_worded(evidence: Evidence, protocol: str) -> tuple[Link, ...]:
    """The same link with each end in its curated wordings."""
    anchors = [detail.wordings for detail in evidence.details if detail.part == "anchor"]
    if len(anchors) != 2:
        return ()
    link = read_link(evidence, protocol)
    found = []
    for first, second in product(*anchors):
        ends = (needs(keys_of(first)), needs(keys_of(second)))
        if all(ends) and ends != link.ends:
            found.append(replace(link, ends=ends, stated=link.stated | ends[0].keys() | ends[1].keys()))
    return tuple(found)


def _find(link: Link, view: View) -> Finding:
    both = {**link.ends[0], **link.ends[1]}
    best: tuple[tuple[bool, bool, float, int], Finding] | None = None
    near: list[int] = []
    for window in view.search(both, link.owner):
        shares = [_share(end, window.found) for end in link.ends]
        near.extend(window.sentences)
        if min(shares) < ANCHOR_STORED or not _is_ours(link, view, window.sentences, shares):
            continue
        finding = _judge(link, view, window.sentences, shares, window.link)
        rank = (finding.faithful, finding.present, round(sum(shares), 6), -len(window.sentences))
        if best is None or rank > best[0]:
            best = (rank, finding)
    if best is not None:
        return best[1]
    halves = [view.search(end, None, 1) for end in link.ends]
    there = [w for w, h in zip(link.wordings, halves, strict=True) if h and h[0].coverage >= ANCHOR_KEPT]
    lost = tuple(w for w in link.wordings if w not in there) or link.wordings
    reason = f"no entry links {link.wordings[0]!r} with {link.wordings[1]!r}"
    return Finding(False, False, reason, view.entries_of(near)[:3], tuple(there), lost, confidence=0.9)


def _is_ours(link: Link, view: View, at: tuple[int, ...], shares: list[float]) -> bool:
    """Whether the sentences state this link, and not another one that shares words with it."""
    if view.own_share(at, link.stated) >= OWN:
        return True
    if min(shares) < 0.999:
        return False
    if link.person is None:
        return True
    # A person and a thing meet in many links: this one is told by its verb or its feeling.
    keys = frozenset().union(*(view.sentences[i].keys for i in at))
    if link.relation & keys:
        return True
    return bool(link.sentiment) and any(sentiment(view.sentences[i]) for i in at)


def _judge(link: Link, view: View, at: tuple[int, ...], shares: list[float], owner: int) -> Finding:
    entries = view.entries_of(at)
    lost = tuple(w for w, share in zip(link.wordings, shares, strict=True) if share < ANCHOR_KEPT)
    if lost:
        kept = tuple(w for w in link.wordings if w not in lost)
        return Finding(
            True, False, f"the link is stored, but {listed(lost)} is blurred", entries, kept, lost, confidence=0.7
        )
    arrow = f"{link.wordings[0]!r} to {link.wordings[1]!r}"
    if link.owner is not None and owner == OTHER and not any(view.named(i, link.owner) for i in at):
        return Finding(
            True,
            False,
            f"the link from {arrow} is stored, but not as {link.owner.full}'s",
            entries,
            link.wordings,
            (link.owner.full,),
        )
    sentences = [view.sentences[i] for i in at]
    for sentence in sentences:
        if not (sentence.keys & link.ends[0].keys() and sentence.keys & link.ends[1].keys()):
            continue
        direction, relation = _direction(sentence, *link.ends)
        if link.person is not None:
            turned = (
                direction == -link.direction != 0
                and bool(relation & link.relation)
                and not sentence.lowers & {"by", "of", "for", "is", "are"}
            )
        else:
            turned = direction == -link.direction != 0
        if turned:
            return Finding(
                True,
                False,
                f"the link from {arrow} is stored the other way round",
                entries,
                (),
                link.wordings,
                confidence=0.8,
            )
        if link.person is None and not direction:
            return Finding(
                True,
                False,
                f"{arrow}: both are stored, but not how one leads to the other",
                entries,
                (),
                link.wordings,
                confidence=0.6,
            )
        if link.sentiment and sentiment(sentence) == -link.sentiment:
            return Finding(
                True,
                False,
                f"the link from {arrow} is stored with the opposite feeling",
                entries,
                (),
                link.wordings,
                confidence=0.8,
            )
        if any(is_negator(w.lower) for w in sentence.words) != link.negative and not link.negative:
            return Finding(
                True, False, f"the link from {arrow} is stored, but negated", entries, (), link.wordings, confidence=0.7
            )
    return Finding(True, True, f"the link from {arrow} is kept", entries, link.wordings)


def _share(end: Mapping[str, float], found: frozenset[str]) -> float:
    total = sum(end.values())
    return sum(v for k, v in end.items() if k in found) / total if total else 1.0


def _direction(
    sentence: Sentence, first: Mapping[str, float], second: Mapping[str, float]
) -> tuple[int, frozenset[str]]:
    """1 where the first end comes before the second in cause or time, -1 the other way round, 0 if they are but listed."""
    a, b = _span(sentence, first, second), _span(sentence, second, first)
    if a is None or b is None:
        return 0, frozenset()
    order = 1 if a[0] < b[0] else -1
    left, right = (a, b) if order == 1 else (b, a)
    words = sentence.words
    between = [w.lower for w in words[left[1] + 1 : right[0]]]
    relation = frozenset(w.key for w in words[left[1] + 1 : right[0]] if w.key)
    ahead = [w.lower for w in words[: left[0]]]
    marks = [w for w in between if w in BACKWARD]
    ending = [w for w in between if w not in ARTICLES][-1:]
    if ending and ending[0] in PLACING and not relation & FORWARD and not _fronted(ahead, FRONTED):
        return -order, relation
    if "help of" in " ".join(between):
        return -order, relation
    if marks and not _fronted(ahead, FRONTED):
        return -order, relation
    if "before" in between or "until" in between:
        return order, relation
    if _fronted(ahead, FRONTED_BACK):
        return -order, relation
    if _fronted(ahead, FRONTED):
        return order, relation
    if not [w for w in between if w not in LISTING]:
        return 0, relation
    return order, relation


def _fronted(ahead: list[str], marks: frozenset[str]) -> bool:
    return any(word in marks for word in ahead[-6:])


def _span(sentence: Sentence, end: Mapping[str, float], other: Mapping[str, float]) -> tuple[int, int] | None:
    """Where the end stands: the densest run of its own words."""
    at = [i for i, w in enumerate(sentence.words) if w.key in end and w.key not in other]
    if not at:
        at = [i for i, w in enumerate(sentence.words) if w.key in end]
    if not at:
        return None
    runs: list[list[int]] = [[at[0]]]
    for i in at[1:]:
        if i - runs[-1][-1] <= 3:
            runs[-1].append(i)
        else:
            runs.append([i])
    best = max(runs, key=lambda run: (len({sentence.words[i].key for i in run}), -run[0]))
    return best[0], best[-1]
