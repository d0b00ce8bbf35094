"""What can be plugged in: memory systems, judges and test-takers, as structural protocols.

Nothing here is inherited from. Every method may be sync or `async`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pytest_memfail.core.model import Conversation, Evidence, Listing, Memory, Question, Reply
from pytest_memfail.core.verdict import StageResult


@runtime_checkable
class MemorySystem(Protocol):
    """What is under test (paper, section 3.3). Nothing else is required.

    Returned memories may be strings, mappings (`text`, `memory` or `content`; optional `id`, `score`, `timestamp` or
    `created_at`, `metadata`) or objects with such attributes; in any order for the listing, best first for retrieval;
    fewer or more than k. A score that is not finite counts as none.

    What else a system may offer is found by the presence of the attribute:

    `flush()`
        called after the last conversation before questions are asked.
    `close()`
        called when its last question is answered.
    `snapshot(path)`, `restore(path)`
        write the whole store into an empty directory, and replace whatever is held by what such a directory holds; the
        store restored may have another `store_id`, and the directory is left as it is.
    `extracted_since(conversation)`
        what this conversation added.
    `concurrent_reads`, `concurrent_writes`: int
        how many calls at once are safe; reads default to 8 for async systems and 1 for sync ones, writes to 1.
        A sync system with `concurrent_reads` 1 is created, filled, asked and closed on one and the same thread.
    `concurrent_stores`: int
        how many stores of this kind may be open at once in one process; default 2, so that the next one is filled
        while this one is asked. 1 for systems with process-wide state.
    `idempotent`: bool
        True if storing a conversation again, also after a call that failed halfway, leaves nothing twice: then a failed
        `store_conversation` is simply called again. Otherwise it is retried only where `snapshot` and `restore` can undo it.
    `retries`: int
        how often a conversation that could not be stored is stored again where that is safe; default 2, with growing waits.
    `unlimited_k`: bool
        True if what is retrieved must not be cut to k (a full-context baseline).
    `loses_on_purpose`: bool
        True if what is stored need not come back (a floor, a system that fails on purpose): `check_memory_system` does not
        ask for it.
    `describe() -> Mapping[str, str]`
        version, internal model, embedding model: goes into the record's header.
    """

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store one conversation; the return value is ignored."""

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """The at most k memories most relevant to the query; `conversation` is the (empty) one it is asked in."""

    def get_all_memories(self) -> Any:
        """Every memory held, not a page of them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model wants to be called."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: JSON where it did well."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said, and the tools that it wants to be called."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class Chat(Protocol):
    """Asks a model for a memory system, so that the call is cached, counted and held to the budget as all others are."""

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, model: str = ""
    ) -> ChatReply:
        """The model's next turn; messages and tools as in OpenAI's chat completions. Without `model` that of the run is asked.

        Raises a `MemfailError` when there is no usable reply, also after retries.
        """


@dataclass(frozen=True, slots=True)
class SystemContext:
    """What a factory is told. Never gold, evidence or the name of the task."""

    run_id: str
    store_id: str
    """Unique within a run; also a valid collection, table or user name (`[A-Za-z0-9_.-]+`)."""
    path: Path
    """A private, empty directory: unique per store and process."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The user's own settings (`--memfail-system-option key=value`)."""
    clock: Callable[[], datetime] | None = None
    """Gives the time of the conversation being stored, for systems that stamp memories with the current time."""

    chat: Chat | None = None
    """Asks a model of the run's endpoint, for `async` systems; None where no model is named. See `SystemFactory`."""

    def render(self, conversation: Conversation) -> str:
        """The conversation as text with each message's role and time: for systems without a time input."""
        lines = []
        for message in conversation.messages:
            when = message.timestamp or conversation.timestamp
            stamp = f"[{when:%Y-%m-%d %H:%M}] " if when else ""
            lines.append(f"{stamp}{message.role}: {message.content}")
        return "\n".join(lines)


SystemFactory: TypeAlias = Callable[..., Any]
"""`factory(context) -> MemorySystem`, called once per store; without parameters it also serves.

A factory with a method `check_options(options)` is asked before anything is stored; it raises `UsageError`. One whose systems ask
models through `context.chat` has a method `models(options, default)` too: it names them, `default` being that of the run
(`--memfail-model`) or None, and raises `UsageError` where it lacks one.

One whose systems ask no model of any kind declares `calls_model = False` (an attribute of the function or class): storing then
costs nothing, and a run with `--memfail-limit` stores all conversations. It may be a method `calls_model(options)`, too.
"""


class Judge(Protocol):
    """Decides the stages of one fact. Each method may be sync or `async`.

    `warm(listing)` (optional) is called once before anything of a listing is judged.
    `inline: bool = True` (optional) says that the methods compute and never wait, so they need no thread of their own.
    Whatever a method raises makes the question an error, never a verdict.
    """

    def storage(self, evidence: Evidence, store: Listing) -> StageResult | Awaitable[StageResult]:
        """Is the fact in the store at all (permissive)?"""

    def summary(self, evidence: Evidence, store: Listing) -> StageResult | Awaitable[StageResult]:
        """Does the store keep what a right answer needs (faithful)?"""

    def retrieval(
        self, evidence: Evidence, question: Question, shown: Sequence[Memory]
    ) -> StageResult | Awaitable[StageResult]:
        """Can the fact be recovered from the memories shown?"""

    def answer(
        self, question: Question, evidence: Sequence[Evidence], reply: Reply | None
    ) -> StageResult | Awaitable[StageResult]:
        """Did the reply use the facts rightly? `ungraded` where there is no reply or no means to tell."""


class TestTaker(Protocol):
    """The model that answers from the retrieved memories."""

    __test__: bool = False  # not a test class, whatever its name

    def answer(self, question: Question, shown: Sequence[Memory]) -> Reply | Awaitable[Reply]:
        """Answer the question from the memories shown.

        A test-taker may also have `respond(conversation, history) -> str`: the assistant's next turn of a conversation that
        is being stored.
        """
