"""Which conversation an entry came from, by each kind of evidence, and what is left of a conversation."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from pytest_memfail.core import Conversation, Fact, Kept, Listing, Memory, Message, find_origins, kept_of, said_entries
from pytest_memfail.records import StoreRecord, from_text, to_text, with_listings

SAID = (
    "Ottilie keeps two beehives behind the chapel in Whitby. She harvests in August.",
    "Bartholomew repairs accordions on Tuesdays, and never on the ferry.",
    "The ferry to Skye leaves at seven unless the harbourmaster sleeps in.",
    "Perpetua collects brass thimbles from Lisbon.",
)
CONVERSATIONS = tuple(
    Conversation(f"c-{i}", (Message("user", said),), datetime(2024, 1, 1 + i, 9, tzinfo=timezone.utc))
    for i, said in enumerate(SAID)
)


def origins_of(*memories: Memory, **extracted: list[Memory]) -> list[tuple[tuple[int, ...], bool]]:
    said = {name.replace("_", "-"): some for name, some in extracted.items()}
    return [(one.conversations, one.is_likely) for one in find_origins(memories, CONVERSATIONS, said).of]


@pytest.mark.parametrize(
    ("memory", "places", "is_likely"),
    [
        (Memory(SAID[1]), (1,), False),
        (Memory("user: " + SAID[1]), (1,), False),
        (Memory("Ottilie keeps two beehives behind the chapel in Whitby."), (0,), False),
        (Memory("Keeps beehives: Ottilie (chapel, Whitby)"), (0,), True),
        (Memory("The user enjoys long walks."), (), True),
        (Memory(f"{SAID[3]} {SAID[0]}"), (0, 3), False),  # one entry of two conversations
        (Memory("Likes music.", metadata={"session": "c-1"}), (1,), False),
        (Memory("Likes music.", id="c-1#4"), (1,), False),
        (Memory("Travels by ferry.", timestamp="2024-01-03T09:00:00Z"), (2,), False),
        (Memory("Travels by ferry.", timestamp="2024-01-04T09:00:00Z"), (1, 2), True),  # the time of quite another
    ],
)
def test_an_entry_is_linked_by_the_best_evidence(memory: Memory, places: tuple[int, ...], is_likely: bool) -> None:
    [(found, likely)] = origins_of(memory)
    assert (tuple(sorted(found)), likely) == (places, is_likely)


def test_metadata_is_an_id_only_if_all_of_its_values_are() -> None:
    one, other = Memory("Likes music.", metadata={"tag": "c-1"}), Memory("Likes tea.", metadata={"tag": "hobby"})
    assert origins_of(one, other) == [((), True), ((), True)]


def test_what_the_system_says_it_extracted_counts_before_words() -> None:
    memory = Memory("Keeps thimbles from Lisbon", id="7")
    assert origins_of(memory, c_0=[Memory("older words", id="7")]) == [((0,), False)]


def test_an_entry_keeps_the_origin_of_the_earlier_listing() -> None:
    memory = Memory("Accordions are repaired.")
    first = Listing("s", (memory,), origins=find_origins([memory], CONVERSATIONS[:2], {}))
    later = Conversation("c-9", (Message("user", "Accordions are repaired here."),))
    [origin] = find_origins([memory], (*CONVERSATIONS[:2], later), {}, first).of
    assert origin.conversations == (1,)


def test_a_dropped_conversation_keeps_nothing_and_a_cut_one_a_part() -> None:
    memories = tuple(Memory(said) for said in (SAID[0].partition(".")[0], SAID[2], SAID[3]))
    origins = find_origins(memories, CONVERSATIONS, {})
    assert [one.kept for one in origins.sessions] == [pytest.approx(0.75, abs=0.1), 0, 1, 1]
    listing = Listing("s", memories, origins=origins)

    def kept(number: int) -> Kept | None:
        return kept_of(Fact("f", "fact", SAID[number], SAID[number], f"c-{number}"), listing)

    assert kept(0) == Kept((0,), (memories[0].text,))
    assert kept(1) == Kept()
    assert kept_of(Fact("f", "fact", "x", "x", "elsewhere"), listing) is None


def test_a_record_says_where_the_entries_of_each_listing_came_from() -> None:
    first = (Memory(SAID[0]), Memory("Mends accordions, Bartholomew does."))
    second = (first[1], Memory(SAID[3]))
    one = Listing("s", first, 0, find_origins(first, CONVERSATIONS[:2], {}))
    two = Listing("s", second, 1, find_origins(second, CONVERSATIONS, {}, one))
    empty = StoreRecord(
        store="s",
        task="t",
        conversations=4,
        fill_seconds=1,
        memories=2,
        tokens=9,
        changed_by_queries=(0, 0),
        listings=(),
    )
    record = from_text(StoreRecord, to_text(with_listings(empty, (one, two))))
    assert (record.origins, record.likely) == (((0,), (1,), (3,)), (1,))
    assert {number: found.of for number, found in record.origins_by_probe.items()} == {
        0: one.origins.of,
        1: two.origins.of,
    }
    assert record.sessions == two.origins.sessions
    assert with_listings(empty, (one,)).origins_by_probe == {0: one.origins}
    assert empty.origins_by_probe == {}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("I keep bees. Their queen is Beatrix.", True),
        ("Their queen is Beatrix.", True),
        ("user: Their queen is Beatrix.", True),
        ("I keep bees. She keeps them by the canal.", False),
        ("The user keeps bees.", False),
        ("We shall see.", False),  # said in a conversation that it did not come from
    ],
)
def test_a_verbatim_entry_keeps_only_what_was_said(entry: str, expected: bool) -> None:
    said = ["I keep bees. They fly. Their queen is Beatrix.", "We shall see."]
    told = [Conversation(f"c-{i}", (Message("user", text),)) for i, text in enumerate(said)]
    memories = (Memory("They fly.", id="c-0"), Memory(entry, id="c-0"))
    assert said_entries(memories, told, find_origins(memories, told, {})) == (True, expected)
