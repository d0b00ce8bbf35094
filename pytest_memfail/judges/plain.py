"""What is decided by rule, so that no model can get it wrong: a fact stated word for word, an answer of the other sign."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Memory
from pytest_memfail.texts import fold

LEAST_LETTERS: Final = 12
"""The shortest fact that a rule decides: a single name may stand in an entry about something else."""
BEFORE: Final = re.compile(
    r"^(?:[^\w\"']*\d[^a-z\"']*(?:t[\d:.]+z?[^\w\"']*)?|[^\w\"']+)?(?:(?:the )?(?:user|human)(?: said)?\s*:\s*)?"
)
"""A date, a bullet and the label of the user, which many systems put before a message."""
LABEL: Final = re.compile(r"[^\W\d_][\w'’-]*(?: [\w'’-]+){0,2}\s*:")
"""A speaker or a field: unless the fact has the same, the text after it may be about somebody else."""
ENDS: Final = "[.!?。！？]"
BEGINS_A_SENTENCE: Final = re.compile(rf"(?:^|{ENDS}[\"')]?\s*)$")
ENDS_A_SENTENCE: Final = re.compile(rf"[\"']?\s*(?:{ENDS}|$)")
ANSWER: Final = re.compile(r"\W*(yes|no)\s*(?:[,.;!:–—]|$)", re.I)


def stated_at(fact: str, memories: Sequence[Memory]) -> int | None:
    """Return the first entry with a line that states the fact word for word; else None.

    A line may begin with a date, `user:` and a label of the fact, and have other sentences. Case, whitespace and the style of
    quotes do not count.

    >>> stated_at("Ines moved to Bergen.", [Memory("Ines moved."), Memory("2024-05-01 user: Hi. Ines moved to Bergen.")])
    1
    >>> stated_at("Ines: I moved to Bergen.", [Memory("Tomas: I moved to Bergen."), Memory("user: Ines: I moved to Bergen.")])
    1
    >>> stated_at("I moved to Bergen.", [Memory("Ines: I moved to Bergen."), Memory("It is false that I moved to Bergen.")])
    """
    words = _folded(fact).rstrip(".!?。！？ ")
    if sum(letter.isalnum() for letter in words) < LEAST_LETTERS:
        return None
    for at, memory in enumerate(memories):
        if words in _folded(memory.text) and _states(words, fact, memory.text):
            return at
    return None


def is_said(text: str, dialogue: str) -> bool:
    """Return whether a dialogue has each line of the text word for word, in lines that no other speaker's label begins.

    >>> is_said("user: I moved to Bergen.", "[2024-05-01 09:00] user: Hi. I moved to Bergen.\\nassistant: Oh.")
    True
    """
    messages = [Memory(line) for line in dialogue.splitlines()]
    lines = [BEFORE.sub("", _folded(line), count=1) for line in text.splitlines() if line.strip()]
    return bool(lines) and all(stated_at(line, messages) is not None for line in lines)


def _states(words: str, fact: str, text: str) -> bool:
    """Return whether lines of a text state the words of a fact, apart from lines with a label that the fact does not have."""
    whole = [_folded(line) for line in text.splitlines() if line.strip()]
    bare = [BEFORE.sub("", line, count=1) for line in whole]
    labels = {"", *(_label(BEFORE.sub("", _folded(line), count=1)) for line in fact.splitlines())}
    for lines in (whole, bare):  # a fact may begin with a number or a bullet itself
        own = [line for line, said in zip(lines, bare, strict=True) if _label(said) in labels]
        if len(own) == len(lines):
            own.append(" ".join(own))  # a sentence may go on in the next line
        if any(_is_sentence(words, line) for line in own):
            return True
    return False


def _label(line: str) -> str:
    """Return the label that a line begins with, such as `ines:`."""
    return match[0] if (match := LABEL.match(line)) else ""


def _is_sentence(words: str, line: str) -> bool:
    """Return whether a line has these words as a whole sentence."""
    at = line.find(words)
    while at >= 0:
        # a pattern of the words themselves would be compiled for each fact, which takes longer than all else here
        if BEGINS_A_SENTENCE.search(line[max(0, at - 8) : at]) and ENDS_A_SENTENCE.match(line, at + len(words)):
            return True
        at = line.find(words, at + 1)
    return False


@lru_cache(maxsize=16_384)
def _folded(text: str) -> str:
    """Return a text as it is compared, once for all facts of a store."""
    return fold(text)


def opposite(gold: Sequence[str], answer: str) -> bool:
    """Return whether the answer begins with No where each gold answer begins with Yes, or the other way round.

    >>> opposite(["No, his stress is too low."], "Memories used: none\\nAnswer: Yes, he does.")
    True
    >>> opposite(["No milk: it gave her hives."], "Yes.")
    False
    """
    given = ANSWER.match(answer.rpartition("Answer:")[2])
    wanted = [ANSWER.match(one) for one in gold]
    if given is None or not wanted:
        return False
    return all(one is not None and one[1].lower() != given[1].lower() for one in wanted)
