"""tools/describe_rows.py counts what the paper's table 2 counts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from row_files import asked, coexisting, conditional, long_hop, persona, write

from pytest_memfail.llm import count_tokens

TOOL = Path(__file__).parents[3] / "tools" / "describe_rows.py"
DATA = Path(__file__).parents[4] / "shared" / "data" / "memfail"


def described(folder):
    """The lines of each task, by its name."""
    done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=True)
    return dict(re.findall(r"^(\w+): (.*(?:\n  .*)*)", done.stdout, re.MULTILINE))


def test_a_row_counts_its_stored_text_and_all_its_questions(tmp_path):
    rules = [conditional(n, condition_type=("weather", "mood")[n // 3]) for n in range(4)]
    write(tmp_path / "conditional_facts_easy.csv", *rules)
    write(tmp_path / "coexisting_facts.csv", coexisting(0), coexisting(1, size=3))
    person = persona(0, questions=json.dumps([asked(0, i, misleading=i == 2) for i in range(3)]))
    write(tmp_path / "persona_retrieval.csv", person)
    write(tmp_path / "long_hop.csv", long_hop(0))
    found = described(tmp_path)

    def tokens(*texts):
        return f"{sum(count_tokens([text]) for text in texts):.1f} tokens a row"

    first, second = coexisting(0), coexisting(1, size=3)
    assert found["coexisting_facts"].splitlines() == [
        "2 rows, 2 questions, 5 conversations, 5 facts",
        f"  N=2: 1 question (50.0%), {tokens(*json.loads(first['preference_facts']), first['question'])}",
        f"  N=3: 1 question (50.0%), {tokens(*json.loads(second['preference_facts']), second['question'])}",
        found["coexisting_facts"].splitlines()[-1],
    ]
    questions = [question["text"] for question in json.loads(person["questions"])]
    assert found["persona_retrieval"].splitlines() == [
        "1 row, 3 questions, 1 conversation, 3 facts",
        "  direct: 2 questions (66.7%)",
        "  misleading: 1 question (33.3%)",
        f"  all: {tokens(*json.loads(person['entity_facts']), *questions)}",
    ]
    chain = long_hop(0)
    assert found["long_hop"].endswith(tokens(chain["fact_1"], chain["fact_2"], chain["graded_question"]))
    assert "4 facts, 2 condition types\n" in found["conditional_facts_easy"]


@pytest.mark.skipif(not DATA.is_dir(), reason="the published rows are not beside this repository")
def test_every_cell_of_the_papers_table_2():
    """The paper rounds to 130, 189, 54 / 68 / 84 / 101, 297 and 59 / 74 / 87 tokens (58.55 is printed as 58.5)."""
    found = described(DATA)
    sizes = {name: [float(n) for n in re.findall(r"([\d.]+) tokens", lines)] for name, lines in found.items()}
    for name, split, mean in (("easy", ("68", "32"), 130.1), ("hard", ("51", "49"), 188.7)):
        lines = found[f"conditional_facts_{name}"]
        assert lines.startswith("100 rows, 100 questions, 100 conversations, 100 facts, 27 condition types\n")
        assert tuple(re.findall(r"(\d+) questions \(", lines)) == split
        assert sizes[f"conditional_facts_{name}"][-1] == mean
    assert re.findall(r"(\d+) questions \(", found["coexisting_facts"]) == ["26", "31", "20", "23"]
    assert sizes["coexisting_facts"][:4] == [54.0, 67.9, 83.8, 101.0]
    assert "300 questions" in found["persona_retrieval"]
    assert "157 questions (52.3%)" in found["persona_retrieval"]
    assert sizes["persona_retrieval"] == [297.0]
    assert re.findall(r"(\d+) questions \(", found["long_hop"]) == ["31", "32", "29"]
    assert sizes["long_hop"][:3] == [58.5, 74.1, 86.7]
    assert [re.search(r"(\d+) facts", found[name])[1] for name in ("coexisting_facts", "long_hop")] == ["340", "274"]
