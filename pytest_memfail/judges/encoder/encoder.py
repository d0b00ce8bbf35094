"""A small pretrained encoder: texts to vectors of their tokens, at two depths.

The weights are those of all-MiniLM-L6-v2 as 8-bit numbers, which `tools/export_encoder.py` exports. Texts are read one by
one: the scale of the 8-bit arithmetic depends on the whole input, so a batch would change the vectors of its members.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_memfail.core import UsageError, fingerprint

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER: Final = Path(__file__).parent
ONNX: Final = "encoder.onnx"
TOKENIZER: Final = "tokenizer.json"
NETWORK: Final = "network.onnx"
START, END = 101, 102
"""The tokens around a text."""
TOKENS: Final = 126
"""The most tokens of a text that are read."""
KEPT: Final = 1024
"""The number of passages whose vectors are kept, at most 200 MB."""


class Passage(NamedTuple):
    """The vectors of a text; all have length 1."""

    ids: NDArray[Any]
    """The numbers of its tokens."""
    low: NDArray[Any]
    """A vector per token after the second layer: the words, with some of their surroundings."""
    high: NDArray[Any]
    """A vector per token after the last layer."""
    mean: NDArray[Any]
    """One vector of the whole text."""


def check_packages() -> None:
    """Raise `UsageError` if a package of the extra is missing."""
    if missing := [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]:
        raise UsageError(f"encoder=on: got no package {missing[0]}, expected it: pip install 'pytest-memfail[encoder]'")


def weights_digest() -> str:
    """Return the digest of the files of encoder and network, which the weights of the judge name."""
    return fingerprint(b"".join((FOLDER / name).read_bytes() for name in (ONNX, TOKENIZER, NETWORK)))


class Encoder:
    """Encodes texts on one thread, and keeps the vectors of the last ones."""

    def __init__(self, kept: int = KEPT) -> None:
        """Load the weights.

        Args:
            kept: the number of texts whose vectors are kept.

        Raises `UsageError` if the packages of the extra are missing.
        """
        check_packages()
        import tokenizers

        self._session = session_of(FOLDER / ONNX)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(FOLDER / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS, direction="right")
        self.passage = lru_cache(maxsize=kept)(self._passage)
        """Returns the vectors of a text."""

    def _passage(self, text: str) -> Passage:
        import numpy as np

        ids = np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int64)
        low, high = self._session.run(None, {"ids": np.concatenate([[START], ids, [END]])[None]})
        mean = high[0].mean(axis=0)
        return Passage(ids, _unit(low[0, 1:-1]), _unit(high[0, 1:-1]), mean / np.linalg.norm(mean))

    def vocabulary(self) -> dict[str, int]:
        """Return the number of each token."""
        numbers: dict[str, int] = self._tokenizer.get_vocab()
        return numbers


def session_of(path: Path) -> Any:
    """Return an onnxruntime session of one thread, because the workers of a run share the cores."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    """Return the vectors with length 1, in half precision to save memory."""
    import numpy as np

    scaled: NDArray[Any] = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float16)
    return scaled
