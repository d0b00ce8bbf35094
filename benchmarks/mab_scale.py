"""Measure time and memory of the suite mab on contexts of 262,144 tokens: loaded, filled into bm25, listed and judged.

`python benchmarks/mab_scale.py` prints a line per kind of text; README.md explains them. Each kind runs in its own
process, because the peak memory of a process never falls.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pytest_memfail.core import Listing, Memory, SuiteRequest, SystemContext
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import built_in_suite
from pytest_memfail.suites.mab.recipe import numbered_facts
from pytest_memfail.systems import built_in_system

TOKENS = 262_144
QUESTIONS = 100
FACTS = 15_400
"""Numbered facts with about this many tokens."""
KINDS = ("facts", "story", "chats", "summary")
NAMES = ("Brask", "Tayle", "Wray", "Hode", "Loom", "Pell", "Marsh", "Thole", "Voss", "Dacey", "Feld", "Raine")
THINGS = ("lantern", "ledger", "barometer", "kettle", "bridge", "pendulum", "ferry", "bell", "letter", "cistern")
DEEDS = ("carried", "mended", "hid", "sold", "found", "measured", "painted", "lost", "weighed", "returned")
PLACES = ("the harbour", "Easter Orrin", "the oil room", "Hask", "the mill", "Nether Quill", "the pier", "Rusk")


def sentence(chance: random.Random) -> str:
    """Return a sentence that is hardly in any other text."""
    who, what = chance.choice(NAMES), chance.choice(THINGS)
    return f"{who} {chance.choice(DEEDS)} {what} number {chance.randrange(10**6)} near {chance.choice(PLACES)}."


def prose(tokens: int, chance: random.Random, between: str = " ") -> tuple[str, list[str]]:
    """Return a text of about this many tokens, and its sentences."""
    each = count_tokens([between.join(sentence(chance) for _ in range(200))]) / 200
    said = [sentence(chance) for _ in range(int(tokens / each))]
    return between.join(said), said


def rows_of(kind: str, tokens: int) -> tuple[str, list[dict[str, Any]]]:
    """Return the file and the rows of a kind."""
    chance = random.Random(42)
    if kind == "facts":
        return "Conflict_Resolution.json", numbered_facts(max(60, FACTS * tokens // TOKENS), 42, QUESTIONS, QUESTIONS)
    if kind == "chats":
        _, said = prose(tokens, chance)
        turns = [{"role": "user", "content": " ".join(said[at : at + 3])} for at in range(0, len(said), 3)]
        asked = chance.sample(turns, QUESTIONS)
        sessions = [turns[at : at + 40] for at in range(0, len(turns), 40)]
        context = "\n".join(f"Chat Time: 2024/01/01 (Mon) 08:00\n{session!r}" for session in sessions)
        marked = [[[{**turn, "has_answer": True}, *sessions[0]]] for turn in asked]
        more: dict[str, Any] = {"haystack_sessions": marked}
        name, source, golds = "Accurate_Retrieval.json", "longmemeval_s*", [turn["content"] for turn in asked]
    else:  # one line, as a novel without line breaks
        context, said = prose(tokens, chance)
        golds = chance.sample(said, QUESTIONS if kind == "story" else 1)
        more = {"keypoints": said[:12]} if kind == "summary" else {}
        name, source = (
            ("Accurate_Retrieval.json", "eventqa_full")
            if kind == "story"
            else ("Long_Range_Understanding.json", "infbench_sum_eng_shots2")
        )
    questions = [f"What is said of {gold.split()[3]} {gold.split()[4]}?" for gold in golds]
    metadata = {"source": source, "qa_pair_ids": [f"{source}_no{i}" for i in range(len(golds))], **more}
    return name, [
        {"context": context, "questions": questions, "answers": [[gold] for gold in golds], "metadata": metadata}
    ]


def _wrapped(name: str) -> Any:
    raise AssertionError(f"bm25 wraps no {name}")


def measure(kind: str, tokens: int) -> dict[str, Any]:
    """Return the figures of one kind, measured in this process."""
    with tempfile.TemporaryDirectory() as folder:
        name, rows = rows_of(kind, tokens)
        (Path(folder) / name).write_text(json.dumps(rows), encoding="utf-8")
        counted = count_tokens([rows[0]["context"]])
        del rows
        began = time.perf_counter()
        suite = built_in_suite("mab")
        (task,) = suite.load(SuiteRequest(Path(folder), "all"))
        loaded = time.perf_counter()
        store = task.stores[0].opened()
        system = built_in_system("bm25", _wrapped)(SystemContext(task.name, store.id, Path(folder)))
        for conversation in store.read_conversations():
            system.store_conversation(conversation)
        listing = Listing(store.id, tuple(Memory(entry["text"]) for entry in system.get_all_memories()))
        filled = time.perf_counter()
        first = store.read_conversations()[0]
        judge = OfflineJudge(kinds=suite.kinds, answers=suite.answers)
        spent = []
        for question in store.questions:
            shown = [Memory(one["text"]) for one in system.retrieve_memories(question.query, first, 10)]
            start = time.perf_counter()
            for fact in (task.evidence[each] for each in question.evidence):
                judge.storage(fact, listing)
                judge.summary(fact, listing)
                judge.retrieval(fact, question, shown)
            spent.append(1000 * (time.perf_counter() - start))
        system.close()
    return {
        "kind": kind,
        "tokens": counted,
        "chunks": store.size,
        "judged": sum(bool(question.evidence) for question in store.questions),
        "load_s": round(loaded - began, 1),
        "fill_s": round(filled - loaded, 1),
        "first_ms": round(spent[0], 1),
        "median_ms": round(statistics.median(spent), 2),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Measure each kind in its own process, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=TOKENS, help=f"tokens of each context (default {TOKENS})")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    given = parser.parse_args()
    if given.kind is not None:
        print(json.dumps(measure(given.kind, given.tokens)))
        return
    for kind in KINDS:
        words = [sys.executable, __file__, "--kind", kind, "--tokens", str(given.tokens)]
        print(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
