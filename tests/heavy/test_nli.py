"""The judge `nli:MODEL`, with its real packages and a tiny model made here."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_nli import LABELS, WORDS, write_model, write_tokenizer

from pytest_memfail.cli import main
from pytest_memfail.core import Claim, Fact, JudgeError, Listing, Memory, Part, Question, UsageError
from pytest_memfail.finding import NamedJudge, kinds_of
from pytest_memfail.judges import NliModel

for package in ("onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(package, reason="needs the extra nli, and onnx to make a model")

MOVED = Fact("f", "preference", "Ines moved to Bergen.", "Ines moved to Bergen.", "c")
FERRY = "The ferry leaves at nine from the sea."
ASKED = Question("q", "t", "Where?", "Where?", ("Bergen",), ("f",), "open")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


def judge_of(folder: Path, **options: str) -> Any:
    return NamedJudge(f"nli:{folder}", "--memfail-judge", options).make("ours", kinds_of([]))


def stages(judge: Any, *texts: str, shown: tuple[str, ...] = (), fact: Fact = MOVED) -> list[Any]:
    store = Listing("s", tuple(map(Memory, texts)))

    async def work() -> list[Any]:
        some = [Memory(text) for text in shown]
        found = [await judge.storage(fact, store), await judge.summary(fact, store)]
        return [*found, await judge.retrieval(fact, ASKED, some)]

    return asyncio.run(work())


def test_an_entry_that_entails_the_fact_holds_it(folder: Path) -> None:
    held = "In March to Bergen moved Ines, the user said."
    storage, summary, retrieval = stages(judge_of(folder), FERRY, held, shown=(FERRY, held))
    assert [one.outcome for one in (storage, summary, retrieval)] == ["passed"] * 3
    assert storage.entries == summary.entries == retrieval.entries == (1,)
    assert summary.confidence > 0.8
    assert summary.reason == "supported by entry 2"


def test_a_fact_spread_over_two_entries_is_held_by_both_together(folder: Path) -> None:
    halves = ("Ines moved.", "Ines: to Bergen.")
    storage, summary, retrieval = stages(judge_of(folder), FERRY, *halves, shown=halves[:1])
    assert summary.outcome == storage.outcome == "passed"
    assert set(summary.entries) >= {1, 2}
    assert retrieval.outcome == "failed"
    assert retrieval.missing == (MOVED.text,)


def test_a_contradicted_fact_is_damaged_and_one_that_nothing_mentions_is_not_stored(folder: Path) -> None:
    storage, summary, _ = stages(judge_of(folder), FERRY, "Ines never moved to Bergen, the user said.")
    assert (storage.outcome, summary.outcome) == ("passed", "failed")
    assert storage.reason == "contradicted by entry 2, so some version of it is stored"
    storage, *_ = stages(judge_of(folder), FERRY, "The kitchen is blue.")
    assert storage.outcome == "failed"


def test_a_part_that_is_gone_from_a_close_entry_is_a_summary_error(folder: Path) -> None:
    rule = Fact(
        "f",
        "rule",
        "Quillon polishes the copper kettle only when stress is high.",
        "Quillon polishes the copper kettle only when stress is high. Quillon lives in Oslo.",
        "c",
        Claim((Part("polishes the copper kettle"), Part("only when stress is high", "condition")), owner="Quillon"),
    )
    storage, summary, _ = stages(judge_of(folder), FERRY, "Quillon polishes the copper kettle.", fact=rule)
    assert (storage.outcome, summary.outcome) == ("passed", "failed")


def test_an_old_state_is_no_version_of_the_new_one(folder: Path) -> None:
    said = "Ines lives in Bergen."
    state = Fact("f", "fact", said, said, "c", Claim((Part("Bergen"),), owner="Ines", replaced=("Oslo",)))
    storage, *_ = stages(judge_of(folder), "Ines lives never in Bergen, in Oslo.", FERRY, fact=state)
    assert not storage.reason.startswith("contradicted")


def test_a_long_entry_is_read_in_windows_to_its_end(folder: Path) -> None:
    filler = "The ferry leaves at nine from the sea, the kitchen is green. " * 60
    model = NliModel(str(folder))
    (at_end,), (nowhere,) = (model.scores([(text, MOVED.text)]) for text in (f"{filler} Ines moved to Bergen.", filler))
    assert at_end[0] > 0.8
    assert nowhere[0] < 0.2


@pytest.mark.parametrize("positions", [20, 66, 68, 128])
def test_a_model_of_short_inputs_reads_to_the_end_beside_the_longest_claim(tmp_path: Path, positions: int) -> None:
    model = NliModel(str(write_model(tmp_path / "short", max_position_embeddings=positions)))
    longest = "Ines moved to Bergen." + " kitchen" * ((positions - 2) // 2 - 7)
    text = f"{'The ferry leaves at nine from the sea. ' * 30} {longest} {'It is blue. ' * 30}"
    (found, short), (lost,) = model.scores([(text, longest), (text, "Ines")]), model.scores([(FERRY, longest)])
    assert min(found[0], short[0]) > 0.8
    assert lost[0] < 0.2
    with pytest.raises(JudgeError, match=rf"a claim has \d+ tokens, expected at most {(positions - 2) // 2}, half of"):
        model.scores([(text, f"{longest} blue")])


def test_scores_are_the_same_alone_and_in_a_batch(folder: Path) -> None:
    pairs = [(" ".join(WORDS[: number + 1]), MOVED.text) for number in range(len(WORDS))]
    model, other = NliModel(str(folder)), NliModel(str(folder))
    together = model.scores(pairs)
    assert len(pairs) > 16
    alone = [other.scores([pair])[0] for pair in pairs]
    assert np.allclose(together, alone, atol=1e-5)
    assert len({round(held, 3) for held, _ in together}) > 1


def test_a_claim_longer_than_the_model_reads_is_an_error_and_no_verdict(folder: Path) -> None:
    with pytest.raises(JudgeError, match=r"a claim has \d+ tokens, expected at most 79"):
        NliModel(str(folder)).scores([("x", "Ines moved " * 50)])


def test_a_model_of_one_number_and_one_of_two_labels_are_read(tmp_path: Path) -> None:
    one = NliModel(str(write_model(tmp_path / "one", ["LABEL_0"])))
    two = write_model(tmp_path / "two", ["LABEL_0", "LABEL_1"])
    for model in (one, NliModel(str(two), "label_1")):
        (held, _), (lost, _) = model.scores([("Ines moved to Bergen.", MOVED.text), (FERRY, MOVED.text)])
        assert held > 0.8
        assert lost < 0.2
    with pytest.raises(UsageError, match="--memfail-judge-option=entailment=LABEL_1") as error:
        judge_of(two)
    assert "LABEL_0, LABEL_1" in str(error.value)
    for folder, labels in ((two, "LABEL_0, LABEL_1"), (tmp_path / "one", "LABEL_0")):
        with pytest.raises(UsageError, match=f"got the entailment=true, but labels {labels};"):
            judge_of(folder, entailment="true")


def test_a_folder_that_is_no_model_is_refused_in_one_line(tmp_path: Path) -> None:
    wrong = {
        "many": (write_model(tmp_path / "many", list("abcd")), "got 4 labels in config.json, expected 1 to 3"),
        "empty": (tmp_path / "empty", r"config.json cannot be read \(FileNotFoundError"),
        "missing": (tmp_path / "missing", "no such folder"),
        "bare": (write_model(tmp_path / "bare"), "has no model.onnx"),
        "mute": (write_model(tmp_path / "mute"), "has no tokenizer.json"),
    }
    wrong["empty"][0].mkdir()
    (wrong["bare"][0] / "model.onnx").unlink()
    (wrong["mute"][0] / "tokenizer.json").unlink()
    for folder, said in wrong.values():
        with pytest.raises(UsageError, match=said) as error:
            judge_of(folder)
        assert "\n" not in str(error.value)


def test_a_model_whose_output_does_not_fit_or_load_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"shape \(1, 2\), expected finite ones of shape \(1, 3\)"):
        NliModel(str(write_model(tmp_path / "two", outputs=2))).scores([("x", "Ines")])
    with pytest.raises(JudgeError, match="numbers that are not all finite"):
        NliModel(str(write_model(tmp_path / "three"))).scores([("x", "no word that it knows")])
    broken = write_model(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"no model")
    with pytest.raises(JudgeError, match="the model cannot be loaded"):
        NliModel(str(broken)).scores([("x", "Ines")])


def test_a_model_that_needs_another_input_is_an_error_that_names_it(tmp_path: Path) -> None:
    import onnx

    path = write_model(tmp_path / "numbered") / "model.onnx"
    model = onnx.load(path)
    numbers = onnx.helper.make_tensor_value_info("position_ids", onnx.TensorProto.INT64, ["batch", "length"])
    model.graph.input.append(numbers)
    onnx.save(model, path)
    with pytest.raises(JudgeError, match="cannot be loaded: ValueError: it needs position_ids, expected a model that"):
        NliModel(str(path.parent)).scores([("x", "Ines")])


def test_the_digest_names_the_content_and_not_the_place(folder: Path, tmp_path: Path) -> None:
    same, other = write_model(tmp_path / "same"), write_model(tmp_path / "other", max_position_embeddings=150)
    named = [NamedJudge(f"nli:{path}", "--judge").weights for path in (folder, same, other)]
    assert named[0] == named[1] != named[2]


def test_the_digest_names_the_label_of_entailment_and_not_its_spelling(folder: Path) -> None:
    options: tuple[dict[str, str], ...] = ({}, {"entailment": "Entailment"}, {"entailment": "contradiction"})
    named = [NamedJudge(f"nli:{folder}", "--judge", given).weights for given in options]
    assert named[0] == named[1] != named[2]


def test_judge_check_prints_the_table_of_a_local_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge-check", "--judge", f"nli:{folder}", "--split", "dev", "--limit", "12", "--show", "0"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^all +12 ", said, re.MULTILINE), said


def test_a_model_without_onnx_is_read_by_transformers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    folder = tmp_path / "torch"
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=160,
        id2label=dict(enumerate(LABELS)),
    )
    model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    write_tokenizer(folder)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    names = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, **names}))
    pairs = [("Ines moved to Bergen.", MOVED.text), (FERRY * 30, "The kitchen is blue.")]
    scores = NliModel(str(folder)).scores(pairs)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(*pairs[0], return_tensors="pt")
    with torch.inference_mode():
        wanted = model(**tokens).logits.softmax(-1)[0]
    assert scores[0] == pytest.approx((float(wanted[2]), float(wanted[0])), abs=1e-5)
