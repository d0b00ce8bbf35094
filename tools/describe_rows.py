"""Print the figures of the data card: `python tools/describe_rows.py DIR`, in the form of the paper's table 2."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import TaskRequest, load_tasks


def main(folder: Path) -> None:
    """Print a line per task."""
    for task in load_tasks(TaskRequest(data=folder)):
        conversations = [c for store in task.stores for c in store.read_conversations()]
        strata = Counter(question.stratum for question in task.questions)
        tokens: dict[str, list[int]] = {}
        texts = {c.id: c.text for c in conversations}
        for question in task.questions:
            facts = [task.evidence[fact] for fact in question.evidence]
            homes = dict.fromkeys(c for fact in facts for c in (*fact.history, fact.conversation_id))
            total = sum(count_tokens([texts[home]]) for home in homes)
            tokens.setdefault(question.stratum, []).append(total)
        print(
            f"{task.name}: {len(task.questions)} questions, {len(conversations)} conversations, "
            f"{sum(len(q.evidence) for q in task.questions)} expected facts"
        )
        for stratum in sorted(strata):
            print(f"  {stratum}: {strata[stratum]} questions, {fmean(tokens[stratum]):.0f} tokens a row")
        print(f"  all: {fmean([t for some in tokens.values() for t in some]):.0f} tokens a row")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
