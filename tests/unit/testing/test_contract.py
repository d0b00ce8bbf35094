"""The contract kit: valid systems pass, and each check finds its fault."""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from datetime import datetime, timezone

import pytest

from pytest_memfail.core import UnknownNameError, UsageError
from pytest_memfail.systems import BUILT_IN, built_in_system
from pytest_memfail.testing import ContractError, check_memory_system
from pytest_memfail.testing.contract.checks import CHECKS

NAMES = [check.name for check in CHECKS]


class Sound:
    """Fulfils the whole contract."""

    concurrent_reads = 4
    concurrent_writes = 4
    idempotent = True

    def __init__(self, context):
        self.context = context
        self.notes = []
        self.lock = threading.Lock()

    def store_conversation(self, conversation):
        for message in conversation.messages:
            if message.content:
                when = message.timestamp or conversation.timestamp
                note = {"text": message.content, "timestamp": when and when.isoformat()}
                with self.lock:
                    if note not in self.notes:
                        self.notes.append(note)

    def ranked(self, query):
        words = set(query.lower().replace("?", "").split())
        return sorted(self.notes, key=lambda note: -len(words & set(note["text"].lower().replace(".", "").split())))

    def retrieve_memories(self, query, conversation, k):
        return self.ranked(query)[:k]

    def get_all_memories(self):
        return list(self.notes)

    def forget(self, text):
        self.notes = [note for note in self.notes if text not in note["text"]]

    def snapshot(self, path):
        (path / "notes.json").write_text(json.dumps(self.notes), encoding="utf-8")

    def restore(self, path):
        self.notes = json.loads((path / "notes.json").read_text(encoding="utf-8"))

    def describe(self):
        return {"version": "1"}

    def close(self):
        pass


class AsyncSound(Sound):
    """The same, bound to the event loop that created it."""

    def __init__(self, context):
        super().__init__(context)
        self.loop = None

    async def store_conversation(self, conversation):
        self.loop = self.loop or asyncio.get_running_loop()
        assert self.loop is asyncio.get_running_loop()
        super().store_conversation(conversation)

    async def retrieve_memories(self, query, conversation, k):
        assert self.loop in (None, asyncio.get_running_loop())
        return super().retrieve_memories(query, conversation, k)


class Buffered(Sound):
    """Stores only on flush."""

    def __init__(self, context):
        super().__init__(context)
        self.waiting = []

    def store_conversation(self, conversation):
        self.waiting.append(conversation)

    def flush(self):
        while self.waiting:
            super().store_conversation(self.waiting.pop(0))


class OneAtATime(Sound):
    """Allows one open store per process."""

    concurrent_stores = 1
    open_now = 0

    def __init__(self, context):
        super().__init__(context)
        if OneAtATime.open_now:
            raise RuntimeError("another store is open")
        OneAtATime.open_now = 1

    def close(self):
        OneAtATime.open_now = 0


class Small:
    """The three methods and nothing else."""

    def __init__(self):
        self.notes = []

    def store_conversation(self, conversation):
        self.notes += [message.content for message in conversation.messages]

    def retrieve_memories(self, query, conversation, k):
        return [note for note in self.notes if query.split()[-1:] and query.split()[-1].strip("?") in note][:k]

    def get_all_memories(self):
        return tuple(self.notes)


def factory_of(name):
    return built_in_system(name, factory_of)


@pytest.mark.parametrize(
    "name", [name for name in BUILT_IN if name not in ("md-file", "memory-tool", "dense", "gold-facts")]
)  # these need a model, or a run's rows
def test_every_built_in_system_passes(name):
    report = check_memory_system(factory_of(name))
    assert [result.name for result in report.results] == NAMES
    assert report.failed == ()


@pytest.mark.parametrize("kind", [Sound, AsyncSound, Buffered, OneAtATime, Small])
def test_sound_systems_pass(kind):
    assert check_memory_system(kind).failed == ()


def test_all_checks_apply_to_a_system_that_offers_everything():
    assert {result.outcome for result in check_memory_system(Sound).results} == {"passed"}


