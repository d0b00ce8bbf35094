"""Make a case of the log of an incident."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from pytest_memfail.core import MORNING, UsageError, counted, one_line
from pytest_memfail.rows import Chat, Chats, Turn, read_chats
from pytest_memfail.texts import STOP_WORDS, content, fold, terms, word_set

LISTED: Final = 5
"""The number of turns that a message lists."""

FEW: Final = 3
"""A turn of fewer words, such as "Seven.", states a fact only if it says "I" or "my"."""
YES_OR_NO: Final = STOP_WORDS | {"yes", "yeah", "yep", "nope", "nah", "ok", "okay"}
"""Words that a turn may have in another sense than an answer of nothing else."""
LETTERS: Final = r"0-9A-Za-z\u00c0-\u04ff"


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn before the question."""

    number: int
    """From 1, in the order of the turns."""
    chat: int
    turn: Turn

    def states(self, text: str) -> bool:
        """Return whether the turn has a text as whole words, other than a mere yes or no."""
        if word_set(text) <= YES_OR_NO:
            return False
        wanted = re.escape(" ".join(text.split()))
        # not within a longer word, in scripts that have blanks between words
        pattern = rf"(?<![{LETTERS}]){wanted}(?![{LETTERS}])"
        return re.search(pattern, " ".join(self.turn.text.split()), re.IGNORECASE) is not None

    def __str__(self) -> str:
        return f"{self.number} ({self.turn.role}) {one_line(self.turn.text, 60)!r}"


def case_of_log(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Return the case, and notes on what the log has that the case has not.

    Raises `UsageError` if the log does not say which turn states the answer.
    """
    if not options.answer:
        raise UsageError("case: --from needs --answer, the right answer")
    log = read_chats(options.log)
    question, chats, after = _before_question(options, log)
    chats = [chat for chat in chats if chat.turns] or [
        Chat([Turn("user", text)]) for text in dict.fromkeys(log.written)
    ]
    said = [(at, turn) for at, chat in enumerate(chats) for turn in chat.turns]
    home = _stating(options, question, [_Said(number, at, turn) for number, (at, turn) in enumerate(said, 1)])
    words = [term.word for term in terms(home.turn.text)]
    if not options.fact and len(words) < FEW and not {"i", "im", "ive", "my"} & {*words}:
        raise UsageError(
            f"{options.log}: got the fact {one_line(repr(home.turn.text), 60)}, expected a sentence that says what the answer is "
            f"about; give it with --turn {home.number} --fact TEXT"
        )
    expected: dict[str, Any] = {"fact": options.fact or home.turn.text, "conversation": home.chat + 1}
    if home.states(options.answer):
        expected["details"] = [[options.answer.strip()]]
    conversations = [written(chat.day, ((turn.role, turn.text) for turn in chat.turns)) for chat in chats]
    case = {"conversations": conversations, "question": question, "answer": options.answer, "expected": [expected]}
    notes = [f"question: {one_line(question, 100)}", f"evidence: turn {home}", *_notes(log, after)]
    if not options.question and _Said(0, 0, Turn("user", question)).states(options.answer):
        notes.append(
            f"the question has the answer {one_line(repr(options.answer), 60)}; if it complains, give the one asked: --question TEXT"
        )
    return case, notes


def written(start: date | None, messages: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return a conversation as a case has it: with its time, or only the day if it began at the time that a day stands for."""
    day = start.date() if isinstance(start, datetime) and start.timetz() == MORNING else start
    dated = {} if day is None else {"date": day}
    return {**dated, "messages": [{role: text} for role, text in messages]}


def _notes(log: Chats, after: int | None) -> list[str]:
    """Return what was left out of the log."""
    left = [f"{number} {role}" for role, number in log.left_out.items()]
    notes = [f"turns left out: {', '.join(left)}"] if left else []
    if after is None:
        notes.append("the log does not have the question, so all its turns are stored before it")
    elif after:
        notes.append(f"turns left out: {after} after the question")
    if log.no_times:
        notes.append(
            f"left out: {counted(len(log.no_times), 'time')} that cannot be read, such as {one_line(repr(log.no_times[0]), 40)}; "
            "expected ISO 8601, or seconds since 1970"
        )
    return notes


def _before_question(options: argparse.Namespace, log: Chats) -> tuple[str, list[Chat], int | None]:
    """Return the question, the chats before it, and how many turns come after it; None if it is not in the log.

    Raises `UsageError` if there is no question.
    """
    turns = [(at, number) for at, chat in enumerate(log.chats) for number in range(len(chat.turns))]
    asked = [(at, number) for at, number in turns if log.chats[at].turns[number].role == "user"]
    if text := options.question or log.query:
        wanted = fold(text)
        place = next(((at, n) for at, n in reversed(asked) if fold(log.chats[at].turns[n].text) == wanted), None)
    elif asked:
        # the user may have protested against the wrong answer: the question is the last turn with a question mark
        last = [place for place in asked if place[0] == asked[-1][0]]
        place = next((p for p in reversed(last) if "?" in log.chats[p[0]].turns[p[1]].text), last[-1])
        text = log.chats[place[0]].turns[place[1]].text
    else:
        raise UsageError(f"{options.log}: the log has no turn of the user, so it has no question; give --question")
    if place is None:
        return text, log.chats, None
    kept = [*log.chats[: place[0]], Chat(log.chats[place[0]].turns[: place[1]])]
    return text, kept, len(turns) - turns.index(place) - 1


def _stating(options: argparse.Namespace, question: str, said: Sequence[_Said]) -> _Said:
    """Return the turn before the question that states the answer: that of `--turn`, or the only one.

    Raises `UsageError` with the turns to choose from.
    """
    if not said:
        raise UsageError(
            f"{options.log}: the log has no conversation before the question, expected one that states the answer"
        )
    if options.turn is not None:
        if not 1 <= options.turn <= len(said):
            raise UsageError(f"--turn: got {options.turn}, expected a turn before the question, 1 to {len(said)}")
        at: int = options.turn - 1
        return said[at]
    wanted = options.fact or options.answer
    found = [one for one in said if one.states(options.answer)]
    if options.fact and (of_fact := _closest(said, options.fact)):
        found = of_fact
    elif not found and not word_set(options.answer) <= YES_OR_NO:
        found = [one for one in said if word_set(options.answer) <= word_set(one.turn.text)]
    found = [one for one in found if one.turn.role == "user"] or found
    alike = {fold(one.turn.text): one for one in found}  # of the same words, the last
    if len(alike) == 1:
        return next(iter(alike.values()))
    about = content(f"{options.answer} {question}")
    listed = list(alike.values()) or [one for one in said if about & content(one.turn.text)] or list(said)
    what = f"{len(alike) or 'no'} turns before the question that state {one_line(repr(wanted), 60)}"
    more = f"; and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    shown = "; ".join(map(str, listed[-LISTED:]))
    raise UsageError(f"{options.log}: got {what}, expected one; choose it with --turn N, such as {shown}{more}")


def _closest(said: Sequence[_Said], text: str) -> list[_Said]:
    """Return the turns that share most words with a text; none if no turn shares any."""
    words = word_set(text)
    shared = [len(words & word_set(one.turn.text)) for one in said]
    most = max(shared)
    return [one for one, number in zip(said, shared, strict=True) if number == most > 0]
