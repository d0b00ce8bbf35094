"""MEME-like episodes: a model writes the conversations around the facts of drawn outlines.

Questions, right answers, times and the order of the sessions follow from the seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel

from pytest_memfail.authoring import (
    ESSAY,
    FRAME,
    Item,
    Line,
    Made,
    Raw,
    Recipe,
    Request,
    Session,
    Stage,
    Work,
    distinct,
    quoted,
    run_stage,
    spanned,
    stage_work,
    stems,
    text_faults,
)
from pytest_memfail.core import UsageError
from pytest_memfail.grading import asserts
from pytest_memfail.suites.meme.graph import BEFORE, SESSIONS, UNCERTAIN, WISHES, Domain, Given, Outline, draw

EPISODES: Final = "episodes.json"
ESSAY_LIKENESS: Final = 0.8
"""Fillers with this Jaccard similarity are the same."""
MOST_FILLERS: Final = 1000
PAIRS: Final = (3, 7)
"""The minimum and maximum number of user messages in a session."""
_AT: Final = range(SESSIONS)
START: Final = datetime(2024, 1, 8)
GAP_DAYS: Final = (2, 9)
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NOTHING: Final = "No information (the user asked to delete it)"
KINDS: Final = {
    "exact_recall": "ER",
    "aggregation": "Agg",
    "tracking": "Tr",
    "deletion": "Del",
    "cascade": "Cas",
    "absence": "Abs",
}
"""Role in the graph to type of question, in the order of the questions."""
CREDITED: Final = ("deletion", "cascade", "absence")
"""Roles with a question before the change too."""

SESSION_PROMPT: Final = f"""\
You write chats between one person and an assistant, turn by turn. They will be stored one after the other, to see \
what a memory makes of facts that come up in passing. Every row of the task is one chat: its setting, the person's \
voice, and the facts that must come up, in that order.
- "turns": {{low}} to {{high}} pairs of "user" and "assistant", one or more sentences each. The person comes with an \
everyday request of the setting and pursues it; the facts slip in where they fit, each in a message of its own from \
the person. The assistant is helpful, takes up what was said, and guesses nothing.
- A fact with "exact" true: copy "fact" into a message of the person, letter for letter with all its punctuation, \
as whole sentences between others.
- Any other fact: the person says it in the first person as something that holds now, with "value" letter for letter \
and words of "fact" around it. The sentence has no if, would, could, might or will.
- Names, brands, places and codes that the task does not give stay out, and so does anything about how these things \
were before, or may be later, that the facts do not say.
{FRAME}"""

FILLER_PROMPT: Final = f"""\
You write chats between one person and an assistant, turn by turn, that reveal nothing lasting about the person. They \
are the hay in which a memory has to find a needle. Every row of the task is one chat: its setting, the person's \
voice, what it is about, and what the person wants of it.
- "turns": {{low}} to {{high}} pairs of "user" and "assistant", one or more sentences each. They stay with the subject, \
are useful and differ from one another.
- The person says nothing about where they live, work, shop, learn or train, whom they know, what they own or use, no \
codes and no rules of theirs; no names of people, firms, products or places at all. They ask for nothing to be kept \
or to be forgotten.
{FRAME}"""


class Pair(BaseModel):
    """A message of the user, and the reply."""

    user: Line
    assistant: Line


class Chat(Item):
    """One session."""

    turns: list[Pair]


class ChatsReply(BaseModel):
    """The reply of both stages."""

    rows: list[Chat]


class MemeEpisodes:
    """The recipe."""

    def __init__(self, request: Request) -> None:
        """Draw the outlines. Raises `UsageError` for too many fillers."""
        if not 0 <= request.fillers <= MOST_FILLERS:
            raise UsageError(f"--fillers: got {request.fillers}, expected 0 to {MOST_FILLERS}")
        self._request = request
        self._outlines = [draw(number, request.seed) for number in range(1, request.n + 1)]
        self._sessions = Stage(
            "sessions",
            Chat,
            ChatsReply,
            spanned(SESSION_PROMPT, PAIRS),
            self._spec,
            self._faults,
            size=request.batch_size or 2,
            given_tokens=130,
            reply_tokens=450,
            title=lambda number: "episode {}, session {}".format(*_place(number, SESSIONS)),
        )
        self._fillers = Stage(
            "fillers",
            Chat,
            ChatsReply,
            spanned(FILLER_PROMPT, PAIRS),
            self._filler_spec,
            self._filler_faults,
            size=request.batch_size or 2,
            given_tokens=55,
            reply_tokens=450,
            title=lambda number: "episode {}, filler {}".format(*_place(number, MOST_FILLERS)),
        )

    def plan(self, raw: Raw) -> list[Work]:
        """Return the work of both stages."""
        n = self._request.n
        return [
            *stage_work([self._sessions], range(1, n * SESSIONS + 1), raw),
            *stage_work([self._fillers], self._filler_numbers(range(1, n + 1)), raw),
        ]

    async def make(self, session: Session) -> Made:
        """Request the sessions with facts, and then the fillers of the episodes whose sessions with facts are complete."""
        chats: dict[int, Chat] = {}
        await run_stage(session, self._sessions, range(1, self._request.n * SESSIONS + 1), chats)
        written = [o.number for o in self._outlines if all(_number(o.number, at, SESSIONS) in chats for at in _AT)]
        fillers: dict[int, Chat] = {}
        await run_stage(session, self._fillers, self._filler_numbers(written), fillers)
        texts = {self._fillers.title(n): " ".join(p.user for p in fillers[n].turns) for n in sorted(fillers)}
        repeats = distinct(texts, ESSAY_LIKENESS, lambda title: title)
        hay = {n: chat for n, chat in fillers.items() if self._fillers.title(n) not in repeats}
        complete = [n for n in written if all(number in fillers for number in self._filler_numbers([n]))]
        episodes = [self._episode(self._outlines[number - 1], chats, hay) for number in complete]
        counts = {
            "wanted": self._request.n,
            "given_up": self._request.n - len(episodes),
            "near_duplicates": len(repeats),
            "episodes": len(episodes),
            "sessions": sum(len(episode["sessions"]) for episode in episodes),
            "questions": sum(len(e[f"{m}_questions"]["questions"]) for e in episodes for m in ("before", "after")),
        }
        return Made({EPISODES: episodes}, counts, {"fillers": ESSAY_LIKENESS}, list(repeats.values()))

    # -- what is asked for -------------------------------------------------------------------------------------------

    def _filler_numbers(self, episodes: Sequence[int]) -> list[int]:
        """Return the row numbers of the fillers of some episodes; they do not depend on the number of fillers."""
        return [_number(episode, at, MOST_FILLERS) for episode in episodes for at in range(self._request.fillers)]

    def _given(self, number: int) -> tuple[Outline, tuple[Given, ...]]:
        episode, session = _place(number, SESSIONS)
        outline = self._outlines[episode - 1]
        return outline, outline.sessions[session - 1]

    def _spec(self, number: int) -> Mapping[str, Any]:
        outline, facts = self._given(number)
        given = [{"fact": f.text, "exact": f.is_exact, **({} if f.is_exact else {"value": f.value})} for f in facts]
        return {"setting": outline.domain.setting, "voice": outline.voice, "facts": given}

    def _filler_spec(self, number: int) -> Mapping[str, Any]:
        episode, filler = _place(number, MOST_FILLERS)
        outline = self._outlines[episode - 1]
        rng = random.Random(f"{self._request.seed}:meme:fillers:{outline.domain.code}")
        # each episode continues in the list where the previous episode of its domain stopped, until all subjects are used
        before = (episode - 1) // 2 * self._request.fillers
        choices = [(topic, wish) for wish in WISHES for topic in outline.domain.topics]
        rng.shuffle(choices)
        topic, wish = choices[(before + filler - 1) % len(choices)]
        return {"setting": outline.domain.setting, "voice": outline.voice, "about": topic, "wants": wish}

    # -- what is checked ---------------------------------------------------------------------------------------------

    def _faults(self, number: int, item: Chat) -> Iterator[str]:
        outline, facts = self._given(number)
        return _faults(outline.domain, facts, item)

    def _filler_faults(self, number: int, item: Chat) -> Iterator[str]:
        return _faults(self._outlines[_place(number, MOST_FILLERS)[0] - 1].domain, (), item)

    # -- the episode -------------------------------------------------------------------------------------------------

    def _episode(self, outline: Outline, chats: Mapping[int, Chat], fillers: Mapping[int, Chat]) -> dict[str, Any]:
        """Return an episode in MEME's published format."""
        seed, number = self._request.seed, outline.number
        rng = random.Random(f"{seed}:meme:{number}:order")
        places = sorted(rng.randrange(SESSIONS) for _ in range(self._request.fillers))
        hay = [n for n in self._filler_numbers([number]) if n in fillers]
        order: list[tuple[Chat, tuple[Given, ...] | None]] = []
        fact_sessions: list[int] = []
        for at in _AT:
            order += [(fillers[n], None) for n, place in zip(hay, places, strict=False) if place == at]
            fact_sessions.append(len(order))
            order.append((chats[_number(number, at, SESSIONS)], outline.sessions[at]))
        name, moment = f"{outline.domain.code}_g{seed}_{number:03d}", START
        asked, sessions, facts = {}, [], 0
        for at, (chat, given) in enumerate(order):
            moment += timedelta(days=rng.randint(*GAP_DAYS))
            time = moment.replace(hour=rng.randint(8, 20), minute=rng.randrange(60))
            gold = None if given is None else [_gold(f, facts + i, chat) for i, f in enumerate(given, 1)]
            facts += len(gold or ())
            sessions.append(
                {
                    "session_id": f"{name}_s{at:02d}",
                    "type": "filler" if gold is None else "evidence",
                    "timestamp": _shown(time),
                    "conversation": [
                        {"role": role, "content": content} for pair in chat.turns for role, content in pair
                    ],
                    "gold_facts": gold,
                }
            )
            if at in (fact_sessions[BEFORE - 1], fact_sessions[-1]):
                asked[at] = {"timestamp": _shown(time.replace(hour=22)), "position_after_session": at}
        early, late = (asked[fact_sessions[at]] for at in (BEFORE - 1, SESSIONS - 1))
        root = outline.root
        return {
            "episode_id": name,
            "domain": outline.domain.name,
            "root": root,
            "root_change": {"before": outline.before[root], "after": outline.after[root]},
            "entities": {
                e: {"before": outline.before[e], "after": outline.after[e], "task": role}
                for e, role in outline.tasks.items()
            },
            "dependency_edges_used": [
                {"source": source, "target": target, "hop": outline.hop(target), "pattern": outline.tasks[target]}
                for target, source in outline.sources.items()
            ],
            "tasks": list(KINDS.values()),
            "evidence_session_indices": fact_sessions,
            "sessions": sessions,
            "before_questions": {**early, "questions": list(_before(outline))},
            "after_questions": {**late, "questions": list(_after(outline))},
        }


