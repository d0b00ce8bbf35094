"""Measure the cost of the offline judge: CPU time per question by store size, and by questions per store.

`python benchmarks/judge.py` prints two tables; README.md explains them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from pytest_memfail.core import Listing, Memory, Question, Task
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites import TaskRequest, load_tasks

SHOWN = 5


def enlarged(task: Task, size: int) -> list[Memory]:
    """Return the task's conversations verbatim, with copies under other names up to the size."""
    texts = [c.text for store in task.stores for c in store.read_conversations()]
    memories = [Memory(text, id=str(i)) for i, text in enumerate(texts[:size])]
    names = sorted({e.entity.split()[0] for e in task.evidence.values() if e.entity}, key=len, reverse=True)
    copy = 0
    while len(memories) < size:
        copy += 1
        for text in texts:
            if len(memories) >= size:
                break
            for name in names:
                text = text.replace(name, f"{name}{'abcdefghijklmnopqrstuvwxyz'[copy % 26] * (1 + copy // 26)}")
            memories.append(Memory(text, id=str(len(memories))))
    return memories


def judge_question(judge: OfflineJudge, task: Task, question: Question, listing: Listing, shown: list[Memory]) -> float:
    """Return the CPU seconds for all stages of all facts of a question."""
    start = time.process_time()
    for fact in question.evidence:
        evidence = task.evidence[fact]
        if judge.storage(evidence, listing).outcome == "passed":
            judge.summary(evidence, listing)
            judge.retrieval(evidence, question, shown)
    return time.process_time() - start


def measured(task: Task, size: int, at_most: int) -> dict[str, Any]:
    """Measure indexing, and each question in turn, over a store of that size."""
    memories = enlarged(task, size)
    listing = Listing("s", tuple(memories))
    homes = {c.id: i for i, c in enumerate(c for store in task.stores for c in store.read_conversations())}
    judge = OfflineJudge()
    questions = [q for q in task.questions if all(homes[task.evidence[f].conversation_id] < size for f in q.evidence)]
    seconds = []
    for question in questions[:at_most]:
        own = [memories[homes[task.evidence[f].conversation_id]] for f in question.evidence]
        seconds.append(judge_question(judge, task, question, listing, [*own, *memories[:SHOWN]][:SHOWN]))
    later = seconds[1:]
    return {
        "task": task.name,
        "entries": size,
        "questions": len(seconds),
        "first_ms": 1000 * seconds[0],  # reads and indexes the store
        "median_ms": 1000 * statistics.median(later),
        "worst_ms": 1000 * max(later),
        "mean_ms": 1000 * statistics.fmean(later),
    }


def repeated(task: Task, size: int, counts: list[int]) -> list[dict[str, Any]]:
    """Return the CPU time of this many questions over one store including indexing, and that of the first."""
    rows = []
    for n in counts:
        found = measured(task, size, n)
        total = found["first_ms"] + found["mean_ms"] * (found["questions"] - 1)
        rows.append({"task": task.name, "entries": size, "questions": found["questions"], "total_ms": total})
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the rows (default: those shipped)")
    parser.add_argument("--sizes", default="200,5000", help="numbers of entries")
    parser.add_argument("--questions", type=int, default=100, help="of each task and size")
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    tasks = load_tasks(TaskRequest(data=options.data))
    rows = []
    print(f"{'task':24}{'entries':>9}{'questions':>11}{'first ms':>10}{'median ms':>11}{'worst ms':>10}")
    for size in map(int, options.sizes.split(",")):
        for task in tasks:
            found = measured(task, size, options.questions)
            rows.append(found)
            print(
                f"{found['task']:24}{size:>9}{found['questions']:>11}{found['first_ms']:>10.1f}"
                f"{found['median_ms']:>11.2f}{found['worst_ms']:>10.2f}"
            )
    print()
    print(f"{'questions of one store':24}{'entries':>9}{'questions':>11}{'total ms':>10}{'of one':>11}")
    growth = []
    for task in tasks:
        found = repeated(task, int(options.sizes.split(",")[-1]), [2, 10, 50])
        growth += found
        for row in found:
            ratio = row["total_ms"] / found[0]["total_ms"] * found[0]["questions"]
            print(
                f"{row['task']:24}{row['entries']:>9}{row['questions']:>11}{row['total_ms']:>10.1f}{ratio / row['questions']:>10.2f}x"
            )
    if options.json:
        options.json.write_text(json.dumps({"sizes": rows, "growth": growth}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
