"""States that changed: our own rows in stores of every kind, a user's own facts, and whose sentence it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest

from pytest_memfail.calibration import read_cases, shipped_cases
from pytest_memfail.core import Conversation, Detail, Evidence, Listing, Memory, Question, fact_verdict
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.fact_owner import other_thing, strange
from pytest_memfail.judges.rules.history import later, stamp_of, tells_change
from pytest_memfail.judges.rules.text import TextCache, sentences_of
from pytest_memfail.judges.rules.view import View
from pytest_memfail.tasks import TaskRequest, load_tasks

(TASK,) = load_tasks(TaskRequest(("updated_facts",)))
CONVERSATIONS = {c.id: c for store in TASK.stores for c in store.conversations}
CHANGED = ("update", "correction", "deletion")
NAMED = ("update", "correction", "control")
QUESTION = Question("q", "t", "?", "?", (), ("e",), "open")


def memory(conversation: Conversation, *, stamped: bool = True) -> Memory:
    stamp = conversation.timestamp.isoformat() if stamped and conversation.timestamp else None
    return Memory(conversation.text, timestamp=stamp)


FULL = Listing("full", tuple(map(memory, CONVERSATIONS.values())))
BARE = Listing("bare", tuple(memory(c, stamped=False) for c in CONVERSATIONS.values()))


def outcome(
    judge: RulesJudge, evidence: Evidence, question: Question, store: Listing, shown: Sequence[Memory]
) -> tuple[str, str | None]:
    """The verdict of the three stages, and its label."""
    for name, result in (
        ("not_stored", judge.storage(evidence, store)),
        ("summary_error", judge.summary(evidence, store)),
    ):
        if result.outcome == "failed":
            return name, result.label
    shown_result = judge.retrieval(evidence, question, shown)
    return ("ok" if shown_result.outcome == "passed" else "not_retrieved"), shown_result.label


def verdicts(
    kinds: tuple[str, ...], make: Callable[[Evidence, list[Memory]], tuple[Listing, Sequence[Memory]]]
) -> list[tuple[str, str | None]]:
    """The verdicts on all rows of these kinds; `make` gets the fact and what is not about it."""
    judge, found = RulesJudge(), []
    for question in TASK.questions:
        evidence = TASK.evidence[question.evidence[0]]
        if question.metadata["kind"] in kinds:
            mine = {evidence.conversation_id, *evidence.history}
            others = [memory(c) for c in itertools.islice(CONVERSATIONS.values(), 0, None, 97) if c.id not in mine]
            found.append(outcome(judge, evidence, question, *make(evidence, others)))
    return found


def own(evidence: Evidence, *, stamped: bool = True) -> list[Memory]:
    return [memory(CONVERSATIONS[id], stamped=stamped) for id in (evidence.conversation_id, *evidence.history)]


def without(*gone: str) -> Listing:
    return Listing("without", tuple(memory(c) for id, c in CONVERSATIONS.items() if id not in gone))


def share(found: Sequence[tuple[str, str | None]], *wanted: tuple[str, str | None]) -> float:
    assert len(found) >= 20
    return sum(verdict in wanted for verdict in found) / len(found)


def test_reasons_say_of_a_memory_shown_that_it_is_shown() -> None:
    judge, store = RulesJudge(), FULL
    states = {q.metadata["kind"]: TASK.evidence[q.evidence[0]] for q in TASK.questions if q.metadata["kind"] in CHANGED}
    for evidence in states.values():
        old = [memory(CONVERSATIONS[id]) for id in evidence.history]
        reasons = [judge.retrieval(evidence, QUESTION, shown).reason for shown in (old, own(evidence))]
        assert all(" shown" in reason and " stored" not in reason for reason in reasons), reasons
        assert " stored" in judge.summary(evidence, store).reason


def test_stored_word_for_word_with_times() -> None:
    found = verdicts((*CHANGED, "control"), lambda e, others: (FULL, [*own(e), *others]))
    assert share(found, ("ok", None)) >= 0.99


def test_without_times_the_wording_mostly_tells_which_holds() -> None:
    found = verdicts((*CHANGED, "control"), lambda e, _: (BARE, own(e, stamped=False)))
    assert share(found, ("ok", None)) >= 0.97
    assert share(found, ("ok", None), ("summary_error", "stale_value")) == 1.0


def test_what_was_not_told_leaves_the_old_state_standing() -> None:
    found = verdicts(CHANGED, lambda e, others: (without(e.conversation_id), others))
    assert share(found, ("not_stored", "stale_value")) >= 0.95


def test_a_lost_control_is_an_update_too_many() -> None:
    found = verdicts(("control",), lambda e, others: (without(e.conversation_id), others))
    assert share(found, ("not_stored", "over_update")) >= 0.85
    assert share(found, ("not_stored", "over_update"), ("not_stored", None)) >= 0.95


def test_nothing_told_is_not_stored() -> None:
    found = verdicts(NAMED, lambda e, others: (without(e.conversation_id, *e.history), others))
    assert share(found, ("not_stored", None), ("not_stored", "over_update")) >= 0.97


def deletions() -> list[tuple[Evidence, Question]]:
    return [(TASK.evidence[q.evidence[0]], q) for q in TASK.questions if q.stratum == "deletion"]


def passed_as(evidence: Evidence, question: Question, store: Listing, shown: Sequence[Memory]) -> tuple[str, bool]:
    judge = RulesJudge()
    stored = judge.storage(evidence, store), judge.summary(evidence, store)
    fact = fact_verdict(evidence.id, *stored, judge.retrieval(evidence, question, shown))
    return fact.name, fact.vacuous


@pytest.mark.parametrize("texts", [[], ["The user said hello."]])
def test_a_state_taken_back_of_which_nothing_is_stored_passes_vacuously(texts: list[str]) -> None:
    store = Listing("s", tuple(map(Memory, texts)))
    assert {passed_as(*pair, store, store.memories) for pair in deletions()} == {("correct", True)}


def test_a_state_taken_back_and_deleted_beside_everything_else_passes_vacuously() -> None:
    found = [
        passed_as(evidence, question, without(evidence.conversation_id, *evidence.history), ())
        for evidence, question in deletions()
    ]
    assert found.count(("correct", True)) >= 19


def test_an_end_that_is_stored_must_be_shown() -> None:
    pairs = deletions()
    for (evidence, question), (other, _) in zip(pairs, pairs[1:] + pairs[:1], strict=True):
        assert passed_as(evidence, question, FULL, [memory(CONVERSATIONS[evidence.conversation_id])]) == (
            "correct",
            False,
        )
        assert passed_as(evidence, question, FULL, [memory(CONVERSATIONS[other.conversation_id])])[0] == "not_retrieved"
        assert passed_as(evidence, question, FULL, [])[0] == "not_retrieved"


def test_an_end_that_is_shown_and_not_listed_passes_fully() -> None:
    store = Listing("s", (Memory("The user said hello."),))
    for evidence, question in deletions():
        shown = [memory(CONVERSATIONS[evidence.conversation_id])]
        assert passed_as(evidence, question, store, shown) == ("correct", False)


def test_other_entries_shown_is_not_retrieved() -> None:
    found = verdicts(NAMED, lambda _, others: (FULL, others))
    assert share(found, ("not_retrieved", None)) >= 0.99


def test_only_the_old_state_shown_is_not_retrieved() -> None:
    found = verdicts(CHANGED, lambda e, _: (FULL, [memory(CONVERSATIONS[id]) for id in e.history]))
    assert share([(name, None) for name, _ in found], ("not_retrieved", None)) >= 0.99


@pytest.mark.parametrize(("half", "least"), [("dev", 0.95), ("test", 0.85)])
def test_labelled_cases(half: str, least: float) -> None:
    judge = RulesJudge()
    cases = [c for c in read_cases(shipped_cases()) if c.task == "updated_facts" and c.split == half]
    right = [
        outcome(judge, case.evidence[0], case.question, case.listing, case.shown)[0] in case.labels[0].accepted
        for case in cases
    ]
    assert len(cases) >= 40
    assert sum(right) / len(right) >= least


def told(fact: str, source: str, details: Sequence[Sequence[str]] = (), forbidden: Sequence[str] = ()) -> Evidence:
    """A fact of a user's own case."""
    return Evidence(
        id="e",
        kind="fact",
        task="custom",
        text=fact,
        source=source,
        conversation_id="c",
        stale_values=tuple(forbidden),
        details=tuple(Detail(tuple(wordings)) for wordings in details),
    )


