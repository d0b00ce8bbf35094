"""The data model: conversations go in, questions are asked, traces come out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Literal

from pytest_memfail.core.claim import TEXT_ALONE, Claim, Part
from pytest_memfail.core.taxonomy import STAGES

Role = Literal["user", "assistant", "system"]

MAX_K: Final = 1_000_000
"""The largest k accepted; databases accept it as a limit."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    timestamp: datetime | None = None
    """Timezone-aware; None if the data has no time."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session with the user: *H* in the paper (section 3.1)."""

    id: str
    messages: tuple[Message, ...]
    timestamp: datetime | None = None
    forgets: str = ""
    """What the user asks to forget; a system with `forget()` is called with it, and does not store the conversation."""

    @property
    def text(self) -> str:
        """Return the contents of all messages, one per line, without roles."""
        return "\n".join(message.content for message in self.messages)

    @property
    def began(self) -> datetime | None:
        """Return its time, or else that of its first message with one."""
        return self.timestamp or next((message.timestamp for message in self.messages if message.timestamp), None)


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry of a memory system, normalised."""

    text: str
    id: str | None = None
    score: float | None = None
    """Higher is better; None if the system gives none."""
    timestamp: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """A stored conversation, and how much of it is left."""

    id: str
    characters: int
    """The length of its messages."""
    kept: float
    """The share of its different words that the entries have which came from it."""
    time: str | None = None
    """When it took place, in ISO 8601; None if the rows do not say it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry of a listing came from."""

    conversations: tuple[int, ...] = ()
    """The places of these conversations among the sessions; empty if unknown."""
    is_likely: bool = False
    """Whether only words in common, or a lack of them, say so."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Which of the conversations stored so far each entry of a listing came from."""

    sessions: tuple[Session, ...]
    """The conversations, in the order they were stored."""
    of: tuple[Origin, ...]
    """For each entry."""

    def entries_of(self, conversation_id: str) -> list[int] | None:
        """Return the places of the entries that came from a conversation; None if it was not stored."""
        number = next((i for i, one in enumerate(self.sessions) if one.id == conversation_id), None)
        return None if number is None else [at for at, one in enumerate(self.of) if number in one.conversations]


@dataclass(frozen=True, eq=False)
class Listing:
    """What `get_all_memories()` returned at one moment.

    Compared by identity and weakly referenceable (hence no slots), so that a judge can index each listing once.
    """

    store_id: str
    memories: tuple[Memory, ...]
    number: int = 0
    """Index of the probe, among the probes of the plan, that it was made for."""
    origins: Origins | None = None
    """Where its entries came from, if that is known."""
    said: tuple[bool, ...] = ()
    """For each entry, whether each of its sentences was said, word for word; empty if that is unknown."""

    @property
    def is_verbatim(self) -> bool:
        """Whether it is known that each sentence of all entries was said, word for word."""
        return len(self.said) == len(self.memories) and all(self.said)


@dataclass(frozen=True, slots=True)
class Fact:
    """One expected fact of a question."""

    id: str
    kind: str
    """The name of a `Kind` of the fact's suite, or of a default suite."""
    text: str
    """The fact in words."""
    source: str
    """Everything that its conversation states. Only stated information can be lost."""
    conversation_id: str
    claim: Claim = TEXT_ALONE
    """What a judge looks for; by default the text, stated by the source."""
    gold: Any = None
    """The suite's own frozen value. Its finders read it, and prompts show the fields that the kind names (`Kind.gold`)."""
    history: tuple[str, ...] = ()
    """Ids of other relevant conversations; a sample that keeps the fact keeps them."""
    is_distractor: bool = False
    """Whether memory must not hold it."""
    may_hold_part: bool = False
    """Whether it is no fault to hold only a part of a distractor."""

    def __post_init__(self) -> None:
        """Complete the claim by the text and the source."""
        claim = self.claim
        if not (claim.parts and claim.source):
            parts = claim.parts or (Part(self.text),)
            claim = replace(claim, parts=parts, source=claim.source or self.source or self.text)
            object.__setattr__(self, "claim", claim)


@dataclass(frozen=True, slots=True)
class Question:
    """One graded question."""

    id: str
    task: str
    text: str
    """The text for the test-taker, with the options of a multiple-choice question."""
    query: str
    """The query for `retrieve_memories`."""
    gold: tuple[str, ...]
    evidence: tuple[str, ...]
    """Ids of the expected facts, in the row's order."""
    kind: str
    """The name of an `AnswerKind` of the question's suite, or of a default suite."""
    options: tuple[str, ...] = ()
    letter: str | None = None
    """The letter of the right option, for a question that is answered by one."""
    k: int | None = None
    """The row's own top-k; None for the run's."""
    file: str = ""
    line: int = 1
    """The 1-based line in `file` on which the row starts."""
    place: str = ""
    """The question's place in a row with several questions, such as `questions.17`."""
    stratum: str = ""
    """The group that a balanced sample draws from, such as the number of hops."""
    part: str = ""
    """The part of the task that the question counts in; empty for a task without parts."""
    stages: tuple[str, ...] = STAGES
    """The stages that are judged."""
    needs: tuple[str, ...] = ()
    """Ids of questions of the same store. If one of them was answered wrongly, a right answer is a trivial pass."""
    hidden: bool = False
    """Whether it is asked only because another question needs its verdict; it is no item and is not counted."""
    asked_at: datetime | None = None
    """When the question is asked; None if the data has no time."""
    cluster: str = ""
    """Paired tests treat questions of one cluster as dependent; empty: the questions of a row."""
    keys: Mapping[str, Any] = field(default_factory=dict)
    """The suite's own data about the question, in addition to the gold answers; a prompt shows what the kind names."""
    weight: float = 1.0
    """The question's weight in a weighted measure of its suite."""
    must_not_use: bool = False
    """Whether a right answer uses none of the facts; it passes vacuously if they were not stored, or not retrieved."""
    is_independent: bool = False
    """Whether retrieval and answer are judged, recorded and credited even if a fact failed."""
    of_additions: bool = False
    """Whether storage and summary are judged by what the conversation `keys["conversation"]` added, not by the whole store."""
    reply_tokens: int | None = None
    """The paper's limit of a reply: it is asked for without a list of the memories used, and counts as it is if cut there."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """A step that stores one conversation."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Probe:
    """A step that asks questions of the memory in its current state and never writes."""

    questions: tuple[Question, ...]


