"""The ordinary tests of mymem's authors, which pass before and after the regression of the README."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from mymem import Draft, LLMSummariser, Memory, RuleSummariser
from openai import OpenAI

from pytest_memfail.testing import LocalEndpoint

LONG = "Ada keeps bees. They are black. She sells the honey. In May she moves to the coast with Bert. Then Ada rests."


@pytest.fixture
def memory(tmp_path):
    memory = Memory(tmp_path / "memory.sqlite")
    yield memory
    memory.close()


def texts(notes):
    return [note.text for note in notes]


def test_a_message_becomes_a_note_with_its_time(memory):
    memory.add("By the way, I'm allergic to  nuts.", datetime(2024, 5, 1, tzinfo=timezone.utc))
    (note,) = memory.all()
    assert note.text == "I'm allergic to nuts."
    assert note.said_at == "2024-05-01T00:00:00+00:00"


def test_mere_questions_are_not_noted(memory):
    memory.add("Which tree keeps its leaves longest? And why?")
    assert memory.all() == []


def test_a_long_message_becomes_passages_that_name_their_subject(memory):
    memory.add(LONG)
    assert texts(memory.all()) == [
        "Ada keeps bees. They are black. She sells the honey.",
        "In May she moves to the coast with Bert. Then Ada rests.",
    ]


def test_the_rarest_shared_words_find_a_note(memory):
    for text in ("I like tea.", "I like tea with Ada.", "I like coffee."):
        memory.add(text)
    assert texts(memory.search("Does Ada like anything?", 1)) == ["I like tea with Ada."]
    assert memory.search("the of and", 5) == []


def test_a_correction_replaces_what_it_is_about(memory):
    memory.add("The guest password is heronpond.")
    memory.add("I've changed the guest password. It's otterbank.")
    (note,) = memory.all()
    assert "otterbank" in note.text
    assert texts(memory.search("guest password", 5)) == [note.text]
    assert texts(memory.history(note)) == ["The guest password is heronpond."]


def test_without_words_of_a_correction_both_stay(memory):
    memory.add("I like pea soup.")
    memory.add("I like leek soup.")
    assert len(memory.all()) == 2


def test_a_backup_is_the_whole_memory(memory, tmp_path):
    memory.add("I like tea.")
    memory.backup(tmp_path / "backup.sqlite")
    other = Memory(tmp_path / "other.sqlite")
    other.add("Something else.")
    other.load(tmp_path / "backup.sqlite")
    assert texts(other.all()) == ["I like tea."]
    other.close()


@pytest.fixture
def summariser():
    """Return a summariser whose model is a local endpoint that answers by rule."""

    def answer(request):
        prompt = request["messages"][-1]["content"]
        if "nonsense" in prompt:
            return "I would rather not."
        text = prompt.rpartition("Message:\n")[2]
        return {"notes": [{"text": f"User says: {text}", "replaces": [1, 99] if "no longer" in text else []}]}

    with (
        LocalEndpoint(answer=answer) as endpoint,
        OpenAI(base_url=endpoint.url, api_key="none", max_retries=0) as client,
    ):
        yield LLMSummariser("small", client)


def test_a_model_notes_and_replaces_what_it_was_shown(summariser, tmp_path):
    memory = Memory(tmp_path / "memory.sqlite", summariser)
    memory.add("I swim at noon.")
    memory.add("I no longer swim at noon.")
    assert texts(memory.all()) == ["User says: I no longer swim at noon."]
    memory.close()


def test_a_reply_without_notes_is_an_error_not_a_lost_message(summariser):
    with pytest.raises(ValueError, match=r"the model small replied without notes: 'I would rather not\.'"):
        summariser.drafts("nonsense", [])


def test_the_summarisers_share_an_interface():
    assert RuleSummariser().drafts("I like tea.", []) == [Draft("I like tea.")]
