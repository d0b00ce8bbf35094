"""A reason says what its verdict says: that something is there, or that something is wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import row_stores
from hypothesis import given, settings, strategies as st

from pytest_memfail.calibration import Case, planted_cases, read_cases, shipped_cases
from pytest_memfail.core import Claim, Fact, FactVerdict, Listing, Memory, Part, Question
from pytest_memfail.engine import Grader
from pytest_memfail.finding.judges import kinds_of
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.offline.english import plain, tokens_of
from pytest_memfail.suites import TaskRequest, load_tasks
from pytest_memfail.suites.load import BUILT_IN, built_in_suite
from pytest_memfail.suites.memfail import MEMFAIL_TASKS, SUITE as MEMFAIL, TASK_NAMES
from pytest_memfail.suites.memfail.plants import PLANTS
from pytest_memfail.systems.failing import careless_summary

PASSED = re.compile(
    r"found in .+|found word for word in .+|some version of it is stored|the entries that store it were shown|"
    r"this stage is not asked|nothing of it is there, as it should be|not held, as it should be: .+|"
    # finders of suites
    r"the (?:new )?value is stated(?: with its condition|, and its source names no condition)?|the text is there to the letter|"
    r"the values are there in their order|the latest value is named as such|"
    r"one entry names the values from the latest to the first|the store states the derived value as current: .+|"
    r"an entry says that it was to be forgotten|nothing states the deleted value|the string of the answer is there|"
    r"the fact is stated, as the newest of its kind|a fact with the answer as its value is stated: .+|"
    r"the turn is there, with its numbers and names|the turn is there word for word",
    re.DOTALL,
)
FAILED = re.compile(
    r"no entry shares a word with it|no entry says it; the closest is .+|the entries shown do not say it; the closest is .+|"
    r"no entry has the sentence that says it|the entry that says it was not shown|"
    r"no memory was shown|the store says that it has ended, and the entries shown do not|held, and must not be: .+|"
    r"(?:said of .+, not of .+,|['\"].+ (?:stands for|is more general than) ['\"].+|['\"].+ (?:is generalised|missing)|"
    r"changed in meaning|"
    r"liking turned into disliking, or the reverse,|a negation added or lost|the other side of a limit or an order|"
    r"cause and effect exchanged|'only' lost) in .+|"
    # finders of suites
    r"the value stands beside a later one, stated as current: .+|the text is there, but not to the letter|"
    r"\d of \d values are found, so there is no order to check|the values are there in another order|"
    r"part of the (?:new )?value is stated.*|nothing states (?:the value|the fact|that it became .+)|"
    r"the value is stated without its condition|the deleted value is still stated, .+|only a replaced value is stated: .+|"
    r"a replaced value comes later, .+|no fact has the answer as its value|the string of the answer is nowhere|"
    r"no entry has the words of the turn|the turn is there without .+|no entry shown has it as the store does|"
    r"nothing is there|no entry that holds it says when it was: said on \d{4}-\d\d-\d\d, got .+",
    re.DOTALL,
)
MISSING = re.compile(r"(?:lost )?('[^']+'(?:, '[^']+')*) missing in ['\"](.*)['\"]", re.DOTALL)
STANDS = re.compile(r"'([^']+)' (?:stands for|is more general than) '([^']+)' in ", re.DOTALL)
OWNERS = re.compile(r"said of (.+?), not of (.+?), in ", re.DOTALL)


def check(fact: FactVerdict) -> None:
    """Fail if a stage of the fact gives a reason for another outcome, or one that contradicts itself."""
    for name in ("storage", "summary", "retrieval"):
        stage = getattr(fact, name)
        if stage.outcome in ("passed", "failed"):
            wanted, other = (PASSED, FAILED) if stage.outcome == "passed" else (FAILED, PASSED)
            said = f"{fact.id}: {name} {stage.outcome}: {stage.reason}"
            assert wanted.fullmatch(stage.reason), said
            assert not other.fullmatch(stage.reason), said
            if found := STANDS.match(stage.reason):
                assert found[1].casefold() != found[2].casefold(), said
            if found := OWNERS.match(stage.reason):
                assert found[1].casefold() != found[2].casefold(), said
            if (found := MISSING.match(stage.reason)) and not found[2].endswith("…"):
                there = {token.lower for token in tokens_of(plain(found[2]))}
                lost = {token.lower for token in tokens_of(plain(found[1]))}
                assert not lost <= there, said


@cache
def judge() -> OfflineJudge:
    return OfflineJudge(**kinds_of(built_in_suite(name) for name in BUILT_IN))


def facts_of(
    question: Question, evidence: Sequence[Fact], listing: Listing, shown: Sequence[Memory]
) -> Iterable[FactVerdict]:
    """The verdicts on the facts of a question, as in a run."""
    with ThreadPoolExecutor(1) as pool:
        return asyncio.run(Grader(judge(), pool).grade(question, evidence, listing, shown, None)).facts


def check_case(case: Case) -> None:
    for fact in facts_of(case.question, case.evidence, case.listing, case.shown):
        check(fact)


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
def test_stores_of_shipped_rows(name: str) -> None:
    whole = row_stores.build(name, "shipped", "verbatim")
    listings = {
        "kept": whole.listing.memories,
        "lossy": tuple(Memory(careless_summary(text)) for text in whole.texts),
        "empty": (),
    }
    listings = {how: Listing(how, memories) for how, memories in listings.items()}
    for evidence, question in row_stores.facts(name, "shipped", 61):
        own = whole.own[evidence.conversation_id]
        far = [at for at in range(len(whole.texts)) if at not in own][:5]
        forgetful = whole.without([evidence.conversation_id])
        for listing, places in (
            *((listings[how], [*own, *far]) for how in ("kept", "lossy")),
            (listings["kept"], far),  # misdirected
            (listings["empty"], []),
            (listings["kept"], []),
            (forgetful, far[:3]),
        ):
            shown = [listing.memories[at] for at in places]
            for fact in facts_of(question, [evidence], listing, shown):
                check(fact)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_labelled_cases(split: str) -> None:
    for case in read_cases(MEMFAIL, shipped_cases(MEMFAIL, (split,)))[::17]:
        check_case(case)


@pytest.mark.parametrize("name", ["meme", "mab", "halumem", "longmemeval", "locomo"])
def test_labelled_cases_of_suites(name: str) -> None:
    cases = read_cases(built_in_suite(name), shipped_cases(built_in_suite(name)))
    for case in cases:
        check_case(case)


def test_planted_faults() -> None:
    for case in planted_cases(PLANTS, load_tasks(TaskRequest(TASK_NAMES)), every=160):
        check_case(case)


@cache
def pool() -> tuple[tuple[Case, ...], tuple[str, ...]]:
    suites = [
        case
        for name in ("meme", "mab", "halumem", "longmemeval", "locomo")
        for case in read_cases(built_in_suite(name), shipped_cases(built_in_suite(name)))
    ]
    cases = [*read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev",)))[::7], *suites]
    return tuple(cases), tuple(dict.fromkeys(memory.text for case in cases for memory in case.listing.memories))


@settings(max_examples=30, deadline=None, database=None, derandomize=True)
@given(st.data())
def test_made_up_listings(data: st.DataObject) -> None:
    cases, texts = pool()
    case = data.draw(st.sampled_from(cases))
    own = [memory.text for memory in case.listing.memories]
    entry = st.one_of(
        st.sampled_from([*own, *(fact.text for fact in case.evidence)]),
        st.sampled_from(texts),
        st.sampled_from([fact.source for fact in case.evidence]).map(careless_summary),
    )
    memories = tuple(Memory(text) for text in data.draw(st.lists(entry, max_size=6)) if text.strip())
    shown = data.draw(st.permutations(memories))[: data.draw(st.integers(0, 6))]
    for fact in facts_of(case.question, case.evidence, Listing("s", memories), shown):
        check(fact)


def test_a_retracted_state_that_the_store_ends_and_nobody_shows() -> None:
    fact = Fact(
        "f",
        "fact",
        "I gave up rowing.",
        "I gave up rowing.",
        "c",
        Claim(
            (Part("I gave up rowing."), Part("sport", "topic")),
            replaced=("rowing",),
            earlier="I row every day.",
            has_ended=True,
        ),
    )
    question = Question("q", "t", "?", "?", (), ("f",), "open")
    listing = Listing("s", (Memory("The user gave up rowing."), Memory("The user likes soup.")))
    (found,) = facts_of(question, [fact], listing, listing.memories[1:])
    assert (found.name, found.retrieval.reason) == (
        "not_retrieved",
        "the store says that it has ended, and the entries shown do not",
    )
    check(found)
