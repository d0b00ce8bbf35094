"""Turn users into stores: a probe after each session asks about its points, updates, distractors and questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    ADDED_STAGE,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    SUMMARY_ERROR,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    Step,
    StorePlan,
    Task,
)
from pytest_memfail.rows import JsonRow, digest, numbered
from pytest_memfail.suites.halumem.files import NAME, Item, Point, Session, User

K: Final = 20
PARTS: Final = {"point": "points", "distractor": "distractors", "update": "update"}
"""Kind of point to the part that it counts in."""
UPDATE_K: Final = 10
"""Memories retrieved for an update (section 6.1)."""


def task_of(
    rows: Sequence[JsonRow[User]], path: Path, sha: str, variant: str, licence: str, *, paper: bool = False
) -> Task:
    """Return the task with one store per user.

    The published code searches only for updates that name an earlier point; under `paper` the others are points. It judges
    points by what their session added to the store, as `paper` does.
    """
    evidence: dict[str, Fact] = {}
    stores = []
    for row in rows:
        plan = _Plan(row.value, str(path), row.line, paper)
        stores.append(StorePlan(row.value.uuid, tuple(plan.steps())))
        evidence |= plan.evidence
    return Task(
        name=NAME,
        targets=(NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR),
        stores=tuple(stores),
        evidence=evidence,
        licence=licence,
        data_hash=sha,
        description="what a memory extracts, updates and answers after each of many sessions",
        suite=NAME,
        variant=variant,
    )


@dataclass(slots=True)
class _Plan:
    """Builds the steps and the evidence of one user."""

    user: User
    file: str
    line: int
    paper: bool
    evidence: dict[str, Fact] = field(default_factory=dict)
    conversations: list[Conversation] = field(default_factory=list)
    stated: dict[str, str] = field(default_factory=dict)
    """Content of a point to the evidence of the first point with that content."""

    def steps(self) -> Iterator[Step]:
        """Yield each session, followed by a probe if questions are asked after it.

        A noise session has a probe without questions, so that the memories it adds are not attributed to the next session.
        """
        for at, session in enumerate(self.user.sessions):
            start = session.start_time or session.dialogue[0].timestamp
            messages = tuple(Message(turn.role, turn.content, turn.timestamp or start) for turn in session.dialogue)
            name = f"c-{digest(f'{NAME}:{self.user.uuid}:{at}:{session.text}', 10)}"
            self.conversations.append(Conversation(name, messages, start))
            yield Ingest(self.conversations[-1])
            yield Probe(tuple(self._questions(at, session)) if session.is_asked else ())

    def _questions(self, at: int, session: Session) -> Iterator[Question]:
        yield self._question(
            at,
            f"s{at:03d}-added",
            "added",
            stages=(ADDED_STAGE,),
            kind="halumem_added",
            text="Does the dialogue support each memory that was added after this session?",
            keys={
                "conversation": self.conversations[at].id,
                "dialogue": _said(session),
                "points": [point.memory_content for point in session.memory_points if not point.is_distractor],
            },
        )
        for name, point in zip(_names(at, session.memory_points), session.memory_points, strict=True):
            part = PARTS[self._kind(point)]
            stages: tuple[str, ...] = ("storage", "summary")
            yield self._question(
                at,
                name,
                part,
                stages=(*stages, "retrieval") if part == "update" else stages,
                kind=f"halumem_{part}",
                text=point.memory_content,
                query=point.memory_content,
                gold=(point.memory_content,),
                evidence=(self._fact(at, name, point),),
                stratum=point.memory_type.removesuffix(" Memory"),
                weight=point.importance,
                k=UPDATE_K if part == "update" else None,
                is_independent=part == "update",
                keys={"conversation": self.conversations[at].id},
                of_additions=self.paper,
            )
        for number, item in enumerate(session.questions, 1):
            yield self._question(
                at,
                f"s{at:03d}-q{number}",
                "qa",
                kind="halumem_qa",
                text=item.question,
                query=item.question,
                gold=(item.answer,),
                evidence=self._needed(item),
                stratum=item.question_type,
                is_independent=True,
            )

    def _question(self, at: int, name: str, part: str, *, text: str, **fields: Any) -> Question:
        session = self.user.sessions[at]
        return Question(
            id=name,
            task=NAME,
            text=text,
            query=fields.pop("query", ""),
            gold=fields.pop("gold", ()),
            evidence=fields.pop("evidence", ()),
            file=self.file,
            line=self.line,
            part=part,
            asked_at=session.end_time or session.dialogue[-1].timestamp,
            cluster=f"{self.user.uuid}:{at}",
            **fields,
        )

    def _needed(self, item: Item) -> tuple[str, ...]:
        """Return the points that a question needs; none if one of them matches no point stated up to its session."""
        found = [self.stated.get(needed.memory_content, "") for needed in item.evidence]
        return tuple(dict.fromkeys(found)) if all(found) else ()

    def _kind(self, point: Point) -> str:
        if point.is_distractor:
            return "distractor"
        return "update" if point.is_update and (point.original_memories or not self.paper) else "point"

    def _fact(self, at: int, name: str, point: Point) -> str:
        """Add the evidence of a point, and return its id.

        Its source is the dialogue of its session, because points are paraphrases: a store that keeps every message has only the
        words of the dialogue.
        """
        found = Fact(
            id=f"{self.user.uuid}.{name}",
            kind=f"memory_{self._kind(point)}",
            text=point.memory_content,
            source=self.user.sessions[at].text,
            conversation_id=self.conversations[at].id,
            claim=Claim(user=self.user.name or None, replaced=tuple(point.original_memories)),
            is_distractor=point.is_distractor,
        )
        self.evidence[found.id] = found
        self.stated.setdefault(point.memory_content, found.id)
        return found.id


def _names(at: int, points: Sequence[Point]) -> list[str]:
    """Return an id for each point of a session: its index in the data, with a number appended to repetitions."""
    indices = (re.sub(r"[^A-Za-z0-9_.]+", "-", point.index) or str(number) for number, point in enumerate(points, 1))
    return numbered(f"s{at:03d}-p{index:0>2}" for index in indices)


def _said(session: Session) -> str:
    """Return the dialogue with the speaker and time of each message."""
    return "\n".join(
        f"[{turn.timestamp:%Y-%m-%d %H:%M}] {turn.role}: {turn.content}"
        if turn.timestamp
        else f"{turn.role}: {turn.content}"
        for turn in session.dialogue
    )
