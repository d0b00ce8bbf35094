"""Verbatim stores of the published rows are judged right, deleted rows are missed, planted faults are named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from published_stores import GRANULARITIES, SENTENCE, build, facts, needs_published_rows, verdict

from pytest_memfail.core import Evidence
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.tasks import MEMFAIL_TASKS

pytestmark = needs_published_rows
EVERY = {"verbatim": 1, "sentences": 4, "ten_messages": 4, "one_entry": 4}
"""All rows word for word; of the other granularities a quarter, which keeps the suite quick."""
PLANTED_EVERY = {"persona_retrieval": 2, "coexisting_facts": 3, "long_hop": 3}
"""Of the tasks with several facts a row, or several questions, a half or a third is planted with faults."""
DELETED_EVERY = {"long_hop": 2}
"""Of chains every other fact is left out: each time a store is read anew."""
CONNECTIVE = re.compile(
    r",?\s*(?:but )?\b(?:only |right |immediately |just )*"
    r"\b(?:when|whenever|if|after|during|before|while|at|between|in|under|inside|near|on)\b",
    re.IGNORECASE,
)
WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


WEAK = {
    ("correct", "sentences", "conditional_facts_hard"),
    ("not_retrieved", "sentences", "conditional_facts_hard"),
    ("not_retrieved", "ten_messages", "persona_retrieval"),
    ("not_stored", "sentences", "conditional_facts_easy"),
    ("not_stored", "sentences", "conditional_facts_hard"),
    ("not_stored", "sentences", "persona_retrieval"),
}
"""Where essays of people with one name are cut into pieces that name nobody: docs/judges.md gives the shares."""


def expect(request: pytest.FixtureRequest, wanted: str, granularity: str, name: str) -> None:
    """Mark what is known to be short of its goal."""
    if (wanted, granularity, name) in WEAK:
        request.applymarker(pytest.mark.xfail(reason="pieces that name nobody, among namesakes", strict=True))


def share(verdicts: list[str], wanted: set[str]) -> float:
    assert verdicts
    return sum(name in wanted for name in verdicts) / len(verdicts)


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
@pytest.mark.parametrize("granularity", [*GRANULARITIES, "one_entry"])
def test_stored_word_for_word_and_shown_is_correct(request: pytest.FixtureRequest, name: str, granularity: str) -> None:
    expect(request, "correct", granularity, name)
    judge, store, rng = RulesJudge(), build(name, granularity), random.Random(1)
    listing = store.listing
    found = [
        verdict(judge, e, q, listing, store.shown(e.conversation_id, rng, own=True))
        for e, q in facts(name, EVERY[granularity])
    ]
    assert share(found, {"correct"}) >= 0.99


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_other_entries_shown_is_not_retrieved(request: pytest.FixtureRequest, name: str, granularity: str) -> None:
    expect(request, "not_retrieved", granularity, name)
    judge, store, rng = RulesJudge(), build(name, granularity), random.Random(2)
    listing = store.listing
    found = [
        verdict(judge, e, q, listing, store.shown(e.conversation_id, rng, own=False))
        for e, q in facts(name, EVERY[granularity])
    ]
    assert share(found, {"not_retrieved"}) >= 0.99


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_a_deleted_row_is_not_stored(request: pytest.FixtureRequest, name: str, granularity: str) -> None:
    expect(request, "not_stored", granularity, name)
    judge, store = RulesJudge(), build(name, granularity)
    every = EVERY[granularity] * DELETED_EVERY.get(name, 1)
    listings = {c: store.without(c) for c in [*store.conversations][::every]}
    found = [judge.storage(e, listings[c]).outcome for e, _ in facts(name) if (c := e.conversation_id) in listings]
    assert share(found, {"failed"}) >= 0.97


def planted(name: str, change: Callable[[Evidence, str], str | None]) -> list[str]:
    """The verdicts on every fact whose verbatim entry the change could damage."""
    judge, store = RulesJudge(), build(name, "verbatim")
    found = []
    for evidence, question in facts(name, PLANTED_EVERY.get(name, 1)):
        text = store.conversations[evidence.conversation_id]
        damaged = change(evidence, text)
        if damaged is not None and damaged != text:
            listing = store.with_text(evidence.conversation_id, damaged)
            shown = [listing.memories[i] for i in store.own[evidence.conversation_id]]
            found.append(verdict(judge, evidence, question, listing, shown))
    assert len(found) >= 20
    return found


def rule_sentence(evidence: Evidence, text: str) -> tuple[list[str], int]:
    sentences = SENTENCE.split(text)
    behavior, condition = keys_of(evidence.behavior or ""), keys_of(evidence.condition or "")

    def score(i: int) -> float:
        keys = keys_of(sentences[i])
        return len(keys & behavior) / len(behavior) + 0.9 * len(keys & condition) / max(1, len(condition))

    return sentences, max(range(len(sentences)), key=lambda i: (score(i), -i))


def without_condition(evidence: Evidence, text: str) -> str | None:
    sentences, at = rule_sentence(evidence, text)
    behavior = keys_of(evidence.behavior or "") - keys_of(evidence.entity or "")
    for match in CONNECTIVE.finditer(sentences[at]):
        head = sentences[at][: match.start()]
        if keys_of(head) & behavior and keys_of(head) & behavior == keys_of(sentences[at]) & behavior:
            sentences[at] = head.replace("only ", "").strip(" ,") + "."
            return " ".join(sentences)
    return None


def without_only(evidence: Evidence, text: str) -> str | None:
    # Where the answer is "yes", a reader can decide it without: nothing that is needed is lost.
    if not re.match(r"no\b", evidence.value or "", re.IGNORECASE):
        return None
    sentences, at = rule_sentence(evidence, text)
    sentences[at] = re.sub(r"\bonly ", "", sentences[at])
    return " ".join(sentences)


def other_number(evidence: Evidence, text: str) -> str | None:
    number = re.compile(r"\b(\d+)(?=\b|%|°|[ap]m)|\b(two|three|four|five|six|seven|eight|nine|ten)\b")

    def value(match: re.Match[str]) -> int:
        return int(match[1]) if match[1] else WORDS.index(match[2])

    wanted = {value(match) for match in number.finditer(evidence.condition or "")}

    def change(match: re.Match[str]) -> str:
        of_scale = re.search(r"(?:out of|scale of|1 to) $", text[: match.start()])
        if of_scale or value(match) not in wanted:
            return match[0]
        return str(value(match) + 15) if match[1] else WORDS[value(match) + 2]

    return number.sub(change, text)


def other_name(evidence: Evidence, text: str) -> str:
    for part in (evidence.entity or "").split():
        if part not in ("Captain", "the"):
            text = re.sub(rf"\b{part}\b", "Bartholomew", text)
    return text


def swapped(evidence: Evidence, text: str) -> str | None:
    first, second = sorted(evidence.anchors, key=lambda anchor: text.casefold().find(anchor.casefold()))
    i, j = text.casefold().find(first.casefold()), text.casefold().find(second.casefold())
    if i < 0 or j < i + len(first):
        return None
    turned = text[:i] + second + text[i + len(first) : j] + first + text[j + len(second) :]
    return turned[0].upper() + turned[1:]


def in_general(evidence: Evidence, text: str) -> str:
    return re.sub(rf"\b{re.escape(evidence.preference or '')}(?:s|ing)?\b", "such things", text, flags=re.IGNORECASE)


def without_the_answer(evidence: Evidence, text: str) -> str | None:
    # Of what an answer lets choose, what another sentence tells is enough.
    if not evidence.value or " or " in evidence.value:
        return None
    needed = keys_of(evidence.value) - keys_of(evidence.entity or "")
    sentences = SENTENCE.split(text)
    best = max(range(len(sentences)), key=lambda i: (len(keys_of(sentences[i]) & needed), -i))
    return " ".join(sentence for i, sentence in enumerate(sentences) if i != best)


LOST = {"summary_error", "not_stored"}


@pytest.mark.parametrize(
    ("name", "change", "wanted"),
    [
        ("conditional_facts_easy", without_condition, {"summary_error"}),
        ("conditional_facts_easy", without_only, {"summary_error"}),
        ("conditional_facts_easy", other_number, {"summary_error"}),
        ("conditional_facts_easy", other_name, LOST),
        ("conditional_facts_hard", other_name, LOST),
        ("persona_retrieval", other_name, LOST),
        ("persona_retrieval", without_the_answer, {"summary_error"}),
        ("coexisting_facts", in_general, LOST),
        ("long_hop", swapped, {"summary_error"}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_planted_fault_is_named(name: str, change: Callable[[Evidence, str], str | None], wanted: set[str]) -> None:
    assert share(planted(name, change), wanted) >= 0.9