def test_what_is_not_offered_is_skipped_with_the_reason():
    skipped = {r.name: r.reason for r in check_memory_system(Small).results if r.outcome == "skipped"}
    assert skipped == {
        "concurrent-reads": "one retrieval at a time (concurrent_reads is 1)",
        "concurrent-writes": "one conversation is stored at a time (concurrent_writes is 1)",
        "idempotent": "a conversation stored again may be there twice (idempotent is not declared)",
        "forgetting": "no forget()",
        "snapshot": "neither snapshot() nor restore()",
        "describe": "no describe()",
        "close": "no close()",
    }


class NoMethod:
    store_conversation = retrieve_memories = Sound.store_conversation


class WrongDeclaration(Sound):
    concurrent_reads = 0


class NotEmpty(Sound):
    def __init__(self, context):
        super().__init__(context)
        self.notes = [{"text": "left over"}]


class ForgetsToFlush(Buffered):
    flush = None


class RetrievesNothing(Sound):
    def retrieve_memories(self, query, conversation, k):
        return []


class WrongType(Sound):
    def get_all_memories(self):
        return {"results": self.notes}


class Page(Sound):
    def get_all_memories(self):
        return self.notes[:20]


class ListsSomethingElse(Sound):
    def retrieve_memories(self, query, conversation, k):
        return ["a thought that nobody has stored"]


class Newest(Sound):
    def retrieve_memories(self, query, conversation, k):
        return self.notes[-k:]


class IgnoresK(Sound):
    def retrieve_memories(self, query, conversation, k):
        return self.ranked(query)[:5]


class WritesOnRead(Sound):
    def retrieve_memories(self, query, conversation, k):
        self.notes.append({"text": f"asked: {query}"})
        return self.ranked(query)[:k]


class SharedCursor(AsyncSound):
    """Declares concurrent reads, but keeps the query in shared state."""

    async def retrieve_memories(self, query, conversation, k):
        self.query = query
        await asyncio.sleep(0)
        return self.ranked(self.query)[:k]


class LosesParallelWrites(AsyncSound):
    async def store_conversation(self, conversation):
        before = list(self.notes)
        await asyncio.sleep(0)
        self.notes = [*before, *({"text": message.content} for message in conversation.messages)]


class ForgetsNothing(Sound):
    def forget(self, text):
        pass


class ForgetsAll(Sound):
    def forget(self, text):
        self.notes = []


class OneForAll(Sound):
    """Keeps everything in the class."""

    everything: list = []  # noqa: RUF012

    def __init__(self, context):
        super().__init__(context)
        if context.store_id == "check-1":
            OneForAll.everything = []
        self.notes = OneForAll.everything


class OnlyUsers(Sound):
    def store_conversation(self, conversation):
        if any(message.role != "user" for message in conversation.messages):
            raise ValueError("role must be user")
        super().store_conversation(conversation)


class NeedsMessages(Sound):
    def store_conversation(self, conversation):
        conversation.messages[0]
        super().store_conversation(conversation)


class NeedsTime(Sound):
    def store_conversation(self, conversation):
        conversation.timestamp.isoformat()
        super().store_conversation(conversation)


class StampsNow(Sound):
    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        for note in self.notes:
            note["timestamp"] = datetime.now(timezone.utc)


class StampsNumbers(Sound):
    def get_all_memories(self):
        times = (note["timestamp"] and datetime.fromisoformat(note["timestamp"]) for note in self.notes)
        return [
            {**note, "timestamp": when and f"{when:%m/%d/%Y %I:%M %p}"}
            for note, when in zip(self.notes, times, strict=True)
        ]


class Ascii(Sound):
    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        for note in self.notes:
            note["text"] = note["text"].encode("ascii", "ignore").decode()


class Limited(Sound):
    def store_conversation(self, conversation):
        if len(conversation.text) > 8_000:
            raise ValueError("maximum context length is 8192 tokens")
        super().store_conversation(conversation)


class DropsLong(Sound):
    def store_conversation(self, conversation):
        if len(conversation.text) < 8_000:
            super().store_conversation(conversation)


class SnapshotOfNothing(Sound):
    def snapshot(self, path):
        pass


