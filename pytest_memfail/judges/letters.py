"""Find the option letter in a reply (paper, section 4, task 4)."""

from __future__ import annotations

import json
import re
from typing import Final

from pytest_memfail.core import Question, Reply, StageResult

KEYS: Final = ("selected_choice", "answer", "choice")
LONE_LETTER: Final = re.compile(r"(?<![^\W_])(?<!['’])[A-E](?![^\W_]|['’][^\W\d_])")
BARE_LETTER: Final = re.compile(r"\W*([A-Ea-e])\W*")
LEADING_LETTER: Final = re.compile(r"\W*([A-E])\s*[).:\-–—]")
MAX_OBJECTS: Final = 64
"""The most opening braces to try, so that a malicious reply cannot cost quadratic time."""


def parse_letter(text: str) -> str | None:
    """Return the letter A to E that a reply chooses, or None.

    Takes the whole reply as a JSON object with `selected_choice`, `answer` or `choice`; else the last embedded JSON
    object with one of them, because models reason first; else the last capital on its own.

    >>> parse_letter('{"selected_choice": "B"}'), parse_letter("It is C."), parse_letter("no idea")
    ('B', 'C', None)
    """
    try:
        whole = json.loads(text.strip())
    except (ValueError, RecursionError):
        whole = None
    if (letter := _choice(whole)) is not None:
        return letter
    decoder = json.JSONDecoder()
    braces = [match.start() for match in re.finditer(r"\{", text)]
    for start in reversed(braces[-MAX_OBJECTS:]):
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if (letter := _choice(found)) is not None:
            return letter
    letters = LONE_LETTER.findall(text)
    return str(letters[-1]) if letters else None


def _choice(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    for key in KEYS:
        chosen = value.get(key)
        if isinstance(chosen, str):
            if match := BARE_LETTER.fullmatch(chosen) or LEADING_LETTER.match(chosen):
                return match[1].upper()
            if letters := LONE_LETTER.findall(chosen):
                return str(letters[-1])
    return None


NO_REPLY: Final = StageResult("ungraded", "no test-taker: give --memfail-model")


def judge_letter(question: Question, reply: Reply) -> StageResult:
    """Return whether a reply chose the right option letter (paper, section 4, task 4)."""
    letter = parse_letter(reply.text)
    right = question.letter
    if letter is None:
        return StageResult("failed", f"no option letter in the reply; {right} is right", confidence=1.0)
    if letter == right:
        return StageResult("passed", f"chose {letter}, which is right", confidence=1.0)
    return StageResult("failed", f"chose {letter}, but {right} is right", confidence=1.0)
