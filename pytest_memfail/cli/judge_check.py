"""Measure how well a judge agrees with labelled cases.

Print how well a judge agrees with labelled cases, by task, verdict and confidence. Exits with 1 if the judge failed on
a case.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import PROTOCOL, TASKS, Arguments
from pytest_memfail.cli.judging import (
    INTERRUPTED,
    JUDGE_OPTIONS,
    OPTION,
    add_model_options,
    close_client,
    identity_of,
    open_judge,
    progress,
)
from pytest_memfail.cli.records import folders
from pytest_memfail.core import UnknownNameError, UsageError, counted
from pytest_memfail.options import read_pairs

if TYPE_CHECKING:
    from pytest_memfail.calibration import Case, GradedReply, Judged
    from pytest_memfail.core import Suite

SEED: Final = 42
"""Selects the cases of --limit."""


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("files FILE", "labelled cases, JSON Lines (default: the shipped ones)", Path, nargs="*")
    said = "instead of labelled cases: plant known faults into verbatim stores of the rows of --data (mutation score)"
    argument("--planted", said)
    argument.data()
    argument("--every N", "with --planted: use every Nth fact", int, 1)
    argument(
        f"{OPTION} NAME",
        "offline, a model name, offline+MODEL, nli:FOLDER_OR_MODEL, or module:attribute",
        default="offline",
    )
    argument("--suite NAME", "the suite of the labelled cases and replies (default: memfail)")
    argument(*PROTOCOL)
    said = "use only this split (default: dev and test, separately)"
    argument("--split", said, ("train", "dev", "test"))
    argument(*TASKS)
    argument("--show N", "disagreements to show (default: 20; -1: all)", int, 20)
    argument("--fail-under SHARE", "exit with 1 below this accepted accuracy, such as 0.9", float)
    said = "use only N cases (with --suite also N replies), the same in every run"
    argument("--limit N", said, int)
    add_model_options(argument, "cases")
    argument(f"{OPTION}-option KEY=VALUE", JUDGE_OPTIONS, many=True)
    argument("--data-report", "show the balance of the cases instead")
    argument("--explain CASE", "show only this case, with its most decisive features (offline judge)")
    said = "fit a correction of the offline judge to the labels in the files (at least 50) instead"
    argument("--train", said)
    argument("-o --output PATH", "with --train: the file for the correction", Path)
    argument("--json", "print everything as JSON instead")


def run(options: argparse.Namespace) -> int:
    """Print the measures."""
    from pytest_memfail.calibration import (
        balance,
        grade_replies,
        judge_cases,
        measure,
        mutation_score,
        read_replies,
        reply_measures,
    )
    from pytest_memfail.finding import find_suite
    from pytest_memfail.report import judge_check
    from pytest_memfail.suites import DEFAULT, in_turn

    _check(options)
    suite = find_suite(options.suite or DEFAULT[0])
    if options.train:
        return _train(options, suite)
    cases = _planted(options, suite) if options.planted else _labelled(options, suite)
    # replies are labelled beside the shipped cases, of all questions
    replies = [] if options.planted or options.files or options.tasks else read_replies(suite)
    if options.limit is not None:
        cases = in_turn(cases, options.limit, SEED, lambda case: (case.id, f"{case.task} {case.labels[0].label}"))
        replies = in_turn(replies, options.limit, SEED, lambda reply: (reply.id, f"{reply.group} {reply.right}"))
    if options.data_report:
        from pytest_memfail.report import data_report

        print("\n".join(data_report(balance(cases))))
        return 0
    if options.explain is not None:
        return _explain(options, suite, cases)
    named, judge, client = open_judge(options, options.protocol, [suite])
    graded: list[GradedReply] = []
    judged: list[Judged] = []
    stopped = False
    try:
        if replies:
            grade_replies(judge, replies, concurrency=options.concurrency, found=graded)
        judge_cases(
            judge,
            cases,
            concurrency=options.concurrency,
            progress=progress(len(cases), "cases"),
            close=None if client is None else client.close,
            found=judged,
        )
    except KeyboardInterrupt:
        stopped = True
    places = {name: at for at, name in enumerate([*(case.id for case in cases), *(reply.id for reply in replies)])}
    judged.sort(key=lambda result: places[result.case.id])
    graded.sort(key=lambda result: places[result.case.id])
    measures = measure(judged)
    if options.planted:
        measures["mutation_score"] = mutation_score(judged)
    if graded:
        measures["replies"] = reply_measures(graded)
    measures |= {**identity_of(named), "protocol": options.protocol}
    if stopped:
        measures["interrupted"] = {"judged": len(judged), "of": len(cases)}
    halves = sorted({case.split for case in cases if case.split is not None})
    if len(halves) > 1:
        measures["splits"] = {
            half: measure([result for result in judged if result.case.split == half])["overall"] for half in halves
        }
    if options.json:
        print(json.dumps(measures, indent=2))
    else:
        print("\n".join(judge_check(measures, shown=options.show)))
        if client is not None:
            rows = client.ledger.totals().rows
            print(
                f"{counted(sum(row.calls for row in rows), 'call')}, {sum(row.prompt_tokens for row in rows)} prompt tokens"
            )
    close_client(client)
    if stopped:
        kept = "; repeat the command to go on" if client is not None and client.cache is not None else ""
        print(f"memfail: interrupted after {len(judged)} of {counted(len(cases), 'case')}{kept}", file=sys.stderr)
        return INTERRUPTED
    accepted = measures["overall"]["accepted"]
    low = options.fail_under is not None and (accepted is None or accepted < options.fail_under)
    return 1 if measures["errors"] or low else 0


def _check(options: argparse.Namespace) -> None:
    if options.planted and (options.files or options.split):
        raise UsageError("--planted makes its own cases; do not combine it with files of labelled cases or --split")
    if not options.planted and (options.data or options.every != 1):
        raise UsageError("--data and --every need --planted")
    if options.train and not (options.files and options.output):
        raise UsageError("--train needs files of labels (memfail label writes them) and -o PATH")
    if options.train and options.output.exists():
        raise UsageError(f"-o: {options.output} exists; give another name")
    if options.train and options.judge != "offline":
        raise UsageError(f"--train: got the judge {options.judge!r}, expected offline, whose verdicts it corrects")
    if options.output and not options.train:
        raise UsageError("-o needs --train")
    if options.explain is not None and options.judge != "offline":
        raise UsageError(f"--explain: got the judge {options.judge!r}, expected offline, which has features")
    if options.fail_under is not None and not 0 <= options.fail_under <= 1:
        raise UsageError(f"--fail-under: got {options.fail_under:g}, expected a share from 0 to 1, such as 0.9")
    for name in ("every", "concurrency", "limit"):
        if (number := getattr(options, name)) is not None and number < 1:
            raise UsageError(f"--{name}: got {number}, expected 1 or more")


def _planted(options: argparse.Namespace, suite: Suite) -> list[Case]:
    from pytest_memfail.calibration import planted_cases
    from pytest_memfail.suites import Chosen, TaskRequest, load_tasks

    if suite.plants is None:
        raise UsageError(f"--planted: the suite {suite.name!r} has no faults to plant, expected another suite")
    # `ours` stores one entry per statement, so a fault damages only one fact
    request = TaskRequest(options.tasks, folders(options), suites=(Chosen(suite.name, suite),))
    return planted_cases(suite.plants(), load_tasks(request), every=options.every)


def _labelled(options: argparse.Namespace, suite: Suite) -> list[Case]:
    from pytest_memfail.calibration import POINTS, SPLITS, read_cases, shipped_cases
    from pytest_memfail.suites import match_tasks, task_names

    split = (options.split,) if options.split else SPLITS if options.data_report else ()
    cases = read_cases(suite, options.files or shipped_cases(suite, split), options.protocol)
    names = match_tasks(options.tasks, (*task_names([suite]), POINTS))
    chosen = [
        case
        for case in cases
        if {case.task, case.task.partition(".")[0]} & set(names) and options.split in (None, case.split)
    ]
    if not chosen:
        raise UsageError("no case is left after --split and --tasks")
    return chosen


def _explain(options: argparse.Namespace, suite: Suite, cases: list[Case]) -> int:
    """Print, for each fact of a case, the verdict, the reason and the most decisive features."""
    from pytest_memfail.calibration import judge_cases
    from pytest_memfail.finding import NamedJudge, kinds_of

    found = [case for case in cases if case.id == options.explain]
    if not found:
        raise UnknownNameError("case", options.explain, [case.id for case in cases], "in the files")
    judge = NamedJudge("offline", OPTION, read_pairs(options.judge_option, "--judge-option")).offline(
        options.protocol, kinds_of([suite])
    )
    (judged,) = judge_cases(judge, found)
    case = found[0]
    for at, evidence in enumerate(case.evidence):
        number = 0 if case.is_of_question else at
        label, predicted, confidence = case.labels[number], judged.predictions[number], judged.confidences[number]
        sure = "" if confidence is None else f" ({confidence:.2f})"
        print(f"fact {at + 1}: {evidence.text if len(evidence.text) < 200 else case.question.text}")
        print(f"  label {label.label}, judged {predicted}{sure}: {judged.reasons[number]}")
        store, shown = ([memory.text for memory in some] for some in (case.listing.memories, case.shown))
        for place, texts in (("store", None), ("shown", shown)):
            print(f"  {place}: change of the probability of 'kept', feature, value, meaning")
            print("\n".join(f"    {line}" for line in judge.explained(evidence, store, texts)))
    return 0


def _train(options: argparse.Namespace, suite: Suite) -> int:
    """Fit a correction to labelled cases and write it."""
    from pytest_memfail.calibration import read_cases, train_correction
    from pytest_memfail.finding import NamedJudge

    cases = [
        case for case in read_cases(suite, options.files, options.protocol) if len(case.evidence) == len(case.labels)
    ]
    judge = NamedJudge("offline", OPTION, read_pairs(options.judge_option, "--judge-option"))
    judge.check_options()
    if "weights" in judge.options:
        raise UsageError(
            f"--judge-option: got weights={judge.options['weights']}, which --train would leave unread; leave it out"
        )
    made = train_correction(cases, options.protocol, encoder=judge.has_encoder)
    options.output.write_text(json.dumps(made.content, indent=1) + "\n", encoding="utf-8")
    print(f"{counted(made.labels, 'label')}, each judged without itself; 95 % interval of the change, by row:")
    of_three = {
        "accepted": made.accepted,
        "good facts failed": made.good_failed,
        "damaged or lost facts passed": made.damaged_passed,
    }
    for name, change in of_three.items():
        low, high = (f"{100 * end:+.1f}" for end in change.interval or (-1, 1))
        print(f"{name}: {change.before:.1%} before, {change.after:.1%} after [{low}, {high}], of {change.facts}")
    worse = [name for name, change in of_three.items() if name != "accepted" and change.is_more]
    faults = [f"clearly more {name}" for name in worse]
    if not made.accepted.is_more:
        faults.insert(0, "no more verdicts accepted than chance explains")
    encoder = " --memfail-judge-option=encoder=on" * judge.has_encoder
    advice = f"not advised: {', '.join(faults)}; to use it all the same" if faults else "use it"
    print(f"{advice}: pytest --memfail-judge-option=weights={options.output}{encoder}")
    return 0
