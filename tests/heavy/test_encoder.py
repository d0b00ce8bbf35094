"""The offline judge with the encoder, run by its real packages."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_memfail.calibration import judge_cases, measure, read_cases, shipped_cases
from pytest_memfail.core import Fact, Listing, Memory
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.encoder import NAMES
from pytest_memfail.judges.offline.index import Index
from pytest_memfail.judges.offline.judge import shipped_meaning
from pytest_memfail.judges.offline.meaning import LENGTH, Passages
from pytest_memfail.judges.offline.model import shipped_model
from pytest_memfail.report import model_card
from pytest_memfail.suites.memfail import SUITE as MEMFAIL

CARD = Path(__file__).parents[2] / "docs" / "model_card_encoder.md"
FACT = Fact("f", "points", "Ines repainted the kitchen in March.", "Ines repainted the kitchen in March.", "c")
REWORDED = "Ines gave her kitchen a new colour in the third month."
UNRELATED = "The ferry to the island leaves at nine."


@pytest.fixture(scope="module", autouse=True)
def _packages() -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra encoder")
    pytest.importorskip("tokenizers", reason="needs the extra encoder")


@pytest.fixture(scope="module")
def judge() -> OfflineJudge:
    return OfflineJudge(encoder=True)


def test_the_numbers_do_not_depend_on_other_entries_or_earlier_questions(judge: OfflineJudge) -> None:
    first = judge.logits(FACT, [REWORDED])
    others = [f"{UNRELATED} {number}" for number in range(40)]
    judge.logits(FACT, others)
    assert OfflineJudge(encoder=True).logits(FACT, [REWORDED]) == first


def test_a_rewording_is_closer_than_what_has_nothing_to_do_with_it(judge: OfflineJudge) -> None:
    near, far = (judge._features(FACT, [text], None) for text in (REWORDED, f"The kitchen {UNRELATED}"))
    assert near["enc_cosine_first"] > far["enc_cosine_first"] + 0.2
    assert near["enc_claim_high_best_mean"] > far["enc_claim_high_best_mean"]


def test_entries_are_encoded_once_however_many_facts_ask(judge: OfflineJudge) -> None:
    passage = shipped_meaning()._aligner.encoder.passage
    store = Listing("s", tuple(Memory(f"Ines painted fence number {number}.") for number in range(30)))
    judge.summary(FACT, store)
    before = passage.cache_info().misses
    for text in ("Ines painted the gate in May.", "Ines painted a boat."):
        judge.summary(Fact(text, "points", text, text, "c"), store)
    assert passage.cache_info().misses - before <= 6  # three texts of each claim


def test_long_entries_are_read_as_passages() -> None:
    text = " ".join(f"On day {day} she walked to the harbour and counted the boats there." for day in range(40))
    passages = Passages(Index(["Short.", text]))
    assert passages.texts[0] == "Short."
    assert len(passages.texts) > 4
    assert max(map(len, passages.texts)) <= LENGTH
    assert " ".join(passages.texts[1:]).split() == text.split()


def test_an_empty_or_odd_store_is_judged(judge: OfflineJudge) -> None:
    for entries in ([], ["", "   "], ["\u200b", "🙂 kitchen"], ["x" * 20_000 + " kitchen"]):
        listing = Listing("s", tuple(map(Memory, entries)))
        assert judge.storage(FACT, listing).outcome == "failed"


def test_explained_features_name_the_encoders(judge: OfflineJudge) -> None:
    lines = judge.explained(FACT, [REWORDED])
    assert any(name in line for line in lines for name in NAMES)


def test_the_card_says_what_is_measured(judge: OfflineJudge) -> None:
    dev = measure(judge_cases(judge, read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev",)))))
    card = model_card(shipped_model(encoder=True).header, {"dev": dev})
    assert card[card.index("## dev") :].strip() in CARD.read_text(encoding="utf-8")


def test_a_run_names_its_weights_and_is_not_compared_with_one_without(pytester: pytest.Pytester) -> None:
    chosen = ("--memfail-system=lossy", "--memfail-tasks=conditional_facts_easy", "-p", "no:cacheprovider")
    with_encoder = "--memfail-judge-option=encoder=on"
    run = pytester.runpytest_subprocess(*chosen, with_encoder, "-n2", "--memfail-save-baseline=base.jsonl")
    run.stdout.fnmatch_lines(["*baseline saved*"])
    shares = json.loads((files("pytest_memfail.report") / "unsure.json").read_bytes())["offline encoder=on"]
    n = sum(n for _, n in shares["conditional_facts_easy"].values())
    assert f"of {n} labelled facts of these tasks" in " ".join(run.stdout.str().split())
    header = json.loads((pytester.path / "base.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert header["judge_weights"] == shipped_model(encoder=True).fingerprint != shipped_model().fingerprint
    assert with_encoder in header["rerun"]
    compared = pytester.runpytest_subprocess(*chosen, "--memfail-baseline=base.jsonl")
    compared.stderr.fnmatch_lines(["*is refused: judge_weights is*"])
