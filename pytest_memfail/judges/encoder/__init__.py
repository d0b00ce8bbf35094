"""A small pretrained encoder, optional: reads meaning where the offline judge reads words."""

from __future__ import annotations

from pytest_memfail.judges.encoder.alignment import CLOSEST, NAMES, Aligner
from pytest_memfail.judges.encoder.encoder import (
    FOLDER,
    NETWORK,
    ONNX,
    TOKENIZER,
    Encoder,
    Passage,
    check_packages,
    weights_digest,
)
from pytest_memfail.judges.encoder.network import (
    CLAIM_TOKENS,
    PASSAGE_TOKENS,
    READINGS,
    Beside,
    Network,
    beside,
    inputs_of,
    readings,
)

__all__ = [
    "CLAIM_TOKENS",
    "CLOSEST",
    "FOLDER",
    "NAMES",
    "NETWORK",
    "ONNX",
    "PASSAGE_TOKENS",
    "READINGS",
    "TOKENIZER",
    "Aligner",
    "Beside",
    "Encoder",
    "Network",
    "Passage",
    "beside",
    "check_packages",
    "inputs_of",
    "readings",
    "weights_digest",
]
