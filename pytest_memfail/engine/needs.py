"""Questions that need the verdict on another: ask it too where nobody selected it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pytest_memfail.core import Ingest, Question, UsageError
from pytest_memfail.engine.grade import Needed
from pytest_memfail.engine.system import Ask, StoreJob


class Needs:
    """Which verdicts the questions of a store need, and which questions are asked only for these.

    A needed question has its own k, else the k of the question that needs it.
    """

    def __init__(self, job: StoreJob) -> None:
        """Find the hidden asks.

        Raises `UsageError` for a question that needs one which is not asked before it: it would wait for ever.
        """
        self.hidden: list[Ask] = []
        """Asks that nobody selected; they are never reported."""
        self.owners: dict[str, str] = {}
        """The key of each hidden ask to that of the selected one it is asked for first."""
        self.probes = _probes(job)
        """The number of the probe that each question is asked in, by its id."""
        self._known = job.known
        self._questions = {question.id: question for question in job.plan.all_questions}
        self._keys = {(ask.question.id, ask.k): ask.key for ask in job.asks}
        todo = deque(job.asks)
        while todo:
            ask = todo.popleft()
            for question, k in self._needed(ask):
                if (question.id, k) in self._keys or (question.id, k) in self._known:
                    continue
                hidden = Ask(f"{ask.key} needs {question.id}", question, k)
                self._keys[question.id, k] = hidden.key
                self.owners[hidden.key] = self.owners.get(ask.key, ask.key)
                self.hidden.append(hidden)
                todo.append(hidden)

    def of(self, ask: Ask) -> tuple[list[str], list[Needed]]:
        """Return the keys of the asks that this one needs, and what is known of others without asking."""
        places = [(question.id, k) for question, k in self._needed(ask)]
        keys = [self._keys[place] for place in places if place in self._keys]
        return keys, [self._known[place] for place in places if place not in self._keys]

    def _needed(self, ask: Ask) -> Iterator[tuple[Question, int]]:
        for name in ask.question.needs:
            question = self._questions[name]
            yield question, question.k or ask.k


def _probes(job: StoreJob) -> dict[str, int]:
    probes = [step.questions for step in job.plan.steps if not isinstance(step, Ingest)]
    number = {question.id: i for i, questions in enumerate(probes) for question in questions}
    for question in job.plan.all_questions:
        for name in question.needs:
            if number.get(name, len(probes)) >= number[question.id]:
                raise UsageError(
                    f"{job.task}: the question {question.id} of the store {job.id} needs {name!r}; expected the id of a "
                    "question in an earlier probe of the same store"
                )
    return number
