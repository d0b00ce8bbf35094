"""The plug-in points as structural protocols: memory systems, judges and test-takers.

No base class is needed. Every method may be sync or `async`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pytest_memfail.core.model import Conversation, Fact, Listing, Memory, Question, Reply
from pytest_memfail.core.verdict import StageResult


@runtime_checkable
class MemorySystem(Protocol):
    """The system under test (paper, section 3.3). Only the three methods are required.

    Memories may be returned as strings, mappings (`text`, `memory` or `content`; optional `id`, `score`, `timestamp` or
    `created_at`, `metadata`) or objects with such attributes. A listing has any order, retrieval returns the best
    first; it may return fewer or more than k. A score that is not finite is ignored. The engine detects these optional
    attributes:

    `flush()`
        called after the last conversation, before questions are asked.
    `settled() -> bool`
        for a system that stores in the background: called after the last conversation, again and again until it returns
        True. Questions are asked then. It takes an error to return False longer than a call may take.
    `forget(text)`
        delete what it holds of this text, for a user who asks to forget it. Its reply is read as that of
        `store_conversation`. A system without it stores that request as a conversation.
    `close()`
        called after its last question is answered.
    `snapshot(path)`, `restore(path)`
        write the whole store into an empty directory, and replace the current content by that of such a directory. A
        restored store may have another `store_id`. `restore` leaves the directory unchanged.
    `extracted_since(conversation)`
        return the memories that this conversation, which was stored last, added. Called after each conversation, and
        after the flush for the last one: a fact among them was stored at some time, even if a later conversation
        replaced it. Without it they are read from the change of the listing.
    `concurrent_reads`, `concurrent_writes`: int
        the number of calls that are safe at once. Reads default to 8 for async systems and 1 for sync ones, writes to
        1. A sync system with `concurrent_reads` 1 is created, filled, asked and closed on the same thread.
    `concurrent_stores`: int
        the number of stores of this kind that may be open at once in one process; default 2, so that the next store is
        filled while this one is asked. Use 1 for systems with process-wide state.
    `idempotent`: bool
        True if storing a conversation again duplicates nothing, even after a call that failed halfway. A failed
        `store_conversation` is then called again. Otherwise it is retried only if `snapshot` and `restore` can undo it.
    `retries`: int
        the maximum number of retries of a failed conversation, if retrying is safe; default 2, with growing waits.
    `unlimited_k`: bool
        True if retrieved memories must not be cut to k (a full-context baseline).
    `oldest_first`: bool
        True if retrieved memories come in the order of storing; a token limit (`--memfail-shown-tokens`) then drops the oldest.
    `remote`: bool
        True if the stores live at one server, kept apart by an id: each store is then asked for a text of another one.
    `search_rewrites`: bool
        True if retrieved entries have other texts than those listed (summaries, joined entries). Otherwise an entry that
        the listing holds neither by id nor by most of its words is an error: it may be of another store.
    `loses_on_purpose`: bool
        True if stored information need not come back (a floor, a system that fails on purpose); `check_memory_system`
        then does not require it, and a run in which every listing is empty is not distrusted.
    `describe() -> Mapping[str, str]`
        version, internal model, embedding model; written to the record's header.
    """

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store one conversation. Raise an exception if it fails.

        The return value is ignored, but counted and reported if it looks like a refusal (`False`, `{"success": False}`).
        """

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """Return the k memories most relevant to the query; `conversation` is the (empty) one it is asked in."""

    def get_all_memories(self) -> Any:
        """Return every memory held, not only a page of them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model requests."""

    id: str
    name: str
    arguments: str
    """JSON, but unchecked: exactly what the model wrote."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's message and the tool calls it requests."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class Chat(Protocol):
    """Ask a model on behalf of a memory system. The call is cached, counted and charged to the budget."""

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, model: str = ""
    ) -> ChatReply:
        """Return the model's next turn; messages and tools have the format of OpenAI's chat completions.

        Without `model`, asks the run's model. Raises a `MemfailError` if there is no usable reply after retries.
        """

    async def embed(self, texts: Sequence[str], *, model: str) -> Sequence[Sequence[float]]:
        """Return a vector for each text from the endpoint's `/embeddings`; raises as a call does."""


