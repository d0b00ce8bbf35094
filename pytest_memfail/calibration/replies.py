"""Grade labelled replies, and measure how well a judge agrees with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_memfail.calibration.cases import LabelledReply
from pytest_memfail.calibration.check import judge_all
from pytest_memfail.core import Judge, MemfailError, Reply, StageResult
from pytest_memfail.hosting import DaemonPool


@dataclass(frozen=True, slots=True)
class GradedReply:
    """A reply with the judge's result."""

    case: LabelledReply
    outcome: str
    """`passed`, `failed`, `ungraded`, or `error`."""
    reason: str


def grade_replies(
    judge: Judge, replies: Sequence[LabelledReply], *, concurrency: int = 32, found: list[GradedReply] | None = None
) -> list[GradedReply]:
    """Return the judge's result for each reply, in the given order; if the judge failed on a reply, it is an `error`.

    `found` receives each result at once.
    """

    async def one(case: LabelledReply, _: DaemonPool) -> GradedReply:
        try:
            answer = judge.answer(case.question, case.evidence, Reply(case.reply))
            result = answer if isinstance(answer, StageResult) else await answer
        except MemfailError as error:
            return GradedReply(case, "error", str(error))
        return GradedReply(case, result.outcome, result.reason)

    return judge_all(judge, replies, one, concurrency=concurrency, progress=int, close=None, found=found)


def reply_measures(graded: Sequence[GradedReply]) -> dict[str, Any]:
    """Return, by part and in total, how many replies a judge decided and how many of these as labelled; and the disagreements."""

    def counts(some: Sequence[GradedReply]) -> dict[str, int]:
        decided = [one for one in some if one.outcome in ("passed", "failed")]
        right = sum((one.outcome == "passed") == one.case.right for one in decided)
        return {"n": len(some), "decided": len(decided), "right": right}

    groups = dict.fromkeys(one.case.group for one in graded)
    return {
        "groups": {
            **{name: counts([one for one in graded if one.case.group == name]) for name in groups},
            "all": counts(graded),
        },
        "disagreements": [
            {
                "case_id": one.case.id,
                "label": "right" if one.case.right else "wrong",
                "outcome": one.outcome,
                "reason": one.reason,
            }
            for one in graded
            if one.outcome == "error" or (one.outcome != "ungraded" and (one.outcome == "passed") != one.case.right)
        ],
    }
