"""Systems that fail on purpose, at a given rate, reproducibly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import Conversation, Message, SystemContext, UsageError
from pytest_memfail.systems import built_in_system
from pytest_memfail.systems.failing import Failing, Forgetful, Lossy, Misdirected, careless_summary

NOWHERE = Conversation("q", ())
TEXTS = [f"On day {i}, Ada bakes {i} loaves only when it rains. She likes bread." for i in range(200)]


def said(text):
    return Conversation(f"c-{text}", (Message("user", text),))


class Recorder:
    """Records the calls it gets; ranks in storage order."""

    concurrent_reads = 4
    unlimited_k = False

    def __init__(self, context: SystemContext | None = None) -> None:
        self.context = context
        self.texts: list[str] = []
        self.closed = False

    def store_conversation(self, conversation: Conversation) -> str:
        self.texts.append(conversation.text)
        return "stored"

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        return self.texts[:k]

    def get_all_memories(self) -> list[str]:
        return list(self.texts)

    def close(self) -> None:
        self.closed = True


def made(name, options=None, inner=Recorder):
    """Return a failing system around a recorder, created as the plugin does."""
    return built_in_system(name, lambda _: inner)(SystemContext("run", "store", Path(), options or {}))


def kept(name, rate, seed=0, texts=TEXTS):
    """Return the texts that arrived unchanged."""
    system = made(name, {"rate": str(rate), "seed": str(seed)})
    for text in texts:
        system.store_conversation(said(text))
    return set(system.get_all_memories()) & set(texts)


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_at_rate_0_nothing_fails(name):
    assert kept(name, 0) == set(TEXTS)


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_at_rate_1_everything_fails(name):
    assert kept(name, 1) == set()


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_without_options_everything_fails(name):
    system = made(name)
    for text in TEXTS:
        system.store_conversation(said(text))
    assert set(system.get_all_memories()) & set(TEXTS) == set()


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_at_rate_one_half_about_half_fails(name):
    assert 70 < len(kept(name, 0.5)) < 130


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_the_same_seed_fails_on_the_same_texts_in_any_order(name):
    assert kept(name, 0.5, texts=TEXTS[::-1]) == kept(name, 0.5)


@pytest.mark.parametrize("name", ["forgetful", "lossy"])
def test_another_seed_fails_on_others(name):
    assert kept(name, 0.5, seed=1) != kept(name, 0.5, seed=0)


def test_a_higher_rate_fails_on_all_that_a_lower_one_fails_on():
    assert kept("forgetful", 0.7) < kept("forgetful", 0.3)


def test_forgetful_and_lossy_of_one_seed_fail_on_the_same_texts():
    assert kept("forgetful", 0.5) == kept("lossy", 0.5)


def test_lossy_keeps_an_entry_for_every_conversation():
    system = made("lossy")
    for text in TEXTS[:10]:
        system.store_conversation(said(text))
    assert system.get_all_memories() == [careless_summary(text) for text in TEXTS[:10]]


def test_lossy_keeps_roles_times_and_the_conversations_id():
    seen = []

    class Keeping(Recorder):
        def store_conversation(self, conversation):
            seen.append(conversation)

    message = Message("assistant", TEXTS[0])
    made("lossy", inner=Keeping).store_conversation(Conversation("c-7", (message,)))
    assert (seen[0].id, seen[0].messages[0].role) == ("c-7", "assistant")


def ranked(rate, query="q", n=20, k=5, inner=Recorder):
    system = made("misdirected", {"rate": str(rate)}, inner)
    for i in range(n):
        system.store_conversation(said(f"{i}"))
    return system.retrieve_memories(query, NOWHERE, k)


def test_misdirected_shows_the_least_relevant_worst_first():
    assert ranked(1) == ["19", "18", "17", "16", "15"]


@pytest.mark.parametrize("n", range(12))
def test_misdirected_never_shows_the_most_relevant_entry(n):
    assert "0" not in ranked(1, n=n)


def test_misdirected_finds_nothing_where_all_would_have_been_shown():
    assert ranked(1, n=5, k=5) == []


def test_misdirected_at_rate_0_ranks_rightly():
    assert ranked(0) == ["0", "1", "2", "3", "4"]


def test_misdirected_at_rate_one_half_fails_on_about_half_of_the_queries():
    right = [query for query in TEXTS if ranked(0.5, query, n=12)[0] == "0"]
    assert 70 < len(right) < 130
    assert right == [query for query in TEXTS if ranked(0.5, query, n=12)[0] == "0"]


def test_misdirected_stores_everything():
    system = made("misdirected")
    system.store_conversation(said("a"))
    assert system.get_all_memories() == ["a"]


def test_misdirected_wraps_async_systems_too():
    class Async(Recorder):
        async def retrieve_memories(self, query, conversation, k):
            return self.texts[:k]

    assert asyncio.run(_awaited(ranked(1, inner=Async))) == ["19", "18", "17", "16", "15"]
    assert asyncio.run(_awaited(ranked(0, inner=Async))) == ["0", "1", "2", "3", "4"]


async def _awaited(value):
    return await value


@pytest.mark.parametrize("name", ["forgetful", "lossy", "misdirected"])
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"rate": "2"}, "rate: got 2, expected a share between 0 and 1"),
        ({"rate": "-0.1"}, "rate: got -0.1, expected"),
        ({"rate": "nan"}, "rate: got nan, expected"),
        ({"rate": "half"}, "rate: got 'half', expected a number"),
        ({"rate": ""}, "rate: got '', expected a number"),
        ({"seed": "one"}, "seed: got 'one', expected"),
        ({"seed": "inf"}, "seed: got 'inf', expected"),
        ({"seed": "nan"}, "seed: got 'nan', expected"),
        ({"seed": "1.5"}, "seed: got '1.5', expected"),
    ],
)
def test_an_option_out_of_range_is_named_when_checked_and_when_made(name, options, problem):
    factory = built_in_system(name, lambda _: Recorder)
    for refuse in (
        lambda: factory.check_options(options),
        lambda: factory(SystemContext("run", "store", Path(), options)),
    ):
        with pytest.raises(UsageError) as caught:
            refuse()
        assert f"--memfail-system-option {problem}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_sound_options_pass_the_check():
    built_in_system("lossy", lambda _: Recorder).check_options({"rate": "0.5", "seed": "3", "inner": "x", "other": "y"})


def test_an_unknown_inner_system_is_found_by_the_check():
    def make(name):
        raise UsageError(f"unknown system {name!r}")

    with pytest.raises(UsageError, match="unknown system 'nothing'"):
        built_in_system("lossy", make).check_options({"inner": "nothing"})


@pytest.mark.parametrize(("options", "inner"), [({}, "bm25"), ({"inner": "full-context"}, "full-context")])
def test_the_inner_system_is_resolved_by_name(options, inner):
    asked = []

    def make(name):
        asked.append(name)
        return Recorder

    built_in_system("forgetful", make)(SystemContext("run", "store", Path(), options))
    assert asked == [inner]


def test_the_other_options_go_to_the_inner_system():
    system = made("lossy", {"rate": "0.5", "seed": "1", "inner": "x", "url": "here", "size": "3"})
    assert system.context.options == {"url": "here", "size": "3"}
    assert (system.context.run_id, system.context.store_id) == ("run", "store")


def test_what_the_inner_system_offers_is_offered():
    system = made("forgetful")
    assert (system.concurrent_reads, system.unlimited_k) == (4, False)
    system.close()
    assert system.closed


@pytest.mark.parametrize("name", ["flush", "snapshot", "restore", "concurrent_writes"])
def test_what_the_inner_system_lacks_is_not_offered(name):
    assert not hasattr(made("forgetful"), name)


def test_the_return_value_of_the_inner_system_is_passed_on():
    assert made("lossy").store_conversation(said("a")) == "stored"


def test_a_half_made_wrapper_does_not_recurse():
    with pytest.raises(AttributeError):
        _ = Failing.__new__(Failing)._inner


def test_a_wrapper_describes_itself_and_what_it_wraps():
    class Described(Recorder):
        def describe(self):
            return {"system": "recorder"}

    assert made("lossy", {"rate": "0.5", "seed": "3"}, Described).describe() == {
        "system": "recorder",
        "wrapper": "lossy",
        "rate": "0.5",
        "seed": "3",
    }
    assert made("lossy").describe()["wrapper"] == "lossy"


def test_hostile_texts_do_not_break_the_choice():
    for kind in (Forgetful, Lossy, Misdirected):
        system = kind(Recorder(), 0.5, 0)
        for text in ("\ud800", "", "a\0b", "🍎"):
            system.store_conversation(said(text))
            system.retrieve_memories(text, NOWHERE, 5)


@pytest.mark.parametrize(
    ("text", "kept_words", "lost_words"),
    [
        ("Ada bakes rye bread only when it rains. She owns an oven.", ["rye bread", "oven"], ["rain", "only"]),
        ("Unless it snows, Boris shovels the drive. He owns a shovel.", ["shovels the drive"], ["unless", "snow"]),
        ("She paints the fence after 5 pm. The fence is very long.", ["paints the fence"], ["5", "pm", "after"]),
        ("She owns 3 ovens made of clay. He owns twelve goats too.", ["ovens", "goats"], ["3", "twelve"]),
        ("Every day she phones Margarethe Olsen. They talk a lot.", ["phones"], ["Margarethe", "Olsen"]),
        ("Rain makes me bake rye bread.", ["rye bread", "Rain"], ["makes"]),
    ],
)
def test_a_careless_summary_keeps_the_gist_and_loses_the_details(text, kept_words, lost_words):
    summary = careless_summary(text).casefold()
    assert [word for word in kept_words if word.casefold() not in summary] == []
    assert [word for word in lost_words if word.casefold() in summary.replace(".", " ").split()] == []
    assert not any(word.casefold() in summary for word in lost_words if len(word) > 2)


def test_a_careless_summary_of_a_single_statement_no_longer_says_what_leads_to_what():
    forth, back = careless_summary("Tea gives me jitters."), careless_summary("Jitters give me tea.")
    assert forth.casefold() == back.casefold()


@pytest.mark.parametrize("text", ["", "   ", "5.", "...", "\n"])
def test_a_careless_summary_of_nothing_is_nothing(text):
    assert careless_summary(text).strip(" .") == ""


def test_a_careless_summary_is_never_longer():
    for text in TEXTS:
        assert len(careless_summary(text)) < len(text)


def test_an_unknown_option_is_refused_with_the_known_ones():
    factory = built_in_system("lossy", lambda _: built_in_system("bm25", lambda _: None))
    with pytest.raises(UsageError, match=r"^unknown --memfail-system-option of lossy 'rat'; did you mean 'rate'\?"):
        factory.check_options({"rat": "0.5"})
    hybrid = built_in_system("lossy", lambda _: built_in_system("sqlite-hybrid", lambda _: None))
    with pytest.raises(UsageError, match="Known: embeddings, header, inner, rate, seed, unit"):
        hybrid.check_options({"embedding": "ngrams"})
    hybrid.check_options({"embeddings": "ngrams", "rate": "0.5"})
