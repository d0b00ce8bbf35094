"""Align the tokens of a claim with those of the closest passages: named numbers for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.judges.encoder.encoder import Encoder, Passage
from pytest_memfail.judges.encoder.network import READINGS, Beside, Network, beside, inputs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSEST: Final = 5
"""The number of passages that are aligned with a claim."""
WEAK: Final = 0.5
"""Below this similarity a token has no counterpart."""
SMALL: Final = 2**18
"""The most multiplications of one product: a larger one would use all cores, which the workers of a run share."""
TEXTS: Final = {"claim": "the claim's tokens", "source": "the source sentence's tokens"}
DEPTHS: Final = {"high": "in context", "low": "by the word"}
WHERE: Final = {"best": "the best passage", "all": "the closest passages"}
FIGURES: Final = {
    "mean": "average similarity of {} to those of {}, {}",
    "least": "similarity of the worst matched of {} to those of {}, {}",
    "second": "similarity of the second worst matched of {} to those of {}, {}",
    "weak": "share of {} without a counterpart in {}, {}",
}
ALIGNED: Final[dict[str, str]] = {
    **{
        f"enc_{text}_{depth}_{where}_{figure}": FIGURES[figure].format(TEXTS[text], WHERE[where], DEPTHS[depth])
        for text, depth, where, figure in product(TEXTS, DEPTHS, WHERE, FIGURES)
    },
    **{
        f"enc_back_{figure}": meaning.format("the best passage's tokens", "claim and source sentence", DEPTHS["high"])
        for figure, meaning in FIGURES.items()
    },
    "enc_cosine_first": "similarity of the most similar passage as a whole",
    "enc_cosine_second": "similarity of the second most similar passage as a whole",
    "enc_cosine_best": "similarity of the best passage as a whole",
    "enc_claim_digits": "number of the claim's tokens with a digit",
    "enc_claim_digits_found": "share of them in the closest passages",
    "enc_best_digits": "number of the best passage's tokens with a digit",
    "enc_best_digits_found": "share of them in the claim or source sentence",
}
"""The meaning of each number of the alignment, by name."""
NAMES: Final = {**ALIGNED, **READINGS}
"""The meaning of each number, of the alignment and of the network, by name."""


class Aligner:
    """Computes the numbers of claims and passages."""

    def __init__(
        self, encoder: Encoder, rarity: Mapping[str, float], unseen: float, network: Network | None = None
    ) -> None:
        """Prepare the weights of the tokens.

        Args:
            encoder: encodes the texts.
            rarity: the weight of each token, by its number; common tokens weigh little.
            unseen: the weight of the other tokens.
            network: reads the tokens beside their counterparts; without it, its numbers are 0.
        """
        import numpy as np

        self.encoder = encoder
        self._network = network
        vocabulary = encoder.vocabulary()
        size = 1 + max(vocabulary.values())
        self._has_digit = np.zeros(size, dtype=bool)
        self._has_digit[[n for token, n in vocabulary.items() if any(c.isdigit() for c in token)]] = True
        self._rarity = np.full(size, unseen)
        self._rarity[[int(number) for number in rarity]] = list(rarity.values())
        self.marks = np.stack([self._rarity / unseen, self._has_digit], axis=1).astype(np.float32)
        """Rarity and whether there is a digit, of each token."""

    def numbers(self, claim: str, source: str, passages: Sequence[str], closeness: Sequence[float]) -> dict[str, float]:
        """Return the numbers by name.

        Args:
            claim: the claim in words.
            source: the sentence that states it.
            passages: the texts that may hold it, the closest first, at least one.
            closeness: the similarity of each of them to claim and source as a whole.
        """
        import numpy as np

        texts = [self.encoder.passage(claim), self.encoder.passage(source)]
        held = [self.encoder.passage(text) for text in passages]
        weights = [self._rarity[text.ids] for text in texts]
        similar = {depth: _similarities(texts, held, depth) for depth in DEPTHS}
        ends = np.cumsum([len(text.ids) for text in texts])[:-1]
        by_passage = {depth: np.split(_best_of_each(found, held), ends) for depth, found in similar.items()}
        scores = sum(_mean(found, weight) for found, weight in zip(by_passage["high"], weights, strict=True))
        best = int(np.argmax(scores))
        values: list[float] = []
        for at, weight in enumerate(weights):
            for depth in DEPTHS:
                found = by_passage[depth][at]
                values += _figures(found[:, best], weight) + _figures(found.max(axis=1), weight)
        first = sum(len(passage.ids) for passage in held[:best])
        inside = similar["high"][:, first : first + len(held[best].ids)]
        values += _figures(inside.max(axis=0) if inside.size else np.zeros(0), self._rarity[held[best].ids])
        ordered = sorted(closeness, reverse=True)
        values += [ordered[0], ordered[1] if len(ordered) > 1 else 0.0, closeness[best]]
        values += self._digits(texts[0].ids, np.concatenate([passage.ids for passage in held]))
        values += self._digits(held[best].ids, np.concatenate([text.ids for text in texts]))
        values += self.readings([*texts, *held], beside(texts, held, similar["high"], best))
        return dict(zip(NAMES, map(float, values), strict=True))

    def readings(self, texts: Sequence[Passage], found: Beside | None) -> list[float]:
        """Return the numbers of the network."""
        if found is None or self._network is None:
            return [0.0] * len(READINGS)
        return self._network.numbers(inputs_of(found, texts, self.marks))

    def _digits(self, ids: NDArray[Any], others: NDArray[Any]) -> list[float]:
        """Return the number of tokens with a digit, and the share of them among other tokens."""
        import numpy as np

        wanted = ids[self._has_digit[ids]]
        return [len(wanted), float(np.isin(wanted, others).mean()) if len(wanted) else 1.0]


def _similarities(texts: Sequence[Passage], held: Sequence[Passage], depth: str) -> NDArray[Any]:
    """Return the similarity of each token of the texts to each token of the passages."""
    import numpy as np

    ours = np.concatenate([getattr(text, depth) for text in texts]).astype(np.float32)
    similar = np.empty((len(ours), sum(len(passage.ids) for passage in held)), dtype=np.float32)
    first = 0
    for passage in held:
        theirs = getattr(passage, depth).astype(np.float32).T
        last = first + theirs.shape[1]
        rows = max(1, SMALL // max(1, theirs.size))
        for at in range(0, len(ours), rows):
            similar[at : at + rows, first:last] = ours[at : at + rows] @ theirs
        first = last
    return similar


def _best_of_each(similar: NDArray[Any], held: Sequence[Passage]) -> NDArray[Any]:
    """Return the greatest similarity of each token to a token of each passage; 0 for a passage without tokens."""
    import numpy as np

    found = np.zeros((len(similar), len(held)))
    first = 0
    for at, passage in enumerate(held):
        if size := len(passage.ids):
            found[:, at] = similar[:, first : first + size].max(axis=1)
        first += size
    return found


def _mean(found: NDArray[Any], weight: NDArray[Any]) -> Any:
    return weight @ found / weight.sum() if len(weight) else 0.0


def _figures(found: NDArray[Any], weight: NDArray[Any]) -> list[float]:
    """Return the figures of the similarities, in the order of `FIGURES`; the worst are sought among the rarer tokens."""
    import numpy as np

    if not len(found):
        return [0.0] * len(FIGURES)
    share = weight / weight.sum()
    rare = np.sort(found[weight > np.median(weight) - 1e-9])
    return [float(share @ found), rare[0], rare[min(1, len(rare) - 1)], float(share[found < WEAK].sum())]
