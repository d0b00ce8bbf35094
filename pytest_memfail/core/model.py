"""The words of the field as plain values: conversations go in, questions are asked, traces come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

Role = Literal["user", "assistant", "system"]

MAX_K: Final = 1_000_000
"""The most memories that may be asked for: what a database takes for a limit."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str
    timestamp: datetime | None = None
    """Aware, or None where the data has no time."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session with the user: the paper's *H* (section 3.1)."""

    id: str
    messages: tuple[Message, ...]
    timestamp: datetime | None = None

    @property
    def text(self) -> str:
        """All messages, one per line, without their roles."""
        return "\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry of a memory system, normalised from whatever the system returned."""

    text: str
    id: str | None = None
    score: float | None = None
    """Higher is better; None where the system gives none."""
    timestamp: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Listing:
    """What `get_all_memories()` returned at one moment.

    Compared by identity and weakly referable (hence no slots), so that a judge can index each listing once.
    """

    store_id: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """A detail that must survive in memory, with the wordings that keep it; the first is the source's own."""

    wordings: tuple[str, ...]
    part: str = "detail"
    """What it is a part of: behavior, condition, exclusivity, preference, anchor, detail."""
    vaguer: tuple[str, ...] = ()
    """Wordings that cover it and lose what is particular: a memory that has but one of these has it generalised."""


EvidenceKind = Literal["rule", "preference", "persona", "link", "fact", "point"]
"""`point`: only its text and source are known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One expected fact of a question, with the structured gold that a judge may use."""

    id: str
    kind: EvidenceKind
    task: str
    text: str
    """The fact in words."""
    source: str
    """Everything the conversation it was said in states. Only what was said can be lost."""
    conversation_id: str
    entity: str | None = None
    behavior: str | None = None
    condition: str | None = None
    preference: str | None = None
    category: str | None = None
    """What the preferences of a row are kinds of: the question asks for them by it."""
    siblings: tuple[str, ...] = ()
    """The other preferences or links of the row, as they were said: a memory may be of one of them instead."""
    anchors: tuple[str, ...] = ()
    value: str | None = None
    """What the question needs of the fact (a direct persona question: its gold answer)."""
    asked: str | None = None
    """The question where it tells which part of the fact matters (persona); a misleading one borrows a trait."""
    telling: tuple[str, ...] = ()
    """Words of the source, a text a sentence, that carry the answer (persona): of a misleading question what would answer it if
    it were asked of this entity. Empty if nobody said which."""
    stale_values: tuple[str, ...] = ()
    """Values that it replaced, or that were taken back."""
    decoys: tuple[str, ...] = ()
    """What was said later and looks like an update of it, but is none."""
    subject: str | None = None
    """What of the entity it tells: "where Ilse keeps her spare key"."""
    earlier: str | None = None
    """What was said of it before, and no longer holds."""
    taken_back: bool = False
    """Whether the fact is only that an earlier state has ended: a system may keep that, or keep nothing of it."""
    endings: tuple[str, ...] = ()
    """Wordings that tell that a state has ended, where the fact is that it was taken back; none need be stored."""
    details: tuple[Detail, ...] = ()
    """Curated details of our own rows; empty for published rows."""
    history: tuple[str, ...] = ()
    """Ids of other conversations that bear on it: a sample that keeps the fact keeps them."""
    importance: float = 1.0
    is_distractor: bool = False


QuestionKind = Literal["yes_no", "all_of", "direct", "misleading", "multiple_choice", "open"]


@dataclass(frozen=True, slots=True)
class Question:
    """One graded question."""

    id: str
    task: str
    text: str
    """What the test-taker is asked (with the options of a multiple-choice question)."""
    query: str
    """What `retrieve_memories` is given."""
    gold: tuple[str, ...]
    evidence: tuple[str, ...]
    """Ids of the expected facts, in the row's order."""
    kind: QuestionKind
    options: tuple[str, ...] = ()
    correct_option: str | None = None
    k: int | None = None
    """The row's own top-k; None means the run's."""
    answer_format: Literal["text", "letter"] = "text"
    phase: str | None = None
    pair_id: str | None = None
    file: str = ""
    line: int = 1
    """Where the row stands: file, and the 1-based line its record starts on."""
    stratum: str = ""
    """What a balanced sample is balanced over (yes/no, N, hops, direct/misleading)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ingest:
    """Store one conversation."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask these questions of the memory as it is now; probes never write."""

    questions: tuple[Question, ...]


Step = Ingest | Probe


@dataclass(frozen=True, slots=True)
class StorePlan:
    """One fresh memory system, filled step by step, asked by all its questions."""

    id: str
    steps: tuple[Step, ...]

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """All conversations, in the order they are stored."""
        return tuple(step.conversation for step in self.steps if isinstance(step, Ingest))

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in the order they are asked."""
        return tuple(q for step in self.steps if isinstance(step, Probe) for q in step.questions)


@dataclass(frozen=True, slots=True)
class Task:
    """A named set of graded questions over one or more stores."""

    name: str
    targets: tuple[str, ...]
    """The failure verdicts the task is designed to elicit."""
    stores: tuple[StorePlan, ...]
    evidence: Mapping[str, Evidence]
    licence: str
    data_hash: str
    """SHA-256 of the file the rows were read from."""
    description: str = ""
    left_out: int = 0
    """Conversations of the rows that a sample does not store."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all stores."""
        return tuple(q for store in self.stores for q in store.questions)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the test-taker answered."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened to one question, before it was judged."""

    question: Question
    k: int
    shown: tuple[Memory, ...]
    """The memories retrieved, cut to k and to the limit of tokens, best first."""
    reply: Reply | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part: retrieve, answer, judge."""
    shown_tokens: int | None = None
    """Tokens of the memories shown; None where nothing was counted."""
    store_tokens: int | None = None
    """Tokens of all memories in the store when it was asked."""
    cut: int = 0
    """Entries that the system returned beyond k; they were not shown."""


def rank_of(memory: Memory, shown: Sequence[Memory]) -> int | None:
    """1-based rank of a stored memory among those shown, by id where both have one, else by text; None if absent."""
    for rank, other in enumerate(shown, 1):
        if memory.id is not None and other.id is not None:
            if memory.id == other.id:
                return rank
        elif memory.text == other.text:
            return rank
    return None