def _number(episode: int, at: int, size: int) -> int:
    """Return the row number of a session (from 0) of an episode with at most this many sessions."""
    return (episode - 1) * size + at + 1


def _place(number: int, size: int) -> tuple[int, int]:
    """Return the episode of a row and its place in the episode, both from 1."""
    episode, at = divmod(number - 1, size)
    return episode + 1, at + 1


def _shown(time: datetime) -> str:
    return f"{time:%Y/%m/%d} ({WEEKDAYS[time.weekday()]}) {time:%H:%M}"  # the names of strftime depend on the locale


# -- conversations -----------------------------------------------------------------------------------------------------


def _faults(domain: Domain, facts: Sequence[Given], item: Chat) -> Iterator[str]:
    if not PAIRS[0] <= len(item.turns) <= PAIRS[1]:
        yield f"turns: got {len(item.turns)}, expected {PAIRS[0]} to {PAIRS[1]}"
        return
    texts = [text for pair in item.turns for _, text in pair]
    if faults := [fault for text in texts for fault in text_faults("turns", text, ESSAY)]:
        yield from faults
        return  # the following rules expect texts of normal length
    for fact in facts:
        yield from _unsaid(domain, fact, [pair.user for pair in item.turns])
    given = "\n".join(fact.text for fact in facts)
    for value in domain.strange_values("\n".join(texts), given):
        yield f"turns: holds {quoted(value)}, expected no value but those of the facts given"