ALLERGY = told(
    "The user is allergic to penicillin.",
    "I'm allergic to penicillin.",
    [["allergic", "allergy"], ["penicillin"]],
    ["no known allergies"],
)
PLAIN = told("The user is allergic to penicillin.", "I'm allergic to penicillin.")
ROOM = told(
    "The stand-up is in room 4B.",
    "Heads-up: from Monday on the stand-up moves from 2A to room 4B.",
    [["4B"], ["stand-up", "standup"]],
    ["2A"],
)
COFFEE = told("The user no longer drinks coffee.", "I've stopped drinking coffee.", (), ["drinks coffee"])


@pytest.mark.parametrize(
    ("fact", "texts", "wanted"),
    [
        (ALLERGY, ["User has a penicillin allergy."], ("ok", None)),
        (ALLERGY, ["User has no known allergies."], ("not_stored", "stale_value")),
        (ALLERGY, ["User is allergic to antibiotics."], ("summary_error", None)),
        (ALLERGY, ["User is not allergic to penicillin."], ("summary_error", None)),
        (ALLERGY, ["User is allergic to cats."], ("not_stored", None)),
        (PLAIN, ["User has a penicillin allergy."], ("ok", None)),
        (PLAIN, ["User has a cat allergy."], ("not_stored", None)),
        (PLAIN, ["User is not allergic to penicillin."], ("summary_error", None)),
        (PLAIN, ["User's sister is allergic to penicillin."], ("summary_error", None)),
        (ROOM, ["Stand-up location: room 4B (was 2A)."], ("ok", None)),
        (ROOM, ["Stand-up takes place in 2A."], ("not_stored", "stale_value")),
        (ROOM, ["Stand-up takes place in 2A.", "Stand-up takes place in room 4B."], ("summary_error", "stale_value")),
        (COFFEE, ["User quit coffee on the doctor's advice."], ("ok", None)),
        (COFFEE, ["User drinks coffee every morning."], ("not_stored", "stale_value")),
        (COFFEE, ["User likes tea."], ("ok", None)),
    ],
)
def test_own_facts(fact: Evidence, texts: list[str], wanted: tuple[str, str | None]) -> None:
    store = Listing("s", tuple(map(Memory, [*texts, "User plays chess on Mondays."])))
    assert outcome(RulesJudge(), fact, QUESTION, store, store.memories) == wanted


