"""Find the option letter in a reply (paper, section 4, task 4)."""

from __future__ import annotations

import json
import re
from typing import Final

from pytest_memfail.core import Question, Reply, StageResult, answer_in
from pytest_memfail.texts import NEGATIONS, words

KEYS: Final = ("selected_choice", "answer", "choice")
_LETTER: Final = (
    r"(?:[B-E]|A(?![^\S\n]+(?!(?:and|as|because|but|cannot|does|follows|is|nor|or|since|would)\b)[a-z]))"
    r"(?![^\W_]|['’-][^\W\d_])"
)
"""A letter on its own; an A before a word in lower case is an article, unless no article can stand before that word."""
LONE_LETTER: Final = re.compile(rf"(?<![^\W_])(?<![^\W_]['’]){_LETTER}")
BARE_LETTER: Final = re.compile(r"\W*([A-Ea-e])\W*")
LEADING_LETTER: Final = re.compile(
    rf"\W*(?:[Oo]ption\s+)?({_LETTER})"
    r"(?:\s*(?:[):]|[.\-–—,](?![^\W_]|[^\S\n]*[A-E]\b))|[^\S\n]*\n|\s+(?:because|since)\b)"
)
STATED_LETTER: Final = re.compile(
    r"(?:(?i:answer|choice|option)[\s\"'*_]{0,4}(?:\b(?:is|would be|must be)\b|[:=])"
    r"|(?<!not )(?<!n['’]t )(?i:choose|chose|pick|select))"
    rf"[\s\"'*_(\[:]{{0,6}}(?:[Oo]ption\s+)?({_LETTER}|[a-e](?=\W*(?:\n|$)))(?!\s*(?:and|or|/)\s*[A-E]\b)"
    rf"|{LONE_LETTER.pattern}(?=\W{{1,3}}is (?:the )?(?:only |best )?(?:right|correct|answer|choice|option)\b)"
)
MAX_OBJECTS: Final = 64
"""The most opening braces to try, so that a malicious reply cannot cost quadratic time."""
DOUBTFUL: Final = 0.5
"""The confidence in a letter that a reply names beside others, or denies; below `UNSURE`."""


def parse_letter(text: str) -> str | None:
    """Return the letter A to E that a reply chooses, or None.

    Takes the whole reply as a JSON object with `selected_choice`, `answer` or `choice`; else the last embedded JSON
    object with one of them, because models reason first; else what the text says.

    >>> parse_letter('{"selected_choice": "B"}'), parse_letter("D. A chain leads there."), parse_letter("no idea")
    ('B', 'D', None)
    """
    return _read(text)[0]


def _read(text: str) -> tuple[str | None, bool]:
    """Return the letter that a reply chooses, and whether that is certain."""
    try:
        whole = json.loads(text.strip())
    except (ValueError, RecursionError):
        whole = None
    if (chosen := _choice(whole)) is not None:
        return chosen
    decoder = json.JSONDecoder()
    braces = [match.start() for match in re.finditer(r"\{", text)]
    for start in reversed(braces[-MAX_OBJECTS:]):
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if (chosen := _choice(found)) is not None:
            return chosen
    return _in_prose(text)


def _choice(value: object) -> tuple[str, bool] | None:
    if not isinstance(value, dict):
        return None
    for key in KEYS:
        if isinstance(said := value.get(key), str):
            letter, is_sure = _in_prose(said)
            if letter is not None:
                return letter, is_sure
    return None


def _in_prose(text: str) -> tuple[str | None, bool]:
    """Return the letter that a text consists of, begins with or calls its answer, else the last one that it names.

    It is certain if the text does so with no other letter, and does not seem to deny one that it only names.
    """
    answer = answer_in(text)
    if match := BARE_LETTER.fullmatch(answer):
        return match[1].upper(), True
    leading = LEADING_LETTER.match(answer)
    stated = [(match[1] or match[0]).upper() for match in STATED_LETTER.finditer(text)]
    if said := [leading[1], *stated] if leading else stated:
        return said[-1], len(set(said)) == 1
    if named := LONE_LETTER.findall(text):
        return named[-1], len(set(named)) == 1 and NEGATIONS.isdisjoint(words(text))
    return None, re.search(r"\bA\b", text) is None


NO_REPLY: Final = StageResult("ungraded", "no test-taker: give --memfail-model")


def judge_letter(question: Question, reply: Reply) -> StageResult:
    """Return whether a reply chose the right option letter (paper, section 4, task 4)."""
    letter, is_sure = _read(reply.text)
    sure, right = 1.0 if is_sure else DOUBTFUL, question.letter
    if letter is None:
        return StageResult("failed", f"no option letter in the reply; {right} is right", confidence=sure)
    chose = "chose" if is_sure else "seems to choose"
    if letter == right:
        return StageResult("passed", f"{chose} {letter}, which is right", confidence=sure)
    return StageResult("failed", f"{chose} {letter}, but {right} is right", confidence=sure)