class RestoreAdds(Sound):
    def restore(self, path):
        self.notes += json.loads((path / "notes.json").read_text(encoding="utf-8"))


class RestoreMoves(Sound):
    def restore(self, path):
        super().restore(path)
        (path / "notes.json").unlink()


class RestoreByName(Sound):
    """Its snapshots can be read only by the store that made them."""

    def snapshot(self, path):
        (path / f"{self.context.store_id}.json").write_text(json.dumps(self.notes), encoding="utf-8")

    def restore(self, path):
        file = path / f"{self.context.store_id}.json"
        self.notes = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


class DescribesItsPath(Sound):
    def describe(self):
        return {"path": str(self.context.path)}


class DescribesItsCount(Sound):
    def describe(self):
        return {"entries": len(self.notes)}


class ClosesOnce(Sound):
    closed = False

    def close(self):
        if self.closed:
            raise RuntimeError("already closed")
        self.closed = True


class ExitsAfterClose(Sound):
    closed = False

    def close(self):
        self.closed = True

    def retrieve_memories(self, query, conversation, k):
        if self.closed:
            raise SystemExit("no connection")
        return super().retrieve_memories(query, conversation, k)


class SaysIdempotent(Sound):
    def store_conversation(self, conversation):
        self.notes += [{"text": message.content} for message in conversation.messages]


class SilentError(Sound):
    def retrieve_memories(self, query, conversation, k):
        if not query:
            raise ValueError
        return super().retrieve_memories(query, conversation, k)


class RestoresNothing(Sound):
    def restore(self, path):
        file = path / "notes.json"
        self.notes = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


@pytest.mark.parametrize(
    ("check", "kind", "reason"),
    [
        ("methods", NoMethod, "which has no get_all_memories(); expected a memory system"),
        ("methods", WrongDeclaration, "concurrent_reads is 0; expected a whole number of at least 1"),
        ("empty", NotEmpty, "a fresh store lists 1 entry ('left over'), expected none"),
        ("round-trip", ForgetsToFlush, "lists 0 entries, and none names Belford, Corford, Dunford"),
        ("round-trip", RetrievesNothing, "gives 0 entries of 3, and none names Belford"),
        ("round-trip", WrongType, "get_all_memories() returned dict"),
        ("listing", Page, "lists 20 entries, 10 conversations in none of them (Belmere, Cormere, Dunmere, ...)"),
        ("listing", ListsSomethingElse, "which is not among the 30 entries"),
        ("search", Newest, "10 different queries all give the same 5 of 30 entries"),
        ("k", IgnoresK, "retrieve_memories(k=1) gives 5 entries, expected at most 1"),
        ("reading", WritesOnRead, "5 new entries and 0 fewer"),
        ("concurrent-reads", SharedCursor, "with 4 retrievals at once"),
        ("concurrent-writes", LosesParallelWrites, "of 16 conversations stored 4 at once, 12 are in none"),
        ("idempotent", SaysIdempotent, "stored again, a conversation leaves 4 entries where 3 were"),
        ("isolation", OneForAll, "of the other store, expected only its own"),
        (
            "forgetting",
            ForgetsNothing,
            "get_all_memories() gives 'I keep my grey coat in Corford.', expected nothing of it",
        ),
        (
            "forgetting",
            ForgetsAll,
            "conversations that were not to be forgotten: Belford, Dunford in none of 0 entries listed",
        ),
        ("turns", OnlyUsers, "raised ValueError: role must be user; expected no error"),
        ("turns", NeedsMessages, "raised IndexError"),
        ("timestamps", NeedsTime, "raised AttributeError"),
        ("timestamps", StampsNow, "expected the message's, to the day"),
        (
            "timestamps",
            StampsNumbers,
            "timestamps like '03/04/2019 05:30 PM' cannot be read and count as no time: give ISO",
        ),
        ("unicode", Ascii, "東京"),
        ("long-texts", Limited, "maximum context length"),
        ("long-texts", DropsLong, "of a message of 100000 characters nothing is in the 1 entry listed"),
        ("snapshot", SnapshotOfNothing, "left the folder empty"),
        ("snapshot", RestoreAdds, "lists 4 entries, of which 3 of the 3"),
        ("snapshot", RestoreMoves, "restore() raised FileNotFoundError"),
        ("snapshot", RestoreByName, "lists 0 entries, of which 0 of the 3"),
        ("describe", DescribesItsPath, "in another store"),
        ("describe", DescribesItsCount, "entries='1' after a conversation, and '0' before"),
        ("close", ClosesOnce, "the second close() raised RuntimeError: already closed"),
        ("errors", ExitsAfterClose, "after close() raised SystemExit, expected an ordinary exception"),
        ("errors", SilentError, "raised ValueError without a message"),
        ("errors", RestoresNothing, "restore() of an empty folder raised nothing"),
    ],
)
def test_a_check_finds_the_fault_it_is_there_for(check, kind, reason):
    (result,) = check_memory_system(kind, checks=check, raises=False).results
    assert result.outcome == "failed"
    assert reason in result.reason
    assert "\n" not in result.reason


