"""Print the figures of the data card: `python tools/describe_rows.py DIR`, in the form of the paper's table 2."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from pytest_memfail.core import Question, Task, counted
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import TaskRequest, load_tasks


def described(task: Task) -> Iterator[str]:
    """Yield the figures of a task: counts, and the tokens of a row, which are those of its stored text and its questions."""
    conversations = [c for store in task.stores for c in store.read_conversations()]
    texts = {c.id: c.text for c in conversations}
    rows: dict[int, list[Question]] = {}
    for question in task.questions:
        rows.setdefault(question.line, []).append(question)
    sizes: list[int] = []
    tokens: dict[str, list[int]] = {}
    for asked in rows.values():
        facts = [task.evidence[fact] for question in asked for fact in question.evidence]
        homes = dict.fromkeys(c for fact in facts for c in (*fact.history, fact.conversation_id))
        size = sum(count_tokens([text]) for text in [*map(texts.__getitem__, homes), *(q.text for q in asked)])
        sizes.append(size)
        if len(strata := {question.stratum for question in asked}) == 1:
            tokens.setdefault(strata.pop(), []).append(size)
    is_of_rows = sum(map(len, tokens.values())) == len(rows)  # a row may have questions of several strata
    types = {question.keys.get("condition_type") for question in task.questions} - {None}
    yield (
        f"{task.name}: {counted(len(rows), 'row')}, {counted(len(task.questions), 'question')}, "
        f"{counted(len(conversations), 'conversation')}, {counted(len(task.evidence), 'fact')}"
        + (f", {counted(len(types), 'condition type')}" if types else "")
    )
    for stratum, count in sorted(Counter(question.stratum for question in task.questions).items()):
        each = f", {fmean(tokens[stratum]):.1f} tokens a row" if is_of_rows else ""
        yield f"  {stratum}: {counted(count, 'question')} ({count / len(task.questions):.1%}){each}"
    yield f"  all: {fmean(sizes):.1f} tokens a row"


def main(folder: Path) -> None:
    """Print the figures of each task."""
    for task in load_tasks(TaskRequest(data=folder)):
        for line in described(task):
            print(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
