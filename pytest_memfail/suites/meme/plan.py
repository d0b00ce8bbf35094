"""Turn episodes into stores: sessions to store, questions before and after the change, and the facts that each needs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
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
from pytest_memfail.grading import is_hypothetical, marks_condition, marks_removal, same, states
from pytest_memfail.rows import JsonRow, digest
from pytest_memfail.suites.meme.files import ABSENCE, UNCERTAIN, Episode, EpisodeFact, Item, Type
from pytest_memfail.suites.meme.kinds import Gold
from pytest_memfail.texts import content, fold, sentences, words

NAME: Final = "meme"
ARROW: Final = " \u2192 "
IN_ORDER: Final = ", in order: "
Moment = Literal["before", "after"]
PARTS: Final[dict[Type, str]] = {
    "er": "recall",
    "agg": "aggregation",
    "tr": "tracking",
    "del": "deletion",
    "cas": "cascade",
    "abs": "absence",
}
"""Type of a question after the change to the part that it counts in."""
CREDITED: Final[tuple[Type, ...]] = ("del", "cas", "abs")
"""Types that count only if the question before the change was answered right."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement of the user: its session, its message and the fact in words."""

    session: int
    source: str
    text: str


def task_of(rows: Sequence[JsonRow[Episode]], path: Path, sha: str, variant: str, licence: str) -> Task:
    """Return the task with one store per episode."""
    evidence: dict[str, Fact] = {}
    stores = []
    for row in rows:
        plan = _Plan(row.value, str(path), row.line)
        stores.append(StorePlan(row.value.episode_id, tuple(plan.steps())))
        evidence |= plan.evidence
    return Task(
        name=NAME,
        targets=(NOT_STORED, NOT_RETRIEVED, REASONING_ERROR),
        stores=tuple(stores),
        evidence=evidence,
        licence=licence,
        data_hash=sha,
        description="facts that change, depend on each other and are deleted, over many sessions",
        suite=NAME,
        variant=variant,
    )


@dataclass(slots=True)
class _Plan:
    """Builds the steps and the evidence of one episode."""

    episode: Episode
    file: str
    line: int
    evidence: dict[str, Fact] = field(default_factory=dict)
    conversations: list[Conversation] = field(default_factory=list)
    ids: dict[str, list[str]] = field(default_factory=dict)
    """Entity to the ids of the questions about it before the change."""

    def steps(self) -> Iterator[Step]:
        """Yield the sessions and the two probes, each after its session."""
        blocks = (("before", self.episode.before_questions), ("after", self.episode.after_questions))
        end = max(block.position_after_session for _, block in blocks)
        for at, session in enumerate(self.episode.sessions[: end + 1]):
            key = f"{NAME}:{self.episode.episode_id}:{at}:{session.session_id}"
            messages = tuple(Message(turn.role, turn.content, session.timestamp) for turn in session.conversation)
            self.conversations.append(Conversation(f"c-{digest(key, 10)}", messages, session.timestamp))
            yield Ingest(self.conversations[-1])
            for moment, block in blocks:
                if block.position_after_session == at and block.questions:
                    yield Probe(tuple(self._questions(moment, block.questions, at)))

    def _questions(self, moment: str, items: Iterable[Item], until: int) -> Iterator[Question]:
        block = self.episode.before_questions if moment == "before" else self.episode.after_questions
        used: dict[str, int] = {}
        for item in items:
            name = f"{moment}-{item.type}-{'-'.join(re.sub(r'[^A-Za-z0-9_.]+', '-', e) for e in item.entity)}"
            used[name] = used.get(name, 0) + 1
            name += f"-{used[name]}" if used[name] > 1 else ""
            needs: tuple[str, ...] = ()
            if moment == "before":
                for entity in item.entity:
                    self.ids.setdefault(entity, []).append(name)
            elif item.type in CREDITED:
                needs = tuple(dict.fromkeys(self.ids[e][-1] for e in item.entity if e in self.ids))
            part = "before" if moment == "before" else PARTS[item.type]
            facts = _Facts(self.episode, item, until, name, tuple(c.id for c in self.conversations))
            made = list(facts.before() if moment == "before" else getattr(facts, part)())
            self.evidence |= {each.id: each for each in made}
            yield Question(
                id=name,
                task=NAME,
                text=item.question,
                query=item.question,
                gold=(item.gold,),
                evidence=tuple(each.id for each in made),
                kind=part,
                file=self.file,
                line=self.line,
                stratum=self.episode.domain + (f" {item.hops}-hop" if item.hops else ""),
                part=part,
                needs=needs,
                is_independent=True,
                asked_at=block.timestamp,
                cluster=self.episode.episode_id,
                keys=facts.keys(moment),
            )


