"""Compare a claim with memories by an encoder's vectors, so that other words for the same count."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import PartRole
from pytest_memfail.judges.encoder import CLOSEST, NAMES, Aligner
from pytest_memfail.judges.offline.index import Index
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.reading import Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH: Final = 420
"""The most characters of a passage; a longer entry is read as several."""
MANY: Final = 3000
"""In a store with more passages, only those that share words with the claim are compared."""


class Passages:
    """The passages of an index."""

    def __init__(self, index: Index) -> None:
        self.texts: list[str] = []
        self.of_statement: list[int] = []
        """The passage of each statement."""
        for entry, some in groupby(zip(index.entries, index.statements, strict=True), lambda row: row[0]):
            statements = [statement for _, statement in some]
            whole, told = index.texts[entry], [statement.text for statement in statements]
            if whole.lstrip()[:1] in "{[":  # as a sentence is read: fields with the keys above them, without signs
                told = [" ".join([*(token.surface for token in s.context), s.text]) for s in statements]
                whole = "; ".join(told)
            for at, text in enumerate(told):
                if at == 0:
                    self.texts.append(whole if len(whole) <= LENGTH else text)
                elif len(whole) > LENGTH and len(self.texts[-1]) + len(text) < LENGTH:
                    self.texts[-1] += f" {text}"
                elif len(whole) > LENGTH:
                    self.texts.append(text)
                self.of_statement.append(len(self.texts) - 1)
        self.means: NDArray[Any] | None = None
        """A vector per passage; None before the first claim."""


class Meaning:
    """Computes the features of the encoder."""

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner

    def features(self, match: Match) -> dict[str, float]:
        """Return the encoder's features of a claim and some memories, by name."""
        import numpy as np

        index, encoder = match.index, self._aligner.encoder
        if not index.statements:
            return dict.fromkeys(NAMES, 0.0)
        if (passages := index.cache.get("passages")) is None:
            passages = index.cache["passages"] = Passages(index)
        claim, source = texts_of(match.reading)
        wanted = encoder.passage(f"{claim} . {source}").mean
        scores: dict[int, float] = {}
        for candidate in match.candidates:  # the best first
            scores.setdefault(passages.of_statement[candidate.at], candidate.score)
        if len(passages.texts) <= MANY:
            if passages.means is None:
                passages.means = np.array([encoder.passage(text).mean for text in passages.texts])
            close = np.einsum("ij,j->i", passages.means, wanted)  # a product would use all cores, which workers share
            some: Iterable[int] = range(len(passages.texts))
        else:
            close = {at: float(encoder.passage(passages.texts[at]).mean @ wanted) for at in scores}
            some = scores
        best = sorted(some, key=lambda at: (-scores.get(at, 0.0) - close[at], passages.texts[at]))[:CLOSEST]
        if not best:
            return dict.fromkeys(NAMES, 0.0)
        return self._aligner.numbers(
            claim, source, [passages.texts[at] for at in best], [float(close[at]) for at in best]
        )


def texts_of(reading: Reading) -> tuple[str, str]:
    """Return the claim in words, and the sentences of the source that state it."""
    claim = reading.claim
    parts = [claim.owner or "the user"]
    if claim.has_ended:
        parts.append(f"this has ended: {'; '.join((*claim.texts('topic'), *claim.replaced))}")
    else:
        parts.append("; ".join(claim.texts("core")))
        for role, says in ROLES.items():
            if some := claim.texts(role):
                parts.append(f"{says}: {'; '.join(some)}")
        if claim.replaced:
            parts.append(f"no longer: {'; '.join(claim.replaced)}")
    return " | ".join(parts), " ".join(sentence.text for sentence in reading.said)


ROLES: Final[dict[PartRole, str]] = {"condition": "when", "cause": "because of", "topic": "about"}
