"""Rows in the format of MemoryAgentBench, for tests."""

from __future__ import annotations

import json

FACTS = """\
Here is what became known:
0. The capital of Selm is Varda.
1. Ulla Brandt plays the position of keeper.
2. goalball was created in the country of Selm.
3. The capital of Selm is Ostry.
4. The author of A Long Walk is Ulla Brandt.
5. Ulla Brandt is a citizen of Selm.
6. Rand al'Tor works in the city of Ostry, S.C..
7. Ulla Brandt plays the position of libero."""


def row(
    source="factconsolidation_sh_6k", context=FACTS, asked=(("What is the capital of Selm?", ["Ostry"]),), **metadata
):
    """Return one row."""
    ids = [f"{source}_no{i}" for i in range(len(asked))]
    return {
        "context": context,
        "questions": [question for question, _ in asked],
        "answers": [golds for _, golds in asked],
        "metadata": {"source": source, "qa_pair_ids": ids, "demo": None, **metadata},
    }


def write(folder, *rows, name="Conflict_Resolution.json"):
    """Write rows to a file of a split and return its path."""
    path = folder / name
    lines = name.endswith(".jsonl")
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(list(rows), indent=1), encoding="utf-8")
    return path