Step = Ingest | Probe


@dataclass(frozen=True, slots=True)
class StorePlan:
    """One fresh memory system: the steps that fill it, and all its questions."""

    id: str
    steps: tuple[Step, ...]
    opens: Callable[[], Mapping[str, Conversation]] | None = None
    """Reads the conversations, by id, if `steps` have them without messages, because the text of a run may not fit in memory."""
    characters: int = 0
    """Number of characters in the conversations that `opens` reads."""
    beside: tuple[Conversation, ...] = ()
    """What another user tells a second store of the same system, which is open while this one is asked."""

    def read_conversations(self) -> tuple[Conversation, ...]:
        """Return all conversations, in the order they are stored. Reads files each time if the plan has `opens`."""
        return tuple(step.conversation for step in self.opened().steps if isinstance(step, Ingest))

    def read_all(self) -> tuple[Conversation, ...]:
        """Return its conversations, and those of the other user."""
        return (*self.read_conversations(), *self.beside)

    @property
    def size(self) -> int:
        """Return the number of conversations, without reading them."""
        return sum(isinstance(step, Ingest) for step in self.steps)

    def opened(self) -> StorePlan:
        """Return the plan with the messages of its conversations."""
        if self.opens is None:
            return self
        read = self.opens()
        steps = (Ingest(read[step.conversation.id]) if isinstance(step, Ingest) else step for step in self.steps)
        return replace(self, steps=tuple(steps), opens=None)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Return all questions that are items, in the order they are asked."""
        return tuple(question for question in self.all_questions if not question.hidden)

    @property
    def all_questions(self) -> tuple[Question, ...]:
        """Return the hidden questions too."""
        return tuple(question for step in self.steps if isinstance(step, Probe) for question in step.questions)


@dataclass(frozen=True, slots=True)
class Task:
    """A named set of graded questions over one or more stores."""

    name: str
    targets: tuple[str, ...]
    """The failure verdicts the task is designed to elicit."""
    stores: tuple[StorePlan, ...]
    evidence: Mapping[str, Fact]
    licence: str
    data_hash: str
    """SHA-256 of the file the rows were read from."""
    description: str = ""
    left_out: int = 0
    """Number of conversations that a sample does not store."""
    suite: str = ""
    """Set when the task is loaded."""
    k: int | None = None
    """The top-k if the user gives none; None for that of its suite, or the run's default."""
    variant: str = ""
    """The suite's variant that the rows come from; `ours` for the suite's own sample; empty for a suite without published files."""
    note: str = ""
    """A note about the rows for the header of a run, such as what was left out."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """Return the questions of all stores."""
        return tuple(q for store in self.stores for q in store.questions)


_ANSWER: Final = re.compile(r"^[\s*_#>-]*answer[*_]*\s*:[*_]*", re.I | re.M)


@lru_cache(maxsize=65536)  # an interval of a measure reads each reply thousands of times
def answer_in(reply: str) -> str:
    """Return the answer in a reply: the text after its last "Answer:", or the whole reply.

    Our test-taker repeats the memories it used before the answer. They must not count as an answer.
    """
    places = list(_ANSWER.finditer(reply))
    return (reply[places[-1].end() :] if places else reply).strip()


@dataclass(frozen=True, slots=True)
class Reply:
    """The test-taker's reply."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def answer(self) -> str:
        """The answer in it, without the memories that it repeats (`answer_in`)."""
        return answer_in(self.text)


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened to one question before it was judged."""

    question: Question
    k: int
    shown: tuple[Memory, ...]
    """The retrieved memories, best first, cut to k and to the token limit."""
    reply: Reply | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds per phase: retrieve, answer, judge."""
    shown_tokens: int | None = None
    """Tokens of the memories shown; None if not counted."""
    store_tokens: int | None = None
    """Tokens of all memories in the store when the question was asked."""
    cut: int = 0
    """Number of entries returned beyond k, which were not shown."""


def rank_of(memory: Memory, shown: Sequence[Memory]) -> int | None:
    """Return the 1-based rank of a stored memory among those shown; None if it is absent.

    Compares ids if both memories have one, else texts.
    """
    for rank, other in enumerate(shown, 1):
        if memory.id is not None and other.id is not None:
            if memory.id == other.id:
                return rank
        elif memory.text == other.text:
            return rank
    return None