@dataclass(frozen=True, slots=True)
class SystemContext:
    """What a factory receives; never gold data, evidence or the name of the task."""

    run_id: str
    store_id: str
    """Unique within a run; also a valid collection, table or user name (`[A-Za-z0-9_.-]+`)."""
    path: Path
    """A private, empty directory: unique per store and process."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The user's own settings (`--memfail-system-option key=value`)."""
    clock: Callable[[], datetime] | None = None
    """Returns the time of the conversation being stored, for systems that stamp memories with the current time."""

    chat: Chat | None = None
    """Asks a model at the run's endpoint, for `async` systems; None if no model is named. See `SystemFactory`."""
    base_url: str | None = None
    """The store's own address of the run's proxy (`--memfail-proxy`), for clients of an OpenAI-compatible endpoint; None
    without it."""

    def render(self, conversation: Conversation) -> str:
        """Return the conversation as text with each message's role and time, for systems without a time input."""
        lines = []
        for message in conversation.messages:
            when = message.timestamp or conversation.timestamp
            stamp = f"[{when:%Y-%m-%d %H:%M}] " if when else ""
            lines.append(f"{stamp}{message.role}: {message.content}")
        return "\n".join(lines)


SystemFactory: TypeAlias = Callable[..., Any]
"""`factory(context) -> MemorySystem`, called once per store. A factory without parameters works too.

A factory may have a method `check_options(options)`, called before anything is stored; it raises `UsageError`. A
factory whose systems ask models through `context.chat` also has a method `models(options, default)`, which names them.
`default` is the run's model (`--memfail-model`) or None; the method raises `UsageError` if it needs one.

A factory whose systems ask no model of any kind declares `calls_model = False`, as an attribute of the function or
class. Storing then costs nothing, and a run with `--memfail-limit` stores all conversations. It may also be a method
`calls_model(options)`.

A factory whose systems ask models by themselves may have `replay_ignore`, a list: what differs in their prompts from run
to run, as for `--memfail-replay-ignore`.
"""


class Judge(Protocol):
    """Judge the stages of one fact. Each method may be sync or `async`.

    `warm(listing)` (optional) is called once before the first judgement of a listing.
    `settles(question) -> bool` (optional) says whether the reply is graded even if a fact failed; without it, only option letters are.
    `added(question, added)` (optional) judges the memories that a conversation added, by `question.keys`: its dialogue and
    the points that it states; without it, such questions stay ungraded.
    `inline: bool = True` (optional) declares that the methods compute and never wait, so they need no thread of their
    own. An exception in a method makes the question an error, never a verdict.
    """

    def storage(self, fact: Fact, store: Listing) -> StageResult | Awaitable[StageResult]:
        """Judge whether the store contains the fact at all (permissive)."""

    def summary(self, fact: Fact, store: Listing) -> StageResult | Awaitable[StageResult]:
        """Judge whether the store keeps everything that a right answer needs (faithful)."""

    def retrieval(
        self, fact: Fact, question: Question, shown: Sequence[Memory]
    ) -> StageResult | Awaitable[StageResult]:
        """Judge whether the fact can be recovered from the memories shown."""

    def answer(
        self, question: Question, facts: Sequence[Fact], reply: Reply | None
    ) -> StageResult | Awaitable[StageResult]:
        """Judge whether the reply uses the facts correctly; `ungraded` without a reply or a way to judge it."""


class TestTaker(Protocol):
    """The model that answers from the retrieved memories."""

    __test__: bool = False  # not a test class, despite its name

    def answer(self, question: Question, shown: Sequence[Memory]) -> Reply | Awaitable[Reply]:
        """Answer the question from the memories shown.

        A test-taker may also have `respond(conversation, history) -> str`, which returns the assistant's next turn in a
        conversation that is being stored.
        """
