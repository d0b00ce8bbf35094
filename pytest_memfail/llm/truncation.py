"""Notice prompts that a server cut without saying so: the model then never saw what it decided about."""

from __future__ import annotations

from typing import Final

from pytest_memfail.core import Doubt
from pytest_memfail.llm.request import Request

TEXT: Final = (
    "the server counts fewer tokens than the prompt has words, so it cut the prompt without saying so and the replies mean "
    "little: give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size)"
)


class Prompts:
    """Compares the tokens that servers count with the words that were sent.

    Tokenizers differ by a factor of four in some languages, but none has tokens that span the space between two words, so
    there are at least as many tokens as words. English prompts have about 1.4 tokens a word: a prompt that lost a third
    is noticed. Some servers leave out what they had in their prompt cache; they count a longer prompt in full at least
    once, which a server that cuts never does.
    """

    def __init__(self) -> None:
        """Start without replies."""
        self._seen = 0
        self._longest: dict[str, int] = {}
        self._short: list[tuple[str, int]] = []

    def counted(self, request: Request, tokens: int) -> None:
        """Take the tokens of a request as the server counts them; 0 if it does not."""
        if not tokens:
            return
        self._seen += 1
        self._longest[request.model] = max(tokens, self._longest.get(request.model, 0))
        texts = (*request.texts, *(message.get("content") for message in request.messages))
        words = sum(len(text.split()) for text in texts if isinstance(text, str))
        if tokens < words:
            self._short.append((request.model, words))

    def doubts(self) -> tuple[Doubt, ...]:
        """Return the doubt about the prompts since the last call, if there were any."""
        seen, short = self._seen, self._short
        self._seen, self._short = 0, []
        cut = sum(words > self._longest[model] for model, words in short)
        return (Doubt("cut_prompt", TEXT, cut, seen, "prompt", limit=0.0),) if seen else ()
