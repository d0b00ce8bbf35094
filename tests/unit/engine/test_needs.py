"""A question that needs the verdict on an earlier one has the same verdict alone, in the whole run and in a resumed one."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import pytest
from engine_fakes import PASSED, PATIENCE, AsyncStore, ExactJudge, Store as Searched, names, question, said

from pytest_memfail.core import Ingest, Probe, Reply, StageResult, UsageError
from pytest_memfail.engine import NeededOutcome
from pytest_memfail.hosting import Journal, Limits, Shelf


class Store(Searched):
    """Retrieves everything it holds."""

    def retrieve_memories(self, query, conversation, k):
        super().retrieve_memories(query, conversation, k)
        return list(self.texts)


STEPS = [
    Ingest(said(0)),
    Probe((question(0), question(1))),
    Ingest(said(1)),
    Probe((question(2, [0], needs=("q-0",)), question(3, [1]))),
    Ingest(said(2)),
    Probe((question(4, [2], needs=("q-2",)), question(5, [2], needs=("q-0", "q-3")))),
]


class Answers(ExactJudge):
    """Grades the answers to the questions named here as given, others as passed."""

    def __init__(self, **answers):
        super().__init__()
        self.answers = {name.replace("_", "-"): answer for name, answer in answers.items()}

    def answer(self, question, evidence, reply):
        super().answer(question, evidence, reply)
        found = self.answers.get(question.id, PASSED)
        if isinstance(found, Exception):
            raise found
        return found


WRONG = StageResult("failed", "no")
OPEN = StageResult("ungraded", "cannot tell")


def only(*ids):
    return lambda question: question.id in ids


def outcome(result):
    verdict = result.verdict
    return verdict.name, verdict.vacuous, verdict.label


@pytest.mark.parametrize("selected", [only("q-2"), only("q-0", "q-2"), lambda _: True], ids=["alone", "pair", "all"])
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (PASSED, ("correct", False, None)),
        (WRONG, ("correct", True, "trivial_pass")),
        (OPEN, ("correct", False, None)),
        (RuntimeError("broken"), ("ungraded", False, None)),
    ],
    ids=["right", "wrong", "ungraded", "error"],
)
def test_a_right_answer_counts_as_the_needed_verdict_says_whoever_selected_that_question(
    make_bench, before, expected, selected
):
    bench = make_bench(judge=Answers(q_0=before))
    run = bench.begin(Store, STEPS, selected=selected)
    result = bench.get(run, "q-2@5")
    assert outcome(result) == expected
    if expected[0] == "ungraded":
        assert result.verdict.answer.reason == "must have been right before, and was an error: q-0"
        assert result.verdict.credited is None


def test_a_wrong_answer_stays_wrong_whatever_was_answered_before(make_bench):
    for before in (WRONG, RuntimeError("broken")):
        bench = make_bench(judge=Answers(q_0=before, q_2=WRONG))
        result = bench.get(bench.begin(Store, STEPS, selected=only("q-2")), "q-2@5")
        assert outcome(result) == ("reasoning_error", False, None)


def test_a_hidden_question_is_asked_once_at_the_same_k_and_never_reported(make_bench):
    bench = make_bench(judge=(judge := Answers()))
    run = bench.begin(Store, STEPS, selected=only("q-4", "q-5"), k=(3, 5))
    assert [result.ask.key for result in bench.all(run)] == ["q-4@3", "q-4@5", "q-5@3", "q-5@5"]
    bench.finish(run)
    asked = {name: n for (stage, name), n in judge.asked.items() if stage == "answer"}
    assert asked == {f"q-{i}": 2 for i in (0, 2, 3, 4, 5)}  # q-1 is needed by none


def test_a_needed_question_with_a_k_of_its_own_is_asked_at_that(make_bench):
    steps = [Ingest(said(0)), Probe((question(0, k=2),)), Ingest(said(1)), Probe((question(1, needs=("q-0",)),))]
    seen = []

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            seen.append(k)
            return super().retrieve_memories(query, conversation, k)

    bench = make_bench()
    names(bench.all(bench.begin(Watched, steps, selected=only("q-1"))))
    assert seen == [2, 5]


def test_any_wrong_one_of_several_needed_questions_makes_the_pass_trivial(make_bench):
    for answers in ({"q_3": WRONG}, {"q_0": RuntimeError("broken"), "q_3": WRONG}):
        bench = make_bench(judge=Answers(**answers))
        assert outcome(bench.get(bench.begin(Store, STEPS, selected=only("q-5")), "q-5@5"))[2] == "trivial_pass"


@pytest.mark.parametrize(
    ("known", "expected"),
    [("correct", None), ("not_retrieved", "trivial_pass"), ("ungraded", None), ("error", None)],
)
def test_a_recorded_verdict_is_taken_instead_of_asking_again(make_bench, known, expected):
    bench = make_bench(judge=(judge := Answers(q_0=WRONG)))
    run = bench.begin(
        Store, STEPS, selected=only("q-2"), known={("q-0", 5): NeededOutcome(known), ("q-0", 3): NeededOutcome("error")}
    )
    verdict = bench.get(run, "q-2@5").verdict
    assert (verdict.name, verdict.label) == ("ungraded" if known == "error" else "correct", expected)
    assert judge.asked["answer", "q-0"] == 0


def test_a_verdict_recorded_at_another_k_is_none(make_bench):
    bench = make_bench(judge=Answers(q_0=WRONG))
    run = bench.begin(Store, STEPS, selected=only("q-2"), known={("q-0", 3): NeededOutcome("correct")})
    assert bench.get(run, "q-2@5").verdict.label == "trivial_pass"


@pytest.mark.parametrize("needs", ["q-9", "q-2", "q-3", "q-4"], ids=["unknown", "itself", "beside it", "later"])
def test_a_question_can_only_need_one_of_an_earlier_probe(bench, needs):
    steps = [
        *STEPS[:3],
        Probe((question(2, [0], needs=(needs,)), question(3, [1]))),
        Ingest(said(2)),
        Probe((question(4, [2]),)),
    ]
    with pytest.raises(UsageError) as caught:
        bench.begin(Store, steps, selected=only("q-0"))
    assert str(caught.value) == (
        f"t: the question q-2 of the store s-1 needs '{needs}'; expected the id of a question in an earlier probe of "
        "the same store"
    )


def test_questions_that_wait_for_others_leave_these_a_place(make_bench):
    """With one place for all questions, and the needed verdict slower than everything else."""

    class Slow(Answers):
        inline = False

        async def answer(self, question, evidence, reply):
            if question.id == "q-0":
                for _ in range(50):
                    await asyncio.sleep(0)
            return super().answer(question, evidence, reply)

    many = tuple(question(i, [0], needs=("q-0",)) for i in range(10, 90))
    steps = [Ingest(said(0)), Probe((question(0),)), Ingest(said(1)), Probe(many)]
    for concurrency in (1, 2, 32):
        for selected in (lambda _: True, lambda q: q.id != "q-0"):
            bench = make_bench(judge=Slow(q_0=WRONG), concurrency=concurrency)
            run = bench.begin(Store, steps, selected=selected)
            found = Counter(result.verdict.label for result in bench.all(run) if result.ask.question.needs)
            assert found == {"trivial_pass": 80}
            bench.finish(run)


def test_many_hidden_questions_do_not_use_up_the_window(make_bench):
    """Nobody takes their answers."""
    before = tuple(question(i, [0]) for i in range(150))
    after = tuple(question(200 + i, [0], needs=(f"q-{i}",)) for i in range(150))
    bench = make_bench(concurrency=2)
    run = bench.begin(
        Store, [Ingest(said(0)), Probe(before), Ingest(said(1)), Probe(after)], selected=lambda q: q.needs
    )
    assert names(bench.all(run)) == ["correct"] * 150


def test_the_last_waited_for_may_come_first(make_bench):
    bench = make_bench(judge=Answers(q_0=WRONG))
    run = bench.begin(Store, STEPS)
    assert outcome(bench.get(run, "q-4@5")) == ("correct", False, None)  # of q-2, which is correct
    assert outcome(bench.get(run, "q-2@5")) == ("correct", True, "trivial_pass")
    assert outcome(bench.get(run, "q-0@5")) == ("reasoning_error", False, None)


def test_a_question_needs_the_first_verdict_though_that_question_is_asked_again(make_bench):
    judge = Answers(q_0=WRONG)
    bench = make_bench(judge=judge)
    run = bench.begin(Store, STEPS[:2] + STEPS[2:4], selected=only("q-0", "q-2"))
    assert bench.get(run, "q-0@5").verdict.name == "reasoning_error"
    bench.get(run, "q-2@5")
    assert "cannot be asked again" in str(bench.get(run, "q-0@5").error)
    assert bench.get(run, "q-2@5").verdict.label == "trivial_pass"


def test_a_system_that_hangs_in_a_hidden_question_is_replaced(make_bench):
    release = threading.Event()
    made = []

    class Hanging(Store):
        def __init__(self):
            super().__init__()
            made.append(self)

        def retrieve_memories(self, query, conversation, k):
            if len(made) == 1:
                release.wait(PATIENCE)
            return super().retrieve_memories(query, conversation, k)

    # the second system has to answer within this limit, on a busy machine too
    bench = make_bench(judge=Answers(q_0=WRONG), limits=Limits(PATIENCE, 0.5))
    run = bench.begin(Hanging, STEPS, selected=only("q-2"))
    try:
        result = bench.get(run, "q-2@5")
    finally:
        release.set()
    # the hung call is the error of the needed question
    assert (result.verdict.name, len(made)) == ("ungraded", 2)


def test_a_fill_that_fails_after_the_hidden_question_fails_the_one_that_needs_it(bench):
    class Breaking(Store):
        def store_conversation(self, conversation):
            if conversation.id == "c-1":
                raise OSError("disk full")
            super().store_conversation(conversation)

    run = bench.begin(Breaking, STEPS, selected=only("q-2"))
    assert "disk full" in str(bench.get(run, "q-2@5").error)


class Noted(Journal):
    def __init__(self):
        self.events = []

    def question_started(self, key):
        self.events.append(("started", key))

    def question_ended(self, key):
        self.events.append(("ended", key))


def test_the_journal_names_the_selected_question_for_a_hidden_one(make_bench):
    bench = make_bench(journal=(journal := Noted()))
    names(bench.all(bench.begin(Store, STEPS, selected=only("q-4"))))
    assert {key for _, key in journal.events} == {"q-4@5"}
    assert [event for event, _ in journal.events] == ["started", "ended"] * (len(journal.events) // 2)


def test_what_a_suspect_needs_is_asked_alone(make_bench):
    running = Counter()

    class Watched(AsyncStore):
        concurrent_reads = 8

        async def retrieve_memories(self, query, conversation, k):
            running["now"] += 1
            running[query.split()[0]] = max(running["now"], running[query.split()[0]])
            for _ in range(20):
                await asyncio.sleep(0)
            running["now"] -= 1
            return list(self.inner.texts)

    steps = [
        Ingest(said(0)),
        Probe(tuple(question(i, [0]) for i in range(6))),
        Ingest(said(1)),
        Probe((question(7, [0], needs=("q-5",)),)),
    ]
    bench = make_bench()
    run = bench.begin(Watched, steps, selected=lambda q: q.id != "q-5", suspects=["q-7@5"])
    names(bench.all(run))
    assert (running["item5"], running["item7"]) == (1, 1)
    assert running["item4"] > 1  # entered beside others


def test_an_answer_that_was_asked_thrice_is_settled_each_time(make_bench):
    judges = [Answers(), Answers(q_2=WRONG), Answers()]
    taker = Taker()
    bench = make_bench(judge=judges[0], test_taker=taker, again=[(judge, taker) for judge in judges[1:]])
    run = bench.begin(Store, STEPS, selected=only("q-2"), known={("q-0", 5): NeededOutcome("not_stored")})
    result = bench.get(run, "q-2@5")
    assert result.repeats == ("vacuous", "reasoning_error", "vacuous")
    assert result.verdict.label == "trivial_pass"


class Taker:
    def answer(self, question, shown):
        return Reply("yes")


def test_a_kept_store_is_restored_for_the_hidden_question_too(make_bench, tmp_path):
    class Kept(Store):
        def snapshot(self, path):
            (path / "texts").write_text("\n".join(self.texts))

        def restore(self, path):
            self.texts = (path / "texts").read_text().split("\n")
            self.log.append("restore")

    shelf = Shelf(tmp_path / "shelf", "kept", {})
    shelf.folder.mkdir()
    systems = []

    def factory():
        systems.append(Kept())
        return systems[-1]

    for _ in range(2):
        bench = make_bench(judge=Answers(q_0=WRONG))
        run = bench.begin(factory, STEPS, selected=only("q-2"), shelf=shelf)
        assert bench.get(run, "q-2@5").verdict.label == "trivial_pass"
        bench.finish(run)
    assert [call for call in systems[1].log if call.startswith("store")] == []
    assert systems[1].log.count("restore") == 2


# -- answers that count whatever became of the facts ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (PASSED, PASSED, ("not_stored", True, "passed")),
        (WRONG, PASSED, ("not_stored", False, "passed")),  # a trivial pass
        (PASSED, WRONG, ("not_stored", False, "failed")),
        (OPEN, PASSED, ("not_stored", True, "passed")),
        (RuntimeError("broken"), PASSED, ("not_stored", None, "passed")),
    ],
)
def test_an_independent_answer_is_credited_by_the_answer_before_and_not_by_the_stages(
    make_bench, before, after, expected
):
    steps = [
        Ingest(said(0)),
        Probe((question(0, [7], is_independent=True),)),
        Ingest(said(1)),
        Probe((question(2, [8], needs=("q-0",), is_independent=True),)),
    ]
    for selected in (only("q-2"), lambda _: True):
        bench = make_bench(judge=Answers(q_0=before, q_2=after), test_taker=Taker())
        verdict = bench.get(bench.begin(Store, steps, selected=selected), "q-2@5").verdict
        assert (verdict.name, verdict.credited, verdict.answer.outcome) == expected


def test_a_recorded_answer_that_was_right_is_no_trivial_pass_whatever_the_facts_were(make_bench):
    for credited, label in ((True, None), (False, "trivial_pass")):
        bench = make_bench(judge=Answers())
        known = {("q-0", 5): NeededOutcome("not_stored", False, credited)}
        run = bench.begin(Store, STEPS, selected=only("q-2"), known=known)
        assert bench.get(run, "q-2@5").verdict.label == label


def test_a_vacuous_pass_keeps_its_independent_answer(make_bench):
    gone = StageResult("passed", "nothing of it", vacuous=True)

    class Nothing(Answers):
        def storage(self, evidence, store):
            return gone

        def retrieval(self, evidence, question, shown):
            return gone

    for right in (PASSED, WRONG):
        bench = make_bench(judge=Nothing(q_0=right), test_taker=Taker())
        run = bench.begin(Store, [Ingest(said(0)), Probe((question(0, is_independent=True),))])
        verdict = bench.get(run, "q-0@5").verdict
        assert (verdict.vacuous, verdict.answer.outcome) == (True, right.outcome)
        assert verdict.credited is (right is PASSED)