@dataclass(slots=True)
class _Facts:
    """The expected facts of one question, from the sessions up to the probe."""

    episode: Episode
    item: Item
    until: int
    question: str
    conversations: tuple[str, ...]
    made: int = 0

    # -- the parts ---------------------------------------------------------------------------------------------------

    def before(self) -> Iterator[Fact]:
        """Yield the value of each entity; a value that follows from a rule later does not count yet."""
        for entity in self.item.entity:
            for value in self._values(entity):
                yield self._value(entity, value, others=self._others(entity, value))

    def recall(self) -> Iterator[Fact]:
        """Yield the text that must be kept verbatim."""
        for entity in self.item.entity:
            for value in self._values(entity):
                yield self._value(entity, value, kind="verbatim")

    def aggregation(self) -> Iterator[Fact]:
        """Yield one value per entity."""
        return self.before()

    def tracking(self) -> Iterator[Fact]:
        """Yield one value per step, and their order."""
        for entity in self.item.entity:
            steps = self._values(entity)
            statements = [self._find_statement(entity, step) for step in steps]
            for step in steps:
                yield self._value(entity, step)
            text = ARROW.join(steps)
            last = max(statements, key=lambda one: one.session)
            yield self._evidence(
                "order",
                entity,
                Said(last.session, "\n".join(one.source for one in statements), f"{_words(entity)}{IN_ORDER}{text}"),
                value=text,
                others=tuple(steps),
            )

    def deletion(self) -> Iterator[Fact]:
        """Yield the request to forget the value."""
        for entity in self.item.entity:
            statement = self._request(entity)
            old = tuple(dict.fromkeys(v for v in (*self._values(entity), self.episode.old(entity)) if v))
            asked = tuple(s for s in sentences(statement.source) if marks_removal(s))
            yield self._evidence(
                "deletion",
                entity,
                statement,
                Claim(owner=entity, replaced=old, has_ended=True),
                value=old[0] if old else "",
                requests=asked,
            )

    def cascade(self) -> Iterator[Fact]:
        """Yield the change of the root, and the rule of each dependency between the root and the entity.

        A store that states the new value as current holds all of them, because some systems derive the new value when
        they write.
        """
        for entity in self.item.entity:
            yield from self._dependencies(entity, self._new(entity), self.episode.old(entity))

    def absence(self) -> Iterator[Fact]:
        """Yield the change of the root, and the statement that the old value depends on it."""
        for entity in self.item.entity:
            yield from self._dependencies(entity, "", self._lost(entity))

    def keys(self, moment: str) -> dict[str, Any]:
        """Return the data for the graders: all values, values stated later, and the outdated value."""
        entity = self.item.entity[0]
        values = [value for each in self.item.entity for value in self._values(each)]
        if moment == "before":
            return {"values": values, "others": self._others(entity, values[0]) if values else ()}
        match self.item.type:
            case "cas":
                return {"values": [self._new(entity)], "old": self.episode.old(entity)}
            case "abs":
                return {"values": [], "old": self._lost(entity)}
            case "del":
                return {"values": values, "old": self.episode.old(entity) or next(iter(values), "")}
        return {"values": values}

    # -- values ------------------------------------------------------------------------------------------------------

    def _values(self, entity: str) -> list[str]:
        found = [value for value in self.item.entity_values.get(entity, []) if value]
        return found or (
            [self.item.gold] if len(self.item.entity) == 1 and self.item.type not in ("del", "abs") else []
        )

    def _new(self, entity: str) -> str:
        """Return the value that follows from the change."""
        old, state = fold(self.episode.old(entity)), self.episode.entities.get(entity)
        candidates = (*self._values(entity)[-1:], state.after if state else "", self.item.gold)
        return next((v for v in candidates if v and fold(v) != old and fold(v) != UNCERTAIN), self.item.gold)

    def _lost(self, entity: str) -> str:
        """Return the outdated value of an entity that has no new value."""
        match = ABSENCE.search(self.item.gold)
        stated = [v for v in self._values(entity) if fold(v) != UNCERTAIN]
        return next((v for v in (self.episode.old(entity), match["old"] if match else "", *stated) if v), "")

    def _others(self, entity: str, value: str) -> tuple[str, ...]:
        """Return the values stated for an entity after this one, up to the probe."""
        found = [fact.value for _, fact in self.episode.facts(self.until) if fact.entity == entity]
        first = next((at for at, other in enumerate(found) if same(other, value)), 0)
        return tuple(dict.fromkeys(v for v in found[first:] if v and not same(v, value)))

    # -- what was stated -----------------------------------------------------------------------------------------------

    def _find_statement(self, entity: str, value: str, *, is_rule: bool = False) -> Said:
        """Return the first statement of a value of an entity; for a rule, the statement of its condition.

        A fact may lack its notes or be filed under another entity. So this searches by entity and value, then by the words of the
        facts, then by those of the user.
        """
        facts = self.episode.facts(self.until)
        own = [(at, f) for at, f in facts if f.entity == entity and same(f.value, value)]
        found = own or [(at, f) for at, f in facts if states(f.fact_text, value)]
        if is_rule:
            found = [(at, f) for at, f in found if f.is_noted("rule") or marks_condition(f.fact_text)] or found
        if found:
            return self._from_fact(*found[0])
        for at, turn in self._turns():
            if states(turn, value) and (not is_rule or marks_condition(turn)):
                return Said(at, turn, f"{_words(entity)}: {value}")
        named = [(at, fact) for at, fact in facts if fact.entity == entity]
        return self._from_fact(*named[-1]) if named else Said(self.until, "", f"{_words(entity)}: {value}")

    def _change(self, source: str) -> tuple[str, str, Said]:
        """Return the changed entity, its new value, and the user's statement of the change."""
        root = self.episode.root or source
        state = self.episode.entities.get(root)
        old = self.episode.root_change.before or (state.before if state else "")
        new = self.episode.root_change.after or (state.after if state else "")
        facts = self.episode.facts(self.until)
        mine = [(at, f) for at, f in facts if f.entity == root]
        theirs = [(at, f) for at, f in facts if f.entity == source]
        for found in (
            [(at, f) for at, f in mine if new and same(f.value, new)],
            [(at, f) for at, f in mine if f.value and not same(f.value, old)],
            [
                (at, f)
                for at, f in theirs
                if f.value and not same(f.value, self.episode.old(source)) and not _is_rule(f)
            ],
        ):
            if found:
                return found[-1][1].entity, found[-1][1].value, self._from_fact(*found[-1])
        said = [(at, turn) for at, turn in self._turns() if states(turn, new) and not is_hypothetical(turn)]
        at, turn = said[-1] if said else (self.until, "")
        return root, new, Said(at, turn, f"{_words(root)} is now {new}")

    def _request(self, entity: str) -> Said:
        """Return the user's request to forget a value."""
        own = [(at, fact) for at, fact in self.episode.facts(self.until) if fact.entity == entity]
        noted = [(at, f) for at, f in own if f.is_noted("delet", "forget", "remov") or marks_removal(f.fact_text)]
        after = own[1:] if self.episode.old(entity) else own
        for found in (
            noted,
            [(at, fact) for at, fact in after if not fact.value or not same(fact.value, after[0][1].value)],
        ):
            if found:
                at, fact = found[-1]
                text = fact.fact_text or f"The user asked to forget: {_words(entity)}"
                return Said(at, self.episode.sessions[at].turn_of(fact, is_removal=True), text)
        topic = set(words(_words(entity)))
        asked = [(at, turn) for at, turn in self._turns() if marks_removal(turn)]
        near = [(at, turn) for at, turn in asked if topic & set(words(turn))] or asked
        at, turn = near[-1] if near else (self.until, "")
        return Said(at, turn, f"The user asked to forget: {_words(entity)}")

    def _turns(self) -> Iterator[tuple[int, str]]:
        for at, session in enumerate(self.episode.sessions[: self.until + 1]):
            yield from ((at, turn.content) for turn in session.conversation if turn.role == "user")

    def _from_fact(self, at: int, fact: EpisodeFact) -> Said:
        source = self.episode.sessions[at].turn_of(fact)
        return Said(at, source, fact.fact_text or f"{_words(fact.entity)}: {fact.value}")

    # -- evidence ----------------------------------------------------------------------------------------------------

    def _dependencies(self, entity: str, new: str, old: str) -> Iterator[Fact]:
        chain = self._chain(entity)
        root, value, statement = self._change(chain[-1])
        now = [new] if new else []
        follows = f" What follows of {_words(entity)}: {new}." if new else ""
        past = (self.episode.root_change.before, old)
        yield self._evidence(
            "change",
            root,
            replace(statement, text=statement.text + follows),
            Claim(owner=root, replaced=tuple(dict.fromkeys(v for v in past if v and not same(v, value)))),
            value=value,
            derived=tuple(now),
            mentions=(*self._sentences(value, statement.session), *self._sentences(new, self.until + 1)),
        )
        for target, source in itertools.pairwise(chain):
            state = self.episode.entities.get(target)
            result = state.after if state and fold(state.after) != UNCERTAIN else ""
            before = self.episode.old(target)
            if target == entity:
                result, before = new, old
            result = "" if same(result, before) else result
            holds = result or before
            statement = self._find_statement(target, holds, is_rule=True)
            names = [_words(source), self.episode.old(source)]
            names += [s.after for e, s in self.episode.entities.items() if e == source and fold(s.after) != UNCERTAIN]
            names += (
                [self.episode.root_change.before, self.episode.root_change.after] if source == self.episode.root else []
            )
            names = [name for name in dict.fromkeys(names) if name and not same(name, holds)]
            # only stated information can be lost
            said = set(words(statement.source))
            names = names[:1] + [name for name in names[1:] if content(name) & said]
            own = [s for s in sentences(statement.source) if states(s, holds)]
            is_stated = bool(content(" ".join(names)) & said) and (
                marks_condition(statement.source) or any(states(s, name) for s in own for name in names[1:])
            )
            yield self._evidence(
                "dependency",
                target,
                replace(statement, text=statement.text + ("" if target == entity else follows)),
                Claim(owner=target, replaced=(old,) if new and old else ()),
                value=holds,
                condition=_condition(statement) if is_stated else "",
                depends_on=tuple(names) if is_stated else (),
                derived=tuple(dict.fromkeys([*now, *([result] if new and result else [])])),
                mentions=tuple(s for v in {new, result} for s in self._sentences(v, self.until + 1)) if new else (),
            )

    def _chain(self, entity: str) -> list[str]:
        """Return an entity and the entities it depends on, up to the root."""
        chain = [entity]
        while source := next((e.source for e in self.episode.dependency_edges_used if e.target == chain[-1]), None):
            if source in chain:
                break
            chain.append(source)
        if len(chain) == 1 and self.episode.root and entity != self.episode.root:
            chain.append(self.episode.root)
        return chain

    def _sentences(self, value: str, until: int) -> tuple[str, ...]:
        """Return the sentences that mention a value in the sessions before `until`: none of them states it as current."""
        if not value:
            return ()
        sessions = (session for session in self.episode.sessions[:until] if session.may_state(value))
        said = (s for session in sessions for s in session.sentences if states(s, value))
        return tuple(dict.fromkeys(said))

    def _value(self, entity: str, value: str, kind: str = "value", others: tuple[str, ...] = ()) -> Fact:
        return self._evidence(kind, entity, self._find_statement(entity, value), value=value, others=others)

    def _evidence(self, kind: str, entity: str, statement: Said, claim: Claim | None = None, **gold: Any) -> Fact:
        self.made += 1
        return Fact(
            id=f"{self.episode.episode_id}.{self.question}.{self.made}-{kind}",
            kind=kind,
            text=statement.text,
            source=statement.source,
            conversation_id=self.conversations[statement.session],
            claim=claim or Claim(owner=entity),
            gold=Gold(subject=_words(entity), asked=self.item.question, **gold),
        )


def steps_of(order: str) -> list[str]:
    """Return the values that a fact of the kind `order` tells of, from the first to the last."""
    return order.rpartition(IN_ORDER)[2].split(ARROW)


def _words(entity: str) -> str:
    return entity.replace("_", " ")


def _is_rule(fact: EpisodeFact) -> bool:
    return fact.is_noted("rule") or is_hypothetical(fact.fact_text)


def _condition(statement: Said) -> str:
    """Return the sentences of a fact that name its condition."""
    said = [s for s in sentences(statement.text) if marks_condition(s)]
    return " ".join(said or [s for s in sentences(statement.source) if marks_condition(s)])