def test_every_check_is_shown_to_fail():
    marks = test_a_check_finds_the_fault_it_is_there_for.pytestmark
    assert {case[0] for case in marks[0].args[1]} == set(NAMES)


def test_a_failure_raises_with_the_table():
    with pytest.raises(ContractError, match="fails listing") as caught:
        check_memory_system(Page)
    assert "failed   listing" in str(caught.value)
    assert str(caught.value).endswith("19 passed, 1 failed, 0 skipped")
    assert all(len(line) <= 100 for line in str(caught.value).splitlines())


def test_a_factory_that_fails_leaves_the_other_checks_out():
    def broken():
        raise OSError("no such database")

    report = check_memory_system(broken, raises=False)
    assert report.outcome("methods") == "failed"
    assert "the factory raised OSError: no such database" in report.failed[0].reason
    assert {result.outcome for result in report.results[1:]} == {"skipped"}


def test_a_warning_that_is_an_error_is_named_as_one_with_the_remedy():
    def outdated():
        warnings.warn("connect() is deprecated", DeprecationWarning, stacklevel=2)

    reason = check_memory_system(outdated, raises=False).failed[0].reason
    assert (
        "the factory raised DeprecationWarning: connect() is deprecated (a warning that filterwarnings turns into"
        in reason
    )
    assert "pytest -W default" in reason


def test_a_store_that_takes_nothing_is_one_failure_and_the_other_checks_share_a_row():
    class Refuses(Sound):
        def store_conversation(self, conversation):
            raise OSError("the key is wrong")

    report = check_memory_system(Refuses, raises=False)
    assert [result.name for result in report.failed] == ["round-trip"]
    lines = str(report).splitlines()
    assert str(report).count("the key is wrong") == 1
    assert next(line for line in lines if line.startswith("skipped")).startswith(
        "skipped  listing, search, k, reading, "
    )
    assert lines[-2:] == [
        "    not tried after the error of round-trip, which the others would repeat",
        "2 passed, 1 failed, 17 skipped",
    ]


def test_a_shared_store_that_cannot_be_filled_fails_one_check_and_leaves_the_others_out():
    class Full(Sound):
        def store_conversation(self, conversation):
            if len(self.notes) > 20:
                raise OSError("the disk is full")
            super().store_conversation(conversation)

    report = check_memory_system(Full, checks="listing,k,reading,close", raises=False)
    assert [result.outcome for result in report.results] == ["failed", "skipped", "skipped", "passed"]
    assert "the disk is full" in report.results[0].reason


def test_a_call_that_hangs_fails_its_check_and_the_others_go_on():
    release = threading.Event()

    class Hangs(Sound):
        def retrieve_memories(self, query, conversation, k):
            if k == 3:
                release.wait()
            return super().retrieve_memories(query, conversation, k)

    try:
        report = check_memory_system(Hangs, checks="k,reading", raises=False, timeout_seconds=0.5)
    finally:
        release.set()
    assert [result.outcome for result in report.results] == ["failed", "passed"]
    assert "no end after 0.5 seconds" in report.results[0].reason