def _unsaid(domain: Domain, fact: Given, users: Sequence[str]) -> Iterator[str]:
    """Yield the reasons why the user's messages do not state a fact."""
    if fact.is_exact:
        if not any(fact.text in text for text in users):
            yield f"turns: no message of the user has, to the letter: {fact.text}"
        return
    saying = [text for text in users if fact.value.casefold() in text.casefold()]
    if not saying:
        yield f"turns: no message of the user has {quoted(fact.value)}, expected it to the letter"
        return
    saying = [text for text in saying if asserts(text, fact.value)]
    if not saying:
        yield f"turns: {quoted(fact.value)} is only a possibility, expected a sentence that says that it holds"
        return
    entity = domain.entities[fact.entity]
    topic = stems(" ".join((entity.sentence.replace("{}", ""), entity.question, entity.words)))
    if not any(topic & stems(text) for text in saying):
        yield f"turns: {quoted(fact.value)} stands alone, expected it with words of: {fact.text}"


def _gold(fact: Given, number: int, chat: Chat) -> dict[str, Any]:
    users = [pair.user for pair in chat.turns]
    turn = next(
        at for at, text in enumerate(users) if fact.text in text or (not fact.is_exact and asserts(text, fact.value))
    )
    return {
        "fact_id": f"f{number:02d}",
        "entity": fact.entity,
        "value": fact.value,
        "fact_text": fact.text,
        "conveyed_in_turn": 2 * turn,
        "notes": fact.note,
    }


