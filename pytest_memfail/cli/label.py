"""Label facts of a run yourself, to measure how reliable its judge is on your system.

Show a random sample of facts of a run, one key per label, and write them as cases for `memfail judge-check`. Fifty
labels estimate how often the judge is right on this system.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import CACHE_DIR, RECORD_HELP, Arguments
from pytest_memfail.cli.records import folders, load, recorded_questions
from pytest_memfail.core import UsageError, counted

if TYPE_CHECKING:
    from pytest_memfail.labelling import Drawn

KEYS: Final = {"o": "ok", "n": "not_stored", "s": "summary_error", "r": "not_retrieved"}
SKIP, QUIT = "x", "q"
PROMPT: Final = "o ok   n not stored   s summary error   r not retrieved   x skip   q quit > "
WIDTH: Final = 100


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", RECORD_HELP, Path, Path("last"), nargs="?")
    argument("-o --output PATH", "default: labels.jsonl", Path, Path("labels.jsonl"))
    argument("-n --number N", "facts to label", int, 50)
    argument("--seed N", "selects the sample", int, 42)
    argument("--unsure", "label the facts that the judge was least sure of instead; gives no estimate")
    argument.data()
    argument.cases()
    argument(*CACHE_DIR)


def run(options: argparse.Namespace) -> int:
    """Read labels from standard input, one per line, and write the labelled facts."""
    from pytest_memfail.labelling import case_of, draw, estimate_of

    if options.number < 1:
        raise UsageError(f"-n: got {options.number}, expected 1 or more")
    if options.output.exists():
        raise UsageError(f"-o: {options.output} exists; give another name")
    record = load(options.record, options.cache_dir)
    questions = recorded_questions(record, folders(options), options.cases)
    facts = draw(questions, options.number, options.seed, unsure=options.unsure)
    if not facts:
        raise UsageError(
            f"{record.path}: no fact to label" + (" that the judge was unsure of" if options.unsure else "")
        )
    labelled: list[tuple[Drawn, str]] = []
    for number, fact in enumerate(facts, 1):
        print("\n".join(_shown(fact, number, len(facts))))
        label = _asked()
        if label == QUIT:
            break
        if label != SKIP:
            labelled.append((fact, KEYS[label]))
    lines = [
        json.dumps(case_of(fact, label, i, record), ensure_ascii=False) for i, (fact, label) in enumerate(labelled, 1)
    ]
    if not lines:
        print("nothing was labelled")
        return 0
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"{counted(len(lines), 'label')} in {options.output}; memfail judge-check {options.output} compares any judge with them"
    )
    print(estimate_of(labelled))
    return 0


def _shown(fact: Drawn, number: int, total: int) -> Iterator[str]:
    """Yield the lines that a person needs to label a fact, without the judge's verdict."""
    from pytest_memfail.labelling import closest_entries

    evidence, trace = fact.evidence, fact.question.trace
    yield ""
    yield f"--- {number} of {total}: {fact.question.asked.id}"
    yield from _field("said", evidence.source)
    if evidence.text != evidence.source:
        yield from _field("fact", evidence.text)
    yield from _field("question", trace.question.text.partition("\n\nOptions:")[0])
    yield from _field("gold", "; ".join(trace.question.gold))
    entries = closest_entries(fact)
    if not entries:
        yield from _field(
            "store", f"none of its {len(fact.question.judged_by.memories)} entries shares a word with the fact"
        )
    for at, text, shown in entries:
        yield from _field(f"{'shown' if shown else 'stored'} {at}", text)


def _field(label: str, text: str) -> list[str]:
    return textwrap.wrap(f"{label:<12}{' '.join(text.split())}", WIDTH, subsequent_indent=" " * 12) or [label]


def _asked() -> str:
    """Return one of the keys; end of input quits."""
    while True:
        print(PROMPT, end="", flush=True)
        answer = sys.stdin.readline()
        key = answer.strip().casefold()[:1]
        if not answer:
            return QUIT
        if key in (*KEYS, SKIP, QUIT):
            return key
        print(f"got {answer.strip()!r}, expected one of {', '.join((*KEYS, SKIP, QUIT))}")