@pytest.mark.parametrize(
    ("text", "another"),
    [
        ("User's sister Rosa eats meat.", True),
        ("User's old choir friend Bea sings alto.", True),
        ("Magda buys rolls.", True),
        ("Kay paid the user back.", True),
        ("It is his brother who cannot be near horses.", True),
        ("User pays £20.", False),
        ("Refuse collection at user's house: Mondays.", False),
        ("I've stopped.", False),
        ("My godson's birthday is in May.", False),
    ],
)
def test_whose_sentence_it_is(text: str, another: bool) -> None:
    user = Name("", frozenset(), "", frozenset({"my", "godson's"}))
    assert strange(View([text], TextCache()), 0, user) is another


def test_a_relation_of_the_users_may_be_whom_it_is_about() -> None:
    wilfred = Name.of("Wilfred")
    assert wilfred is not None
    assert not strange(View(["User's uncle Wilfred has dialysis."], TextCache()), 0, wilfred)


@pytest.mark.parametrize(
    ("text", "another"),
    [
        ("User's chess club meets on Thursdays.", True),
        ("Tyre pressure of user's bike: 1.2 bar.", True),
        ("User's book group meets on Thursdays.", False),
        ("The book group meets on Thursdays.", False),
    ],
)
def test_other_things_of_the_users(text: str, another: bool) -> None:
    (sentence,) = sentences_of(text)
    assert other_thing(sentence, frozenset({"book", "group"})) is another


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("[2024-03-11] User lives here.", "2024-03-11"),
        ("User has lived here since 5 May 2024.", "2024-05-05"),
        ("User moved in March 2025.", "2025-03"),
        ("User lives here.", ""),
    ],
)
def test_times_that_texts_tell(text: str, stamp: str) -> None:
    assert stamp_of(View([text], TextCache()), 0) == stamp


def test_times_of_unlike_precision_are_compared_as_far_as_both_go() -> None:
    view = View(["(March 2025) a", "(2 March 2025) b", "(May 2025) c"], TextCache())
    assert later(view, 2, 0)
    assert not later(view, 1, 0)
    assert not later(view, 0, 2)


def test_words_of_the_old_message_tell_no_change() -> None:
    assert tells_change("She moved to the attic.")
    assert not tells_change("She moved to the attic.", "Since she moved to the attic she sleeps well.")
