"""How much of its start a conversation shares with an earlier one of its store."""

from __future__ import annotations

import random

from pytest_memfail.core import Conversation, Listing, Memory, Message, find_origins, told_of


def shared(text: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))


def test_it_is_the_longest_start_of_all_earlier_ones():
    draw = random.Random(7)
    texts = ["the same start " + "".join(draw.choice("ab") for _ in range(6)) for _ in range(40)]
    talks = [Conversation(str(i), (Message("user", text),)) for i, text in enumerate(texts)]
    memories = tuple(Memory(text) for text in texts)
    listing = Listing("s", memories, origins=find_origins(memories, talks, {}))
    found = [told.starts_like for told in told_of(talks, listing)]
    at = [talk.text for talk in talks]
    assert found == [max((shared(text, other) for other in at[:i]), default=0) for i, text in enumerate(at)]
