"""Test what the search finds: by the place of an entry, the words of the question, and what is shown instead."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

from pytest_memfail.clues.cases import Case, Evidence, Place
from pytest_memfail.clues.exact import best_split, heads
from pytest_memfail.clues.tests import FEWEST, FITS, LOST, MOSTLY, Test, best, fact_test, is_share, share
from pytest_memfail.core import DATE_LOST, KINDS, NOT_RETRIEVED, QuestionRecord, kinds_of
from pytest_memfail.results import by_row
from pytest_memfail.texts import STOP_WORDS, content, sentences, words

SOME: Final = 0.2
"""The least share of the facts reached only by one kind of words which must be lost: other words may lead there."""
UNSEEN: Final = 0.8
"""The least share of them for which no memory shown has these words."""
RARELY: Final = 0.1
"""The greatest share of questions whose best memory may share only words with them that the search does not read."""
SELDOM: Final = 0.2
"""Of the entries shown, fewer than this share of what chance gives lie where the search seems not to look."""


def search_tests(evidence: Evidence) -> Iterator[Test]:
    """Test facts that are stored and not shown."""
    # a fact that is shown without its day was found
    cases = [case for case in evidence.stages[NOT_RETRIEVED] if case.fact.label != DATE_LOST]
    lost = [case for case in cases if case.is_lost]
    if len(lost) < FEWEST:
        return
    yield from _by_place(cases)
    yield from _neighbours(lost)
    yield from _same_list(evidence, cases)
    yield from _by_words(cases)
    yield from _everywhere(evidence, cases)


def _by_place(cases: Sequence[Case]) -> Iterator[Test]:
    """Test whether entries at one end of the listing are never shown."""
    placed = [case for case in cases if case.entry is not None and case.store.size]

    def value(case: Case, name: str) -> float:
        return _place(name, case.entry or 0, case.store.size)

    splits = {name: best_split(placed, partial(value, name=name)) for name in ("part", "first", "last")}
    found = best((name, one) for name, one in splits.items() if one is None or name != "part" or is_share(one))
    if found is None:
        return
    name, split, tries = found
    limit, above = split.limit, split.above

    def has(case: Case) -> bool:
        return (value(case, name) > limit) == above

    if name == "part":
        where = f"{'newest' if above else 'oldest'} {share(1 - limit if above else limit)} of the listing"
    elif name == "first":
        where = f"entries after the first {limit:.0f} of a store" if above else f"first {limit:.0f} entries of a store"
    else:
        where = f"entries before the last {limit:.0f} of a store" if above else f"last {limit:.0f} entries of a store"
    cause = f"the search does not look at the {where}"
    yield fact_test(
        "place",
        NOT_RETRIEVED,
        placed,
        has,
        cause,
        tries=tries,
        fits=_is_never_shown(placed, name, limit, above=above),
        covers=0.8,
        rate=0.8,
    )


def _place(name: str, at: int, size: int) -> float:
    """Return the place of an entry as a share of the listing, counted from its start, or counted from its end."""
    return {"part": (at + 1) / size, "first": at + 1, "last": size - at}[name]


def _is_never_shown(cases: Sequence[Case], name: str, limit: float, *, above: bool) -> bool:
    """Return whether hardly any memory that was shown lies beyond the limit."""
    seen = expected = 0.0
    beyond: dict[int, float] = {}
    """By the size of a listing, the share of its entries beyond the limit."""
    for question, store in {case.question.id: (case.question, case.store) for case in cases}.values():
        size, known = store.size, [at for at in question.places if at >= 0]
        seen += sum((_place(name, at, size) > limit) == above for at in known)
        if size not in beyond:
            beyond[size] = sum((_place(name, at, size) > limit) == above for at in range(size)) / size
        expected += len(known) * beyond[size]
    return expected > 0 and seen <= SELDOM * expected


def _neighbours(lost: Sequence[Case]) -> Iterator[Test]:
    """Test whether the entry beside the needed one is shown in its place."""
    known = [
        case
        for case in lost
        if case.entry is not None and max(case.question.places, default=-1) >= 0 and case.store.size
    ]
    rows: dict[Hashable, list[Case]] = defaultdict(list)
    for case in known:
        rows[case.cluster].append(case)
    if len(rows) < FEWEST:
        return
    chance = sum(sum(at >= 0 for at in case.question.places) / case.store.size for case in known) / len(known)
    for step, which in ((1, "after"), (-1, "before")):
        explained = [case for case in known if 0 <= (case.entry or 0) + step in case.question.places]
        named = {id(case) for case in explained}
        whole = sum(all(id(case) in named for case in row) for row in rows.values())
        text = f"the search shows the entry {which} the right one: for {len(explained)} of {len(lost)} {LOST[NOT_RETRIEVED]}"
        is_often = len(explained) >= MOSTLY * len(lost) and whole >= max(FEWEST, 3 * chance * len(rows))
        p = min(1.0, 2 * heads(whole, len(rows), min(1.0, chance)))
        yield Test("neighbour", NOT_RETRIEVED, p, text if is_often else "", explained, len(lost))


def _same_list(evidence: Evidence, cases: Sequence[Case]) -> Iterator[Test]:
    """Test whether other questions were shown the very same memories."""
    shown: dict[tuple[str, str, tuple[int, ...]], set[str]] = defaultdict(set)
    for question in evidence.questions:
        if question.places and -1 not in question.places:  # what the listing lacks may be anything
            shown[question.task, question.store, question.places].add(question.text)

    def has(case: Case) -> bool:
        question = case.question
        return len(shown.get((question.task, question.store, question.places), ())) > 1

    if any(map(has, cases)):
        yield fact_test("same-list", NOT_RETRIEVED, cases, has, "different questions are shown the very same memories")


def _by_words(cases: Sequence[Case]) -> Iterator[Test]:
    """Test whether what a question shares with its fact is mainly of one kind, or comes late in the question."""
    # what a word search cannot find either says nothing about how this one reads a question
    shared = [case for case in cases if case.shared and case.question.reference_held is not None]
    asked = {case.question.id: case.question.text for case in shared}
    kinds = {
        name: {w: k for part in sentences(text) for w, k in kinds_of(part).items()} for name, text in asked.items()
    }
    for kind in KINDS:
        values = {id(case): case.share_of(kind, kinds[case.question.id]) for case in shared}
        split = best_split(shared, lambda case: values[id(case)])  # noqa: B023
        if split is not None:
            limit, above = split.limit, split.above

            def is_kind(case: Case, values: dict[int, float] = values, limit: float = limit) -> bool:
                return values[id(case)] > limit

            lost = [case for case in shared if case.is_lost and is_kind(case)]
            unseen = sum(not _shows(case, kind, kinds[case.question.id]) for case in lost)
            fits = above and unseen >= UNSEEN * len(lost)
            cause = f"the search ignores {kind}: what it misses shares mainly {kind} with its question"
            yield fact_test(
                "query-kind", NOT_RETRIEVED, shared, is_kind, cause, tries=split.tries, fits=fits, rate=SOME
            )
    order = {name: words(text) for name, text in asked.items()}
    first = {id(case): order[case.question.id].index(case.shared[0]) for case in shared}
    split = best_split(shared, lambda case: first[id(case)])
    if split is not None:
        limit = split.limit
        cause = f"the search reads only the first {limit + 1:.0f} words of a question"

        def is_late(case: Case) -> bool:
            return first[id(case)] > limit

        questions = {case.question.id: case.question for case in shared}.values()
        tries, fits = split.tries, split.above and not _reads_on(questions, order, int(limit) + 1)
        yield fact_test("first-words", NOT_RETRIEVED, shared, is_late, cause, tries=tries, fits=fits, rate=0.8)


def _reads_on(questions: Collection[QuestionRecord], order: Mapping[str, Sequence[str]], n: int) -> bool:
    """Return whether the best memory often shares only words after the first n with its question."""
    late = 0
    for question in questions:
        early = set(order[question.id][:n]) - STOP_WORDS
        found = content(question.retrieved[0].text) if question.retrieved else frozenset()
        late += bool(found & (set(order[question.id]) - STOP_WORDS)) and not found & early
    return late > RARELY * len(questions)


def _shows(case: Case, kind: str, kinds: Mapping[str, str]) -> bool:
    """Return whether a memory shown has a word of this kind that question and fact share."""
    wanted = {word for word in case.shared if kinds.get(word) == kind}
    return any(wanted & content(memory.text) for memory in case.question.retrieved)


def _everywhere(evidence: Evidence, cases: Sequence[Case]) -> Iterator[Test]:
    """Test what is the same for all questions: it explains the loss only if the search finds less than the reference does."""
    lost = [case for case in cases if case.is_lost]
    questions = [q for q in evidence.questions if q.places and not q.must_not_use]
    if len(questions) < FEWEST:
        return
    balances: Counter[tuple[str, ...]] = Counter()
    for question in questions:
        balances[question.cluster_key] += question.beyond_verbatim - question.better_than_verbatim
    p = by_row(balances.values(), one_sided=True)
    n, named = len(questions), LOST[NOT_RETRIEVED]
    found = []
    full = [q for q in questions if evidence.stores[q.task, q.store].size >= q.k]
    sizes = Counter((q.k, len(q.places)) for q in full)
    if sizes:
        (k, size), most = sizes.most_common(1)[0]
        if size < k and most >= FITS * len(full):
            entries = "1 memory" if size == 1 else f"{size} memories"
            found.append(("fewer", f"each question is shown {entries} although k is {k}", lost))
    groups = list(_same_for_all(evidence, questions))
    common = {q.id for usual, _ in groups for q in usual}
    n_asked = sum(n for _, n in groups)
    # the first list of a store is the same as none before
    if n_asked - len(groups) >= FEWEST and len(common) - len(groups) >= FITS * (n_asked - len(groups)):
        cause = f"the search shows the same memories whatever is asked, for {len(common)} of {n_asked} questions"
        found.append(("same-for-all", cause, [case for case in lost if case.question.id in common]))
    repeated = {q.id for q in questions if len({memory.text for memory in q.retrieved}) < len(q.retrieved)}
    if len(repeated) >= FEWEST:
        cause = f"memories repeat each other in {len(repeated)} of {n} lists shown"
        test = fact_test("repeats", NOT_RETRIEVED, cases, lambda case: case.question.id in repeated, cause)
        yield replace(test, p=max(p, test.p))
    rises = {q.id: rise for q in questions if (rise := _rises(q)) is not None}
    rising = [q for q in questions if rises.get(q.id)]
    if FEWEST <= len(rising) < FITS * len(rises):
        ordered = [case for case in cases if case.question.id in rises]
        cause = f"the worst memories come first: scores rise in {len(rising)} of {n} lists shown"
        test = fact_test("rising", NOT_RETRIEVED, ordered, lambda case: rises[case.question.id], cause)
        yield replace(test, p=max(p, test.p))
    elif len(rising) >= FEWEST and (what := _what_rises(rising)):
        found.append(("rising", f"{what} in {len(rising)} of {n} lists shown", lost))
    unrelated = [case for case in lost if _is_unrelated(case.question)]
    if len(unrelated) >= FITS * len(lost):
        found.append(("unrelated", "no memory shown shares a word with its question", unrelated))
    for name, text, explained in found:
        yield Test(name, NOT_RETRIEVED, p, f"{text}; {len(explained)} of {len(lost)} {named}", explained, len(lost))


def _same_for_all(
    evidence: Evidence, questions: Iterable[QuestionRecord]
) -> Iterator[tuple[list[QuestionRecord], int]]:
    """Yield, for each store that holds more than is shown, the questions with its most common list, and how many were asked."""
    by_store: dict[Place, dict[str, QuestionRecord]] = defaultdict(dict)
    for question in questions:
        if -1 not in question.places and evidence.stores[question.task, question.store].size > len(question.places):
            by_store[question.task, question.store][question.text] = question
    for asked in by_store.values():
        usual, _ = Counter(question.places for question in asked.values()).most_common(1)[0]
        yield [question for question in asked.values() if question.places == usual], len(asked)


def _rises(question: QuestionRecord) -> bool | None:
    """Return whether scores rise from the first to the last memory shown; None if they do not differ."""
    scores = [memory.score for memory in question.retrieved if memory.score is not None]
    if len(set(scores)) < 2:
        return None
    return all(one <= other for one, other in pairwise(scores))


def _what_rises(rising: Sequence[QuestionRecord]) -> str:
    """Return what it means that scores rise in almost all lists; empty if they are distances, and the best comes first.

    The better memory of the first and the last is the one that shares more words with the question.
    """
    better = Counter(_shared(q, 0) > _shared(q, -1) for q in rising if _shared(q, 0) != _shared(q, -1))
    first, last = better[True], better[False]
    if first >= FEWEST and first >= 2 * last:
        return ""
    if last >= FEWEST and last >= 2 * first:
        return "the worst memories come first: scores rise"
    return "the worst memories come first, or their scores are distances"


def _shared(question: QuestionRecord, at: int) -> int:
    """Return how many words a memory shown shares with the question."""
    return len(content(question.text) & content(question.retrieved[at].text))


def _is_unrelated(question: QuestionRecord) -> bool:
    asked = content(question.text)
    return not any(asked & content(memory.text) for memory in question.retrieved)
