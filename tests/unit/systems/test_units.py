"""What an entry of a verbatim store is: a message or a session, with or without its date."""

from __future__ import annotations

from datetime import timedelta

import pytest
from system_stores import NOON, found, said

from pytest_memfail.core import Conversation, Message, UsageError
from pytest_memfail.systems.base import MESSAGES, entries_of
from pytest_memfail.systems.bm25 import FACTORY
from pytest_memfail.systems.sqlite_hybrid import FACTORY as HYBRID
from pytest_memfail.testing import check_memory_system

TALK = Conversation(
    "c-1", (Message("user", "I moved to Bergen."), Message("assistant", "Noted."), Message("user", " ")), NOON
)


def entries(conversation=TALK, **settings):
    return [(entry.id, entry.text, entry.timestamp) for entry in entries_of(conversation, {**MESSAGES, **settings})]


def test_a_session_is_one_entry_with_the_roles():
    assert entries(unit="session") == [("c-1", "user: I moved to Bergen.\nassistant: Noted.", NOON.isoformat())]
    assert entries(said("c-2", "", " "), unit="session") == []


def test_a_date_stands_at_the_head():
    assert entries(header="date")[0][1] == "[2025-01-06] I moved to Bergen."
    assert entries(unit="session", header="date")[0][1].startswith("[2025-01-06] user: I moved to Bergen.\n")
    assert entries(said("c-2", "tea"), header="date") == [("c-2-0", "tea", None)]


def test_the_time_of_a_session_without_one_is_that_of_its_first_message():
    later = NOON + timedelta(hours=1)
    talk = Conversation("c-1", (Message("user", "tea", NOON), Message("user", "jam", later)))
    assert entries(talk, unit="session")[0][2] == NOON.isoformat()


def test_sessions_are_ranked_and_their_dates_can_be_asked_for(open_store):
    bm25 = open_store(FACTORY, unit="session", header="date")
    bm25.store_conversation(TALK)
    bm25.store_conversation(said("c-2", "I keep bees", "and geese", timestamp=NOON + timedelta(days=30)))
    assert found(bm25, "Where are the geese?", 1) == ["[2025-02-05] user: I keep bees\nuser: and geese"]
    assert found(bm25, "2025-01-06", 1)[0].startswith("[2025-01-06] ")
    assert bm25.describe()["unit"] == "session"


def test_the_default_describes_itself_as_before(open_store):
    assert set(open_store(FACTORY).describe()) == {"system", "sqlite"}


@pytest.mark.parametrize("factory", [FACTORY, HYBRID])
def test_sessions_keep_the_contract(factory):
    assert check_memory_system(factory, options={"unit": "session", "header": "date"}).failed == ()


def test_another_unit_is_one_line():
    with pytest.raises(UsageError, match=r"unit of bm25: got 'turn', expected message or session$"):
        FACTORY.check_options({"unit": "turn"})
    with pytest.raises(UsageError, match=r"unknown --memfail-system-option of bm25 'rate'.*Known: header, unit"):
        FACTORY.check_options({"rate": "0.3"})