# -- questions ---------------------------------------------------------------------------------------------------------


def _before(outline: Outline) -> Iterator[dict[str, Any]]:
    for entity, role in outline.tasks.items():
        if role in CREDITED:
            value = outline.before[entity]
            question = outline.domain.entities[entity].question
            yield {**_about(outline, [entity], {entity: value}), "question": question, "expected_answer": value}


def _after(outline: Outline) -> Iterator[dict[str, Any]]:
    mine, entities = outline.domain.mine, outline.domain.entities
    for role in KINDS:
        names = [entity for entity, other in outline.tasks.items() if other == role]
        for group in [names] if role == "aggregation" else [[name] for name in names]:
            name = group[0]
            question, before, after = entities[name].question, outline.before[name], outline.after[name]
            values: dict[str, Any] = {entity: outline.before[entity] for entity in group}
            answer = before
            if role == "aggregation":
                question = f"Tell me three things: {mine(group[0])}, {mine(group[1])} and {mine(group[2])}."
                answer = "; ".join(values.values())
            elif role == "tracking":
                question = (
                    f"What has {mine(name)} been, from the first that I told you of to the present one, in order?"
                )
                values, answer = {name: list(outline.steps)}, " \u2192 ".join(outline.steps)
            elif role == "deletion":
                answer = NOTHING
            elif after is not None and role in ("cascade", "absence"):
                question, values = question.replace("?", " now?"), {name: after}
                root = entities[outline.root].words
                answer = (
                    f"{UNCERTAIN} \u2014 previously '{before}', but the {root} changed" if role == "absence" else after
                )
            yield {**_about(outline, group, values), "question": question, "gold_answer": answer}


def _about(outline: Outline, entities: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the common fields of the questions before and after the change."""
    hop = {"hop": outline.hop(entities[0])} if entities[0] in outline.sources else {}
    return {"task_type": KINDS[outline.tasks[entities[0]]], "entity": list(entities), "entity_values": values, **hop}


RECIPES: Final = {"meme": Recipe(MemeEpisodes, (EPISODES,))}
