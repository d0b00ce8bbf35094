"""Read a claim's tokens beside their counterparts in passages: a small trained network.

Each token of the claim, of its source sentence and of the best passage is set beside the token that is closest to it on
the other side. The network learned from labelled facts and from pairs of memories that differ in one thing which of such
differences matter. `tools/train_network.py` writes its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_memfail.judges.encoder.encoder import FOLDER, NETWORK, Passage, session_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLAIM_TOKENS: Final = 48
"""The most tokens of a claim, and of its source sentence, that are read."""
PASSAGE_TOKENS: Final = 90
"""The most tokens of the best passage that are read."""
READINGS: Final[dict[str, str]] = {
    "enc_network_kept": "log odds that the closest passages keep the claim, by the network",
    "enc_network_absent": "log odds that nothing of it is there if they do not, by the network",
}
"""The meaning of each number, by name."""


class Beside(NamedTuple):
    """Tokens beside their counterparts, as positions in all texts one after the other: claim, source, passages."""

    own: NDArray[Any]
    in_best: NDArray[Any]
    """The closest token of the best passage; for a token of that passage, of claim and source."""
    in_all: NDArray[Any]
    """The closest token of all passages; for a token of the best passage as in `in_best`."""
    kinds: NDArray[Any]
    """0 for a token of the claim, 1 of the source, 2 of the best passage."""


def beside(texts: Sequence[Passage], held: Sequence[Passage], similar: NDArray[Any], best: int) -> Beside | None:
    """Set each token beside its counterparts; None if one side has no tokens.

    Args:
        texts: claim and source.
        held: the passages.
        similar: the similarity of each token of the texts to each token of the passages.
        best: the position of the best passage.
    """
    import numpy as np

    sizes = [len(text.ids) for text in texts]
    starts = np.cumsum([0, *sizes])
    ours = np.concatenate(
        [start + np.arange(min(size, CLAIM_TOKENS)) for start, size in zip(starts, sizes, strict=False)]
    )
    first = sum(len(passage.ids) for passage in held[:best])
    theirs = np.arange(first, first + len(held[best].ids))
    if not len(ours) or not len(theirs):
        return None
    rows, offset = similar[ours], starts[-1]
    back = theirs[:PASSAGE_TOKENS]
    answers = ours[rows[:, back].argmax(axis=0)]
    kinds = np.concatenate([np.where(ours < sizes[0], 0, 1), np.full(len(back), 2)])
    return Beside(
        np.concatenate([ours, offset + back]),
        np.concatenate([offset + theirs[rows[:, theirs].argmax(axis=1)], answers]),
        np.concatenate([offset + rows.argmax(axis=1), answers]),
        kinds,
    )


def inputs_of(found: Beside, texts: Sequence[Passage], marks: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the inputs of the network: for each token the vectors of it and its counterparts, and how they compare.

    Args:
        found: positions of tokens.
        texts: claim, source and passages.
        marks: rarity (at most 1) and whether there is a digit, by the number of a token: a table of two columns.
    """
    import numpy as np

    places = np.stack(found[:3], axis=1)
    low, high, ids = (
        np.concatenate([getattr(text, name) for text in texts])[places] for name in ("low", "high", "ids")
    )
    own, in_best, in_all = ids.T
    same = np.stack([own == in_best, own == in_all, found.in_best == found.in_all], axis=1)
    marked = marks[ids].transpose(0, 2, 1).reshape(len(ids), -1)
    return {
        "low": low.astype(np.float32),
        "high": high.astype(np.float32),
        "marks": np.hstack([marked, same]).astype(np.float32),
        "kinds": found.kinds.astype(np.int64),  # numpy's own integer has 32 bits on some systems
    }


class Network:
    """The trained network."""

    def __init__(self) -> None:
        """Load the weights."""
        self._session = session_of(FOLDER / NETWORK)

    def numbers(self, inputs: dict[str, NDArray[Any]]) -> list[float]:
        """Return the numbers, in the order of `READINGS`, for the inputs of one claim."""
        (logits,) = self._session.run(None, inputs)
        return readings(*(float(value) for value in logits))


def readings(kept: float, damaged: float, absent: float) -> list[float]:
    """Return the numbers for the logits of the three outcomes, rounded: the last digits differ between processors."""
    import numpy as np

    return [round(kept - float(np.logaddexp(damaged, absent)), 3), round(absent - damaged, 3)]
