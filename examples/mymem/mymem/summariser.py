"""Summarise messages: by rules without a model, or by a language model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mymem.text import sentences, words

if TYPE_CHECKING:
    from mymem.memory import Note

PASSAGE = 3
"""The number of sentences per note of a long message."""
SAME = 0.34
"""The share of a note's words that an update must repeat to be about the same thing."""

_FILLER = re.compile(r"^(By the way|Just so you know|For the record|Oh|Well|Anyway|Listen),\s+")
_UPDATE = re.compile(
    r"\b(any ?more|any longer|no longer|these days|has changed|'ve changed|turns out|had (that|it) wrong|mixed (him|her|them) up|"
    r"forget what I|as of|instead|used to|gave .{1,40} back|I've stopped|has moved|corrected?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Draft:
    """A new note, and the ids of the notes that it makes obsolete."""

    text: str
    replaces: tuple[int, ...] = ()


class Summariser(Protocol):
    """Turns a message into notes."""

    def drafts(self, text: str, known: Sequence[Note]) -> list[Draft]:
        """Return the notes for a message; `known` are the notes nearest to it."""


class RuleSummariser:
    """Leaves out small talk, splits long messages into passages under their subject, and detects explicit
    corrections.
    """

    name = "rules-1"

    def drafts(self, text: str, known: Sequence[Note]) -> list[Draft]:
        """Return one note for a short message, one per few sentences of a long one, none for mere questions."""
        said = [_tidy(sentence) for sentence in sentences(text)]
        if all(sentence.endswith("?") for sentence in said):
            return []
        if len(said) <= PASSAGE:
            return [Draft(" ".join(said), _corrected(text, known))]
        subject = _subject(text)
        passages = [" ".join(said[i : i + PASSAGE]) for i in range(0, len(said), PASSAGE)]
        return [
            Draft(passage if not subject or subject in passage else f"{subject}: {passage}") for passage in passages
        ]


class LLMSummariser:
    """Asks a model of any OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY)."""

    PROMPT = (
        "You keep the notes of an assistant about its user. Write down what the message says about the user or the people, "
        "animals and things in it: every condition, number and name; no small talk. Known notes are listed with their ids: where "
        'the message makes one untrue, name its id. Reply with JSON: {"notes": [{"text": "...", "replaces": [ids]}]}'
    )

    def __init__(self, model: str, client: Any = None) -> None:
        if client is None:
            from openai import OpenAI

            client = OpenAI()
        self._client, self._model = client, model
        self.name = f"llm {model}"

    def drafts(self, text: str, known: Sequence[Note]) -> list[Draft]:
        """Return the model's notes.

        Raises `ValueError` for a reply without notes, so that no message is lost silently.
        """
        notes = "\n".join(f"{note.id}: {note.text}" for note in known) or "none"
        reply = self._client.chat.completions.create(
            model=self._model,
            messages=[
                {"role": "system", "content": self.PROMPT},
                {"role": "user", "content": f"Known notes:\n{notes}\n\nMessage:\n{text}"},
            ],
            response_format={"type": "json_object"},
        )
        content = reply.choices[0].message.content or ""
        ids = {note.id for note in known}
        try:
            found = json.loads(content)["notes"]
            return [Draft(str(note["text"]), tuple(i for i in note.get("replaces", ()) if i in ids)) for note in found]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the model {self._model} replied without notes: {content[:80]!r}") from error


def _tidy(sentence: str) -> str:
    short = _FILLER.sub("", sentence)
    return short[:1].upper() + short[1:]


def _subject(text: str) -> str:
    """Return the most frequent name of a long message, if it occurs at least twice; the earliest among equals."""
    capitalised = re.findall(r"\b[A-Z][a-z][\w-]*", text)
    counts = Counter(name for name in capitalised if words(name) and not re.search(rf"\b{name.lower()}\b", text))
    name = max(counts, key=lambda name: counts[name], default="")
    return name if counts[name] > 1 else ""


def _corrected(text: str, known: Sequence[Note]) -> tuple[int, ...]:
    """Return the known note that the message retracts or updates, if it says so."""
    if not _UPDATE.search(text):
        return ()
    said = set(words(text))
    for note in known:
        about = set(words(note.text))
        if about and len(about & said) / len(about) >= SAME:
            return (note.id,)
    return ()
