"""The graphs behind MEME-like episodes, and the outlines of episodes drawn from them.

The steps are those of MEME (arXiv 2605.12477, section 3.2): a root with its dependents, values, tasks by position in the graph,
right answers by propagation. The entities with their values and sentences are in graph.yaml.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

import yaml

UNCERTAIN: Final = "Uncertain"
STEPS: Final = 4
"""The number of values of a tracked entity: the first one and three updates."""
COUNTED: Final = 3
"""The number of entities in an aggregation."""
BEFORE: Final = 6
"""The number of sessions with evidence before the change."""
AFTER: Final = 4
SESSIONS: Final = BEFORE + AFTER

_TABLES: Final = yaml.safe_load(files(__package__).joinpath("graph.yaml").read_text(encoding="utf-8"))
BEGINNINGS: Final[Sequence[str]] = _TABLES["beginnings"]
ENDS: Final[Sequence[str]] = _TABLES["ends"]
"""An invented name consists of a beginning and an end. All names of an episode have different beginnings."""
NAME: Final = re.compile(rf"\b(?:{'|'.join(BEGINNINGS)})(?:{'|'.join(ENDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An entity with a value. Its pool of values are forms, with a name for `{}` and a digit for `#`."""

    name: str
    source: str = ""
    """The entity that it depends on; empty if there is none."""
    is_exact: bool = False
    """Whether its value is a text that must be kept verbatim."""
    sentence: str
    question: str
    forms: Sequence[str]

    def says(self, value: str) -> str:
        """Return the sentence in which a user states the value."""
        return self.sentence.replace("{}", value)

    def clause(self, value: str) -> str:
        """Return that sentence as a clause."""
        said = self.says(value).rstrip(".")
        return said if said.startswith("I ") else said[0].lower() + said[1:]

    @property
    def words(self) -> str:
        """Return the name in words."""
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class Domain:
    """One graph, with the subjects of its filler sessions."""

    code: str
    name: str
    setting: str
    owner: str
    entities: Mapping[str, Entity]
    topics: Sequence[str]

    @cached_property
    def roots(self) -> list[str]:
        """Return the entities that others depend on and that depend on no other."""
        return [e.name for e in self.entities.values() if not e.source and self.children(e.name)]

    def children(self, name: str) -> list[str]:
        """Return the entities that directly depend on an entity."""
        return [entity.name for entity in self.entities.values() if entity.source == name]

    def descendants(self, name: str) -> list[str]:
        """Return the entities that depend on an entity, directly or indirectly."""
        return [found for child in self.children(name) for found in (child, *self.descendants(child))]

    def chains(self, root: str) -> list[tuple[str, str, str, str]]:
        """Return the candidates for a cascade at one and two hops, and for an absence at one and two hops."""
        return [
            (first, second, lost, lost_later)
            for first, lost in itertools.permutations(self.children(root), 2)
            for second in self.children(first)
            for lost_later in (*self.children(first), *self.children(lost))
            if lost_later != second
        ]

    def mine(self, name: str) -> str:
        """Return an entity in the words of its owner: "my spare key spot"."""
        return f"{self.owner} {self.entities[name].words}"

    @cached_property
    def value_pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches a value of any pool, with any name."""
        forms = {re.escape(form) for entity in self.entities.values() for form in entity.forms}
        shaped = (form.replace(r"\{\}", r"[A-Z][\w'’-]+").replace(r"\#", r"\d") for form in sorted(forms))
        return re.compile("|".join(rf"(?<!\w){form}(?!\w)" for form in shaped))

    def strange_values(self, text: str, given: str) -> list[str]:
        """Return the invented names and pool values in a text that are not in the given facts."""
        known = given.casefold()
        found = (*NAME.findall(text), *self.value_pattern.findall(text))
        return sorted({value for value in found if value.casefold() not in known})


def _domain(name: str, entities: Mapping[str, Mapping[str, Any]], **of_domain: Any) -> Domain:
    return Domain(name=name, entities={e: Entity(name=e, **given) for e, given in entities.items()}, **of_domain)


DOMAINS: Final = tuple(_domain(name, **given) for name, given in _TABLES["domains"].items())
VOICES: Final[Sequence[str]] = _TABLES["voices"]
WISHES: Final[Sequence[str]] = _TABLES["wishes"]


@dataclass(frozen=True, slots=True)
class Given:
    """One fact that a session must state."""

    entity: str
    value: str
    text: str
    is_exact: bool
    """Whether the text must be stated verbatim."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """An episode without its conversations."""

    number: int
    domain: Domain
    voice: str
    root: str
    tasks: Mapping[str, str]
    """Entity to its role; the order is that of the questions."""
    before: Mapping[str, str]
    after: Mapping[str, str | None]
    steps: tuple[str, ...]
    """The values of the tracked entity, in order."""
    sources: Mapping[str, str]
    sessions: tuple[tuple[Given, ...], ...]

    def hop(self, entity: str) -> int:
        """Return the distance of a dependent entity from the root."""
        source = self.sources[entity]
        return 1 if source == self.root else 1 + self.hop(source)


def propagate(
    before: Mapping[str, str],
    sources: Mapping[str, str],
    rules: Mapping[tuple[str, str], str],
    changes: Mapping[str, str],
) -> dict[str, str]:
    """Return the value of each entity after some changes.

    A dependent keeps its value if its source does. Otherwise the rule for the new value of the source decides. Without a rule, the
    value is uncertain, and so are the values of its dependents.

    Args:
        before: the values before the changes.
        sources: maps each dependent entity to the one that it depends on.
        rules: maps a dependent entity and a value of its source to the resulting value.
        changes: the new values of entities that depend on no other.
    """

    def after(entity: str) -> str:
        source = sources.get(entity)
        if source is None:
            return changes.get(entity, before[entity])
        new = after(source)
        return before[entity] if new == before[source] else rules.get((entity, new), UNCERTAIN)

    return {entity: after(entity) for entity in before}


def draw(number: int, seed: int) -> Outline:
    """Return the outline of an episode (numbered from 1); the domains alternate."""
    rng = random.Random(f"{seed}:meme:{number}")
    domain = DOMAINS[(number - 1) % len(DOMAINS)]
    entities, names = domain.entities, _names(rng)

    def value(entity: str) -> str:
        form = re.sub("#", lambda _: str(rng.randint(2, 9)), rng.choice(entities[entity].forms))
        return form.replace("{}", next(names))

    root = rng.choice(domain.roots)
    first, second, lost, lost_later = rng.choice(domain.chains(root))
    inside = {root, *domain.descendants(root)}
    outside = [entity for entity in entities.values() if entity.name not in inside]
    recalled = rng.choice([entity.name for entity in outside if entity.is_exact])
    plain = [entity.name for entity in outside if not entity.is_exact]
    tracked, deleted, *counted = rng.sample(plain, 2 + COUNTED)
    tasks = {root: "root", recalled: "exact_recall", **dict.fromkeys(counted, "aggregation"), tracked: "tracking"}
    tasks |= {deleted: "deletion", first: "cascade", second: "cascade", lost: "absence", lost_later: "absence"}
    sources = {entity: entities[entity].source for entity in (first, second, lost, lost_later)}
    before = {entity: value(entity) for entity in tasks}
    changed, follows = value(root), value(first)
    rules = {(first, changed): follows, (second, follows): value(second)}
    resolved = propagate(before, sources, rules, {root: changed})
    steps = (before[tracked], *(value(tracked) for _ in range(STEPS - 1)))
    after: dict[str, str | None] = {**resolved, tracked: steps[-1], deleted: None}

    def base(entity: str) -> Given:
        return Given(entity, before[entity], entities[entity].says(before[entity]), entities[entity].is_exact)

    def rule(entity: str) -> Given:
        source = sources[entity]
        condition = entities[source].clause(resolved[source])
        text = f"If {condition} one day, {entities[entity].clause(resolved[entity])} from then on."
        return Given(entity, resolved[entity], text, True, "rule")

    def tie(entity: str) -> Given:
        said, source = entities[entity].says(before[entity]).rstrip("."), sources[entity]
        text = (
            f"{said}, but only as long as {entities[source].clause(before[source])}; nothing is settled for afterwards."
        )
        return Given(entity, before[entity], text, True)

    single = [base(entity) for entity in (recalled, tracked, deleted, *counted)]
    rng.shuffle(single)
    chain = [[base(root)], [base(first)], [rule(first)], [base(second)], [rule(second)], [tie(lost), tie(lost_later)]]
    early = [rng.sample([*facts, other], len(facts) + 1) for facts, other in zip(chain, single, strict=True)]
    updates = [Given(tracked, step, f"From now on {entities[tracked].clause(step)}.", False) for step in steps[1:]]
    change = Given(root, changed, f"Things have changed: {entities[root].clause(changed)} now.", False, "change")
    wish = f"Please forget {domain.mine(deleted)}: delete it and never bring it up again."
    events = [change, Given(deleted, "", wish, True, "deletion")]
    late = _late(rng, updates, events)
    sessions = tuple(tuple(facts) for facts in (*early, *late))
    voice = rng.choice(VOICES)
    return Outline(number, domain, voice, root, tasks, before, after, steps, sources, sessions)


def _names(rng: random.Random) -> Iterator[str]:
    for beginning in rng.sample(BEGINNINGS, len(BEGINNINGS)):
        yield beginning + rng.choice(ENDS)


def _late(rng: random.Random, updates: Sequence[Given], events: list[Given]) -> list[list[Given]]:
    """Return the sessions from the change on: each but one has an update; the other events are at random places."""
    free = rng.randrange(AFTER)
    sessions: list[list[Given]] = [[] for _ in range(AFTER)]
    for place, update in zip((at for at in range(AFTER) if at != free), updates, strict=True):
        sessions[place].append(update)
    rng.shuffle(events)
    for place, event in zip((free, rng.randrange(AFTER)), events, strict=True):
        sessions[place].insert(rng.randint(0, len(sessions[place])), event)
    return sessions