def test_a_system_that_loses_on_purpose_is_not_asked_for_what_it_lost():
    class Floor(RetrievesNothing):
        loses_on_purpose = True

        def store_conversation(self, conversation):
            pass

    assert check_memory_system(Floor).failed == ()


def test_options_reach_the_factory_and_its_own_check_of_them():
    seen = []
    check_memory_system(
        lambda context: seen.append(context.options) or Sound(context), options={"a": "b"}, checks="methods"
    )
    assert seen == [{"a": "b"}]
    with pytest.raises(UsageError, match="rate: got 2, expected a share"):
        check_memory_system(factory_of("lossy"), options={"rate": "2"})


def test_an_unknown_check_is_refused_with_the_closest_one():
    with pytest.raises(UnknownNameError, match="did you mean 'listing'"):
        check_memory_system(Sound, checks="listings")


def test_it_can_be_called_in_a_running_loop():
    async def main():
        return check_memory_system(AsyncSound, checks="round-trip")

    assert asyncio.run(main()).outcome("round-trip") == "passed"


@pytest.mark.parametrize("check", ["round-trip", "listing", "unicode"])
def test_writes_that_look_refused_are_blamed_for_what_is_missing(check):
    class Refusing(Sound):
        asked = 0

        def store_conversation(self, conversation):
            self.asked += 1
            return super().store_conversation(conversation) if self.asked % 2 else "Error: database is locked"

    with pytest.raises(ContractError, match=r"looks like a\s+refusal\s+\('Error:\s+database\s+is\s+locked'\)"):
        check_memory_system(Refusing, checks=check)


def test_a_refused_request_to_forget_is_blamed():
    class Unforgetting(Sound):
        def forget(self, text):
            return {"success": False, "error": "not permitted"}

    with pytest.raises(ContractError) as caught:
        check_memory_system(Unforgetting, checks="forgetting")
    assert (
        "get_all_memories() still gives what it was to forget, and 1 call of forget() answered with what looks like a refusal "
        "({'success': False, 'error': 'not permitted'}): raise an exception in forget(), or return None if nothing failed"
    ) in " ".join(str(caught.value).split())


def timed(form):
    """A sound system that lists its times in a form."""

    class Timed(Sound):
        def get_all_memories(self):
            return [
                {**note, "timestamp": note["timestamp"] and form(datetime.fromisoformat(note["timestamp"]))}
                for note in self.notes
            ]

    return check_memory_system(Timed, checks="timestamps", raises=False).outcome("timestamps")


@pytest.mark.parametrize(
    "form",
    [
        lambda when: when.date().isoformat(),
        lambda when: when.timestamp(),
        lambda when: when.astimezone(timezone.utc).isoformat(),
        lambda when: f"{when:%d %B %Y}",
        lambda when: f"{when:%A, %B %d, %Y at %I:%M %p}",
        lambda when: f"{when:%Y/%m/%d (%a) %H:%M}",
        lambda when: None,
        lambda when: "",
        lambda when: "None",
    ],
)
def test_a_time_may_have_any_form_that_names_the_day(form):
    assert timed(form) == "passed"


@pytest.mark.parametrize(
    "form",
    [
        lambda when: f"{when:%Y}",
        lambda when: f"{when:%Y-%m}",
        lambda when: f"{when:%B %Y}",
        lambda when: "1970-01-01T00:00:00+00:00",
        lambda when: 0,
        lambda when: when.replace(year=when.year + 1).isoformat(),
        lambda when: "some time ago",
    ],
)
def test_a_time_that_names_another_day_or_none_is_a_fault(form):
    assert timed(form) == "failed"


def test_a_search_that_declares_other_texts_need_not_return_what_is_listed():
    class Summarises(ListsSomethingElse):
        search_rewrites = True

    assert check_memory_system(Summarises, checks="listing", raises=False).failed == ()


def test_a_system_that_stops_the_loop_is_checked_to_the_end():
    class Stopping(Sound):
        async def store_conversation(self, conversation):
            asyncio.get_running_loop().stop()
            super().store_conversation(conversation)

    assert check_memory_system(Stopping, checks="round-trip,empty").failed == ()
