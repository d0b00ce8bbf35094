"""A small pretrained encoder, optional: reads meaning where the offline judge reads words."""

from __future__ import annotations

from pytest_memfail.judges.encoder.alignment import CLOSEST, NAMES, Aligner
from pytest_memfail.judges.encoder.encoder import (
    FOLDER,
    ONNX,
    TOKENIZER,
    Encoder,
    Passage,
    check_packages,
    weights_digest,
)

__all__ = [
    "CLOSEST",
    "FOLDER",
    "NAMES",
    "ONNX",
    "TOKENIZER",
    "Aligner",
    "Encoder",
    "Passage",
    "check_packages",
    "weights_digest",
]
