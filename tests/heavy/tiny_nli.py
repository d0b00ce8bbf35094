"""Write a tiny real classifier of sentence pairs: tokenizer, configuration and an ONNX graph, a few KB in all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = (
    "ines moved to bergen oslo in march user said lives never not the a kitchen is blue green ferry leaves at nine from sea "
    "quillon polishes copper kettle only when stress high . ,"
).split()
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
VOCABULARY = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
LABELS = ("contradiction", "neutral", "entailment")


def write_tokenizer(folder: Path) -> None:
    """Write tokenizer.json: lower-case words, with type 1 for the second text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, VOCABULARY[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(folder: Path, labels: Sequence[str] = LABELS, outputs: int | None = None, **config: Any) -> Path:
    """Write a model that entails a claim if the text has all its words, and contradicts it if the text also says "never".

    The last label is that of entailment, the first of three that of contradiction.
    """
    from onnx import TensorProto, helper, numpy_helper, save

    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder)
    settings = {"id2label": {str(at): label for at, label in enumerate(labels)}, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps({**settings, "max_position_embeddings": 160, **config}))
    size, columns = len(VOCABULARY), len(labels) if outputs is None else outputs
    weights, bias = np.zeros((2, columns), np.float32), np.zeros(columns, np.float32)
    weights[0, -1], bias[-1] = 40.0, -38.0  # the share of the claim's words, and 1 for "never"
    weights[1, -1] = -40.0
    if columns == len(LABELS):
        weights[0, 0], weights[1, 0], bias[0] = 40.0, 40.0, -70.0
    counted = np.ones(size, np.float32)
    counted[: len(SPECIAL)] = 0.0
    given: Mapping[str, Any] = {
        "size": np.array(size, np.int64),
        "values": np.array([0, 1], np.float32),
        "counted": counted,
        "never": np.eye(size, dtype=np.float32)[VOCABULARY["never"]],
        "one": np.array(1, np.float32),
        "last": np.array([-1], np.int64),
        "weights": weights,
        "bias": bias,
    }
    steps = [
        ("OneHot", ["input_ids", "size", "values"], "words", {}),
        ("Cast", ["token_type_ids"], "second", {"to": TensorProto.FLOAT}),
        ("Cast", ["attention_mask"], "there", {"to": TensorProto.FLOAT}),
        ("Sub", ["one", "second"], "not_second", {}),
        ("Mul", ["not_second", "there"], "first", {}),
        *[
            step
            for name in ("first", "second")
            for step in (
                ("Unsqueeze", [name, "last"], f"{name}_wide", {}),
                ("Mul", ["words", f"{name}_wide"], f"{name}_words", {}),
                ("ReduceMax", [f"{name}_words"], f"{name}_bag", {"axes": [1], "keepdims": 0}),
                ("Mul", [f"{name}_bag", "counted"], f"{name}_held", {}),
            )
        ],
        ("Mul", ["first_held", "second_held"], "both", {}),
        ("ReduceSum", ["both", "last"], "shared", {"keepdims": 1}),
        ("ReduceSum", ["second_held", "last"], "wanted", {"keepdims": 1}),
        ("Div", ["shared", "wanted"], "share", {}),
        ("Mul", ["first_held", "never"], "nevers", {}),
        ("ReduceSum", ["nevers", "last"], "denied", {"keepdims": 1}),
        ("Concat", ["share", "denied"], "seen", {"axis": 1}),
        ("Gemm", ["seen", "weights", "bias"], "logits", {}),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    graph = helper.make_graph(
        [helper.make_node(kind, taken, [made], **how) for kind, taken, made, how in steps],
        "tiny",
        inputs,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", columns])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in given.items()],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "model.onnx")
    return folder
