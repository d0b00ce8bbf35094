"""`form=yesno`: a model that answers only Yes or No, such as one trained to check claims, behind an endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import ProtocolName, one_line
from pytest_memfail.judges.support import Support, SupportJudge
from pytest_memfail.llm import ContextLengthError, ReplyError

if TYPE_CHECKING:
    from pytest_memfail.llm import ModelClient

SAID: Final = re.compile(
    # not "Yes or No", "Yes/No" nor "Yes and no.", but "Yes, and no detail is missing."
    r"\W*(yes|no)\b(?!\W*(?:(?:and/)?or\W|[/|])\W*(?!\1\b)(?:yes|not?)\b"
    r"|\W*(?:(?:and|but)\W+(?:also\W+)?)?(?!\1\b)(?:yes|no)\b(?:\W*(?:$|[.,;:!?\u2013\u2014])|\s+-))",
    re.IGNORECASE,
)
"""The word that a reply begins with, unless the other word follows it: an echo of the prompt, or indecision."""
THOUGHTS: Final = re.compile(r"\s*(?:<(think|thinking)>)?.*?</think(?:ing)?>", re.DOTALL)
PROMPT: Final = """\
Document:
{document}
Claim: {claim}
Does the document support everything that the claim says? Answer with one word, Yes or No."""


class YesNoJudge(SupportJudge):
    """Judges storage, summary and retrieval with one short call each; it needs no JSON."""

    one_by_one = False

    def __init__(
        self,
        client: ModelClient,
        model: str,
        protocol: ProtocolName = "ours",
        parameters: Mapping[str, Any] | None = None,
        repeat: int = 0,
        **kinds: Any,
    ) -> None:
        """Take the arguments of `ModelJudge`; `kinds` are those of `SupportJudge`."""
        super().__init__(protocol, **kinds)
        self._client, self.model, self._parameters, self._repeat = client, model, parameters, repeat

    async def supports(self, documents: Sequence[Sequence[str]], claim: str, stage: str) -> list[Support]:
        """Return whether the model says that each document supports a claim."""
        return [await self._asked(document, claim, stage) for document in documents]

    async def _asked(self, document: Sequence[str], claim: str, stage: str) -> Support:
        """Ask about one document; about each half if it is too long."""
        # one line each, so that no entry imitates the claim
        lines = "\n".join(f"- {_line(text)}" for text in document)
        content = PROMPT.format(document=lines, claim=_line(claim))
        try:
            done = await self._client.ask(
                model=self.model,
                messages=[{"role": "user", "content": content}],
                stage=stage,
                parameters=self._parameters,
                repeat=self._repeat,
            )
        except ContextLengthError:
            if len(document) < 2:
                raise
            halves = document[: len(document) // 2], document[len(document) // 2 :]
            found = [await self._asked(half, claim, stage) for half in halves]
            return max(found, key=lambda one: one.held)
        thought = THOUGHTS.match(done.text)
        if (said := SAID.match(done.text, 0 if thought is None else thought.end())) is None:
            self._client.forget([done])
            raise ReplyError(
                f"the judge {self.model} replied {one_line(done.text)[:80]!r} to the {stage} check, expected Yes or No"
            )
        is_yes = said[1].casefold() == "yes"
        return Support(is_yes, _confidence(done.first, said[1]))


def _confidence(first: Mapping[str, float], said: str) -> float | None:
    """Return how likely the word said is against the other, if the reply began with it; None if the endpoint does not say."""
    likely = {"yes": 0.0, "no": 0.0}
    for token, logarithm in first.items():
        if (word := token.strip().casefold()) in likely:
            likely[word] += exp(logarithm)
    said, among = said.casefold(), sum(likely.values())
    return likely[said] / among if likely[said] else None


def _line(text: str) -> str:
    return " ".join(text.split())
