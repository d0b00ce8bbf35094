"""Check a file of episodes beyond the types of its fields. Errors stop a run; warnings are only reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_memfail.core import RowError, SuiteFault, short
from pytest_memfail.grading import states
from pytest_memfail.rows import JsonRow
from pytest_memfail.suites.meme.files import ABSENCE, UNCERTAIN, Block, Episode, read_episodes
from pytest_memfail.suites.meme.plan import CREDITED
from pytest_memfail.suites.places import elsewhere
from pytest_memfail.suites.published import as_faults
from pytest_memfail.texts import fold

LEAST = 4
"""The minimum length of a value that is searched for in filler sessions; shorter ones occur by chance."""

Fault = tuple[str, str]
"""A field, and the fault in it."""


def errors_of(episode: Episode) -> Iterator[Fault]:
    """Yield faults that make an episode impossible to run or to judge."""
    blocks = (("before_questions", episode.before_questions), ("after_questions", episode.after_questions))
    last = len(episode.sessions) - 1
    for name, block in blocks:
        if not 0 <= block.position_after_session <= last:
            problem = f"got {block.position_after_session}, expected the number of a session, 0 to {last}"
            yield f"{name}.position_after_session", problem
    before, after = (block.position_after_session for _, block in blocks)
    if before > after:
        yield (
            "before_questions.position_after_session",
            f"got {before}, expected at most {after}, that of after_questions",
        )
    for name, block in blocks:
        yield from _unmentioned(episode, name, block)
    for at, item in enumerate(episode.after_questions.questions):
        place = f"after_questions.questions.{at}"
        if item.type in CREDITED:
            for entity in item.entity:
                if episode.before_of(entity) is None:
                    yield f"{place}.entity", f"got {entity!r}, expected an entity with a question in before_questions"
        if item.type == "abs" and not ABSENCE.fullmatch(item.gold.strip()):
            form = "Uncertain \u2014 previously '\u2026', but \u2026 changed"
            yield f"{place}.gold_answer", f"got {short(item.gold)}, expected {form}"
    for name, block in blocks:
        for at, item in enumerate(block.questions):
            if not item.gold:
                field = "expected_answer" if name.startswith("before") else "gold_answer"
                yield f"{name}.questions.{at}.{field}", "got nothing, expected the right answer"


def _unmentioned(episode: Episode, name: str, block: Block) -> Iterator[Fault]:
    """Yield the entities that no session before their question mentions."""
    until = block.position_after_session
    named = {fact.entity for _, fact in episode.facts(until)}
    said: str | None = None
    for at, item in enumerate(block.questions):
        for entity in item.entity:
            if entity in named:
                continue
            said = "\n".join(s.text for s in episode.sessions[: until + 1]) if said is None else said
            values = [
                v for v in (*item.entity_values.get(entity, []), episode.old(entity)) if v and fold(v) != UNCERTAIN
            ]
            if not any(states(said, value) for value in values):
                problem = f"got {entity!r}, expected an entity that a session up to {until} mentions"
                yield f"{name}.questions.{at}.entity", problem


def warnings_of(episode: Episode) -> Iterator[Fault]:
    """Yield faults that make an episode easier or harder than it should be."""
    values = {fact.value for session in episode.sessions for fact in session.facts if len(fact.value) >= LEAST}
    for at, session in enumerate(episode.sessions):
        text = session.text
        others = [(str(other), each.text) for other, each in enumerate(episode.sessions) if other != at]
        if session.is_filler:
            for value in sorted(v for v in values if fold(v) in session.folded and states(text, v)):
                yield f"sessions.{at}", f"a filler session holds a gold value: {short(value)}"
        for number, fact in enumerate(session.facts):
            if fact.value and (better := elsewhere([fact.value], text, others)) is not None:
                more = f"; session {better} does" if better else ""
                yield f"sessions.{at}.gold_facts.{number}.value", f"the session never states {short(fact.value)}{more}"
    counts = Counter(entity for item in episode.before_questions.questions for entity in set(item.entity))
    for entity, count in counts.items():
        if count > 1:
            problem = f"{entity!r} has {count} questions before the change; the last one counts for credit"
            yield "before_questions.questions", problem


def check(path: Path) -> tuple[list[JsonRow[Episode]], list[RowError], list[RowError], str]:
    """Return the episodes of a file, its errors, its warnings and its SHA-256."""
    rows, errors, sha = read_episodes(path)
    warnings: list[RowError] = []
    seen: set[str] = set()
    for row in rows:
        episode = row.value
        if episode.episode_id in seen:
            problem = f"got {episode.episode_id!r} again, expected an id of its own"
            errors.append(RowError(str(path), row.line, f"episode {episode.episode_id}: episode_id", problem))
        seen.add(episode.episode_id)
        for found, faults in ((errors, errors_of(episode)), (warnings, warnings_of(episode))):
            found += [
                RowError(str(path), row.line, f"episode {episode.episode_id}: {f}", problem) for f, problem in faults
            ]
    return rows, errors, warnings, sha


def faults_of(paths: Iterable[Path]) -> Iterator[SuiteFault]:
    """Yield all faults of the files; those of each file start with the errors."""
    for path in paths:
        _, errors, warnings, _ = check(path)
        yield from as_faults(errors, warnings)
