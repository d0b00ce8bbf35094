"""The data of the checks: short statements, each with a unique invented name that a summary would keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pytest_memfail.core import Conversation, Memory, Message

MANY: Final = 30
"""More than common default page sizes (10, 20, 25)."""
LONG: Final = 100_000
"""Characters of the long text."""

_HEADS: Final = "Bel Cor Dun Fen Gar Hol Ild Jor Kes Lor Mar Nev Orl Pel Quil Ros Sel Tor Ulv Ven".split()
_TAILS: Final = "ford mere wick".split()
_THINGS: Final = (
    "bicycle, grey coat, fishing rod, spare key, violin, tent, sledge, telescope, typewriter, canoe, chess set, lantern, "
    "sewing machine, globe, accordion, compass, kite, easel, tool box, first atlas, umbrella, hammock, wheelbarrow, "
    "stamp album, microscope, ladder, saddle, wok, drum, beehive, loom, anvil, barometer, rowing machine, trumpet, seed box"
).split(", ")


def mark(i: int) -> str:
    """Return the name that identifies statement i."""
    return _HEADS[i % len(_HEADS)] + _TAILS[i // len(_HEADS)]


def thing(i: int) -> str:
    """Return the object of statement i."""
    return _THINGS[i % len(_THINGS)]


def statement(i: int) -> str:
    """Return one fact about the user."""
    return f"I keep my {thing(i)} in {mark(i)}."


def query(i: int) -> str:
    """Return the question about statement i."""
    return f"What do I keep in {mark(i)}? My {thing(i)}?"


def saying(name: str, *texts: str) -> Conversation:
    """Return a conversation with these messages of the user."""
    return Conversation(name, tuple(Message("user", text) for text in texts))


def numbered(numbers: Iterable[int]) -> list[Conversation]:
    """Return a conversation with its statement for each number."""
    return [saying(f"c-{i}", statement(i)) for i in numbers]


def without(marks: Iterable[str], memories: Iterable[Memory]) -> list[str]:
    """Return the marks that no memory names, ignoring case."""
    text = "\n".join(memory.text for memory in memories).casefold()
    return [name for name in marks if name.casefold() not in text]


def long_text() -> str:
    """Return a text of `LONG` characters that names mark 0 at its start, 1 in its middle and 2 at its end."""
    filler = "The weather was neither good nor bad, and we talked about nothing else for a while. "
    half = filler * (LONG // (2 * len(filler)) + 1)
    room = LONG // 2 - len(statement(1)) - 2
    text = f"{statement(0)} {half[: room - len(statement(0))]} {statement(1)} {half}"
    return f"{text[: LONG - len(statement(2)) - 1]} {statement(2)}"
