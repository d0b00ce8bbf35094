"""The checks of whole stores: isolation, snapshots, descriptions, closing, and errors."""

from __future__ import annotations

from collections import Counter

from pytest_memfail.core import one_line
from pytest_memfail.hosting import isolation_advice
from pytest_memfail.testing.contract.bench import Bench, BrokenError, NotApplicableError, Store
from pytest_memfail.testing.contract.samples import mark, numbered, query, saying, statement, without


async def isolation(bench: Bench) -> None:
    """Two stores share nothing."""
    first = await bench.open()
    await first.add(numbered(range(3)))
    if getattr(first.system, "concurrent_stores", 2) < 2:
        await first.close()
    second = await bench.open()
    await second.add(numbered(range(3, 6)))
    pairs = [(second, range(3), "the other store")]
    if first.is_open:
        pairs.append((first, range(3, 6), "a store made later"))
    for store, others, whose in pairs:
        memories = [*await store.listing(), *await store.retrieve(query(others[0]))]
        names = [mark(i) for i in others]
        if len(without(names, memories)) < len(names):
            shown = next(memory.text for memory in memories if len(without(names, [memory])) < len(names))
            raise BrokenError(
                f"a store shows {one_line(repr(shown), 60)} of {whose}, expected only its own: "
                f"{isolation_advice(store.system)}"
            )


async def forgetting(bench: Bench) -> None:
    """What `forget()` is called with is gone, and everything else stays."""
    store = await bench.open()
    if not store.offers("forget"):
        raise NotApplicableError("no forget()")
    await store.add(numbered(range(3)))
    await store.write("forget", statement(1))
    await store.flush()
    held = await store.listing()
    for what, memories in (("get_all_memories()", held), ("retrieve_memories()", await store.retrieve(query(1)))):
        if left := [memory.text for memory in memories if not without([mark(1)], [memory])]:
            store.blame_refusals("forget", f"{what} still gives what it was to forget")
            raise BrokenError(
                f"after forget({statement(1)!r}) {what} gives {one_line(repr(left[0]), 60)}, expected nothing of it: delete it from "
                "the store and from the index"
            )
    store.must_list([mark(0), mark(2)], held, "conversations that were not to be forgotten")


async def snapshot(bench: Bench) -> None:
    """A snapshot restored elsewhere equals the store, and stays complete."""
    first = await bench.open()
    if not first.offers("snapshot", "restore"):
        raise NotApplicableError("neither snapshot() nor restore()" if not first.offers("snapshot") else "no restore()")
    await first.add(numbered(range(3)))
    kept, found = await first.texts(), Counter(memory.text for memory in await first.retrieve(query(0)))
    folder = bench.folder("snapshot")
    await first.call("snapshot", folder)
    if not any(folder.iterdir()):
        raise BrokenError("snapshot(path) left the folder empty, expected the whole store in it: write it below path")
    await first.add(numbered([3]))
    await first.close()
    for attempt in ("a second store", "a third store, after the second has gone on"):
        store = await bench.open()
        await store.add(numbered([4]))
        await store.call("restore", folder)
        restored = await store.texts()
        if restored != kept:
            raise BrokenError(
                f"restored into {attempt}, get_all_memories() lists {restored.total()} entries, of which "
                f"{(restored & kept).total()} of the {kept.total()} at the snapshot: restore() must replace the content of the store "
                "by that of the snapshot, whatever the store_id, and leave the snapshot unchanged"
            )
        if Counter(memory.text for memory in await store.retrieve(query(0))) != found:
            raise BrokenError(
                f"restored into {attempt}, retrieve_memories() gives other entries than before, expected the same: restore "
                "the index as well"
            )
        await store.add(numbered([5]))
        store.must_list([mark(5)], await store.listing(), "a conversation after restore()")
        await store.close()


async def describe(bench: Bench) -> None:
    """Two stores with the same settings have the same description."""
    first = await bench.open()
    if not first.offers("describe"):
        raise NotApplicableError("no describe()")
    said = await first.describe()
    await first.add(numbered([0]))
    again = await first.describe()
    await first.close()
    other = await (await bench.open()).describe()
    for later, when in ((again, "after a conversation"), (other, "in another store")):
        if changed := [key for key in {**said, **later} if said.get(key) != later.get(key)]:
            key = changed[0]
            raise BrokenError(
                f"describe() says {key}={one_line(repr(later.get(key)), 40)} {when}, and {one_line(repr(said.get(key)), 40)} "
                "before; expected the same: name versions, models and settings, no paths, counts or times"
            )


async def close(bench: Bench) -> None:
    """Closing twice raises no error."""
    store = await bench.open()
    if not store.offers("close"):
        raise NotApplicableError("no close()")
    await store.add(numbered([0]))
    await store.call("close")
    try:
        await store.call("close")
    except Exception as error:
        raise BrokenError(
            f"the second {one_line(error, 200)}; expected nothing to happen: remember that it is closed"
        ) from error


async def errors(bench: Bench) -> None:
    """Errors are ordinary exceptions with a message."""
    store = await bench.open()
    await store.add(numbered([0]))
    await _ordinary(store, "retrieve_memories() of an empty query", "retrieve_memories", "", saying("q"), 5)
    if store.offers("restore"):
        nothing = bench.folder("nothing")
        if not await _ordinary(store, "restore() of an empty folder", "restore", nothing):
            raise BrokenError(
                "restore() of an empty folder raised nothing, expected an error: a store that is silently empty would be judged"
            )
    if store.offers("close"):
        await store.call("close")
        await _ordinary(store, "retrieve_memories() after close()", "retrieve_memories", query(0), saying("q"), 5)


async def _ordinary(store: Store, what: str, method: str, *args: object) -> bool:
    """Return whether the call raised. Fail if it raised anything but an `Exception` with a message."""
    try:
        await store.call(method, *args)
    except Exception as error:
        cause = error.__cause__ or error
        if not isinstance(cause, Exception) or isinstance(cause, StopIteration):
            raise BrokenError(
                f"{what} raised {type(cause).__name__}, expected an ordinary exception: it would end the run, not the question"
            ) from error
        if not str(cause).strip():
            raise BrokenError(
                f"{what} raised {type(cause).__name__} without a message, expected one line that says what is wrong"
            ) from error
        return True
    return False
