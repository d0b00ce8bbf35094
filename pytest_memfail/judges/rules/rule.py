"""Conditional rules: an entity, what it does, and the condition it does it under (paper, section 4, task 1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding
from pytest_memfail.judges.rules.rule_condition import (
    NO_QUIRKS,
    Quirks,
    kept_condition,
)
from pytest_memfail.judges.rules.rule_finding import absent, explained
from pytest_memfail.judges.rules.rule_likeness import MATCHED, SAME, coverage, said
from pytest_memfail.judges.rules.rule_match import ALL, SEVERAL, VERBATIM, Match, is_stored
from pytest_memfail.judges.rules.rule_needed import Rule, source_view
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers
from pytest_memfail.judges.rules.rule_origin import tells_the_rest, tells_the_rule
from pytest_memfail.judges.rules.rule_people import PRONOUNS
from pytest_memfail.judges.rules.rule_places import POINTING, explains, goes_on, takes_up
from pytest_memfail.judges.rules.rule_pointed import pointed_at
from pytest_memfail.judges.rules.rule_reading import read_rule
from pytest_memfail.judges.rules.rule_roles import about_another, belongs, given_to_another
from pytest_memfail.judges.rules.text import Sentence, Word, weight
from pytest_memfail.judges.rules.view import INHERITED, OTHER, View, Window

TOLD: Final = 0.2
"""Share of the behaviour that shows it in a sentence which was made from the rule's own."""
TOLD_REWORDED: Final = 0.3
"""The same, where none of its words is said outright."""
STORED_UNNAMED: Final = 0.6
SHOWN_UNNAMED: Final = 0.7
"""The same of a memory that was shown, …"""
FROM_SOURCE: Final = 0.6
"""… where it names nobody and so much of it is the source's."""
STORED_ELSEWHERE: Final = 0.85
CONDITION_ELSEWHERE: Final = 0.75
OWN_ELSEWHERE: Final = 0.7
"""Share of the entry's words that are the source's, that shows the rule under another name."""
TELLS: Final = 0.4
ALSO: Final = 0.9
SWAPPED: Final = 0.5
CONDITION_SWAPPED: Final = 0.3
"""Shares that show it where the entity is named, but another one does it."""
CORES: Final = 6
CLOSE: Final = 0.2
OWN_SHARE: Final = 0.6
"""Of two places as good, one has to have so much of the other's share of the source's words."""
REFERS: Final = 0.2
"""Share of the behaviour by which another sentence refers to it."""
HALF: Final = 0.5
SCATTERED: Final = 0.8
"""What words are worth that are found in several places."""
MEANT: Final = 0.3
ENOUGH: Final = 60
"""With more sentences than these about the entity, only those that share a word with the rule are read closely."""
CONDITION_KEPT_APART: Final = 0.5


def find_rule(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The rule in a view: its behaviour (stored), and its condition tied to it (faithful)."""
    rule = read_rule(evidence, protocol)
    own = _own(rule, view)
    match = _of_entity(rule, view, own, NO_QUIRKS)
    if match is not None and not match.whole and _quirks(rule) != NO_QUIRKS:
        match = _of_entity(rule, view, own, _quirks(rule))
    if match is None or not is_stored(match):
        match = _of_another(rule, view, own) or match
    if match is None or not is_stored(match):
        return absent(rule, view, match)
    if protocol == "paper" and not _stored_by_the_paper(evidence, rule, view, match):
        return absent(rule, view, match)
    return explained(evidence, rule, view, match)


def _own(rule: Rule, view: View) -> list[int]:
    """The sentences about the entity that may have to do with the rule."""
    about = view.about(rule.name) if rule.name is not None else list(range(len(view.sentences)))
    about = sorted({*(i for i in about if belongs(i, view, rule)), *pointed_at(rule, view)})
    if len(about) <= ENOUGH:
        return about
    keys = {*rule.behavior, *rule.link, *(key for need in rule.conditions for key in need)}
    return [i for i in about if view.sentences[i].keys & keys]


@lru_cache(maxsize=4096)
def _quirks(rule: Rule) -> Quirks:
    """What the checks hold against the source itself."""
    view = source_view(rule.source)
    match = _of_entity(rule, view, _own(rule, view), NO_QUIRKS)
    if match is None:
        return NO_QUIRKS
    kept = match.kept
    return Quirks(kept.share, frozenset(kept.lost_numbers), kept.checks, bool(kept.dropped))


def _of_entity(rule: Rule, view: View, own: Sequence[int], quirks: Quirks) -> Match | None:
    """The best place among the sentences about the entity."""
    does = {i: _done_by(rule, view.sentences[i]) for i in own}
    mine = [
        i for i in own if not given_to_another(view.sentences[i], rule) and not about_another(view.sentences[i], rule)
    ]
    found = []
    best = 0.0  # share of a place that stores it: much weaker ones, which come after it, are not read
    for core, share in _cores(rule, view, mine, does):
        if min(1.0, share) < best - 2 * CLOSE:  # the best may yet give way to another not much weaker
            break
        region = _region(rule, view, core, mine, does)
        wider = [*region, *(i for i in mine if i not in region and _means(rule, view, i))]
        source = view.own_share(core, rule.stated, rule.name)
        said_at = _words_said(rule, view, core)
        kept = kept_condition(rule, view, core, region, wider, quirks)
        match = Match(core, min(1.0, share), kept, region, True, source, said_at)
        if (
            share >= (TOLD if said_at[0] else TOLD_REWORDED)
            and not is_stored(match)
            and any(tells_the_rule(view.sentences[i], rule) for i in core)
        ):
            match = replace(match, told=True)
        if is_stored(match):
            if not match.told and all(tells_the_rest(view.sentences[i], rule, share) for i in core):
                continue
            best = max(best, match.share)
        found.append(match)
    stored = _answered_for(rule, view, [match for match in found if is_stored(match)] or found)
    best = max((match.share for match in stored), default=0.0)
    # Of places about as good, one that keeps the condition: a rule may be stored twice, once in short.
    near = [match for match in stored if match.share >= best - CLOSE]
    taken = max((match.source for match in near), default=0.0)
    near = [match for match in near if match.source >= OWN_SHARE * taken]  # another of that name
    return max(near, key=lambda m: (m.whole, m.share + 0.5 * m.kept.share, tuple(-i for i in m.core)), default=None)


def _done_by(rule: Rule, sentence: Sentence) -> float:
    """How much of the behaviour the sentence says: read once for the store, and for what is shown of it."""
    known = rule.done.get(sentence)
    if known is None:
        known = rule.done[sentence] = _does(rule, (sentence,))
    return known


def _answered_for(rule: Rule, view: View, found: Sequence[Match]) -> list[Match]:
    """Without the places that borrow the condition from a sentence which tells it with the behaviour, and tells it wrong."""
    wrong = [
        m
        for m in found
        if not m.whole and (m.kept.turned or m.kept.lost_numbers) and len(m.core) == 1 and _conditioned(rule, view, m)
    ]
    if not wrong:
        return list(found)
    return [
        match
        for match in found
        if _conditioned(rule, view, match)
        or not any(
            m.core[0] in match.region and m.core[0] not in match.core and m.share >= match.share - CLOSE for m in wrong
        )
    ]


def _conditioned(rule: Rule, view: View, match: Match) -> bool:
    """Whether the place itself tells when."""
    told = [view.sentences[i] for i in match.core]
    counted = any(wanted.unit == other.unit for s in told for other in stated_numbers(s) for wanted in rule.numbers)
    return counted or any(_holds(rule, sentence) >= HALF for sentence in told)


def _does(rule: Rule, told: Collection[Sentence]) -> float:
    share = coverage(rule.behavior, told, rule.name_keys) / rule.reachable
    return max(share, ALSO * coverage(rule.also, told, rule.name_keys)) if rule.also else share


def _exact(rule: Rule, sentence: Sentence) -> bool:
    return bool((sentence.keys - sentence.aliased) & rule.behavior.keys() & rule.own)


def _words_said(rule: Rule, view: View, core: Sequence[int]) -> tuple[int, bool, bool]:
    """How many words of the behaviour are said outright, and whether one that tells it from the rest of the source is, if any."""
    told = [view.sentences[i] for i in core]
    known = {key: said(key, told, rule.name_keys) for key in rule.behavior}
    telling = {key for key in rule.behavior.keys() & rule.own if weight(key) >= 1.0}
    exact = sum(share >= SAME and rule.behavior[key] >= TELLS for key, share in known.items())
    return exact, any(known[key] >= MATCHED for key in telling), bool(telling)


def _cores(rule: Rule, view: View, mine: Sequence[int], does: dict[int, float]) -> list[tuple[tuple[int, ...], float]]:
    """The places with most of the behaviour: a sentence, two neighbours, or several that refer to one another."""
    found: dict[tuple[int, ...], float] = {}
    touching = [i for i in mine if does[i] > 0]
    for i in touching:
        found[i,] = does[i]
        if i + 1 in does and i + 1 in mine and view.entry[i] == view.entry[i + 1]:
            both = _does(rule, (view.sentences[i], view.sentences[i + 1]))
            if both > max(does[i], does[i + 1]):
                found[i, i + 1] = both
    scattered = tuple(i for i in touching if does[i] >= REFERS and _exact(rule, view.sentences[i]))
    if len(scattered) > 1:
        together = _does(rule, [view.sentences[i] for i in scattered])
        found.setdefault(scattered, SCATTERED * together)
    ranked = sorted(found.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    return ranked[:CORES]


def _region(
    rule: Rule, view: View, core: tuple[int, ...], mine: Sequence[int], does: dict[int, float]
) -> tuple[int, ...]:
    """The core, and every sentence that speaks of the behaviour or of when it shows."""
    found = list(core)
    threads = _threads(rule, view, core)
    # What the number told with the behaviour measures may be told beside it.
    numbered = any(alike(q, o) for q in rule.numbers for i in core for o in stated_numbers(view.sentences[i]))
    for i in mine:
        if i in core:
            continue
        sentence = view.sentences[i]
        beside = any(abs(i - at) == 1 and view.entry[i] == view.entry[at] for at in core)
        tells = does[i] >= REFERS or sentence.keys & threads or (beside and goes_on(sentence))
        tells = tells or (beside and numbered and _holds(rule, sentence) >= HALF)
        tells = tells or _speaks_of_it(rule, sentence)
        linked = sentence.keys & rule.aside or any(weight(key) >= 1.0 for key in sentence.keys & rule.also.keys())
        if tells or (linked and _holds(rule, sentence) >= HALF):
            found.append(i)
    return (*found, *_told_next(view, found), *_pointed_back_at(view, found))


def _speaks_of_it(rule: Rule, sentence: Sentence) -> bool:
    """Whether it points to the behaviour by one of its words: "caps those recitations at two a day"."""
    return any(
        before.lower in POINTING and word.key and weight(word.key) >= 1.0 and rule.does(word.key)
        for before, word in pairwise(sentence.words)
    )


def _holds(rule: Rule, sentence: Sentence) -> float:
    """How much of the condition the sentence says."""
    known = rule.held.get(sentence)
    if known is None:
        shares = [coverage(need, (sentence,), rule.name_keys) for need in rule.conditions]
        known = rule.held[sentence] = max(shares, default=0.0)
    return known


def _told_next(view: View, region: Sequence[int]) -> list[int]:
    """What the entry after the behaviour's tells of it: "That happens when ..."."""
    at = [i + 1 for i in region if i + 1 < len(view.sentences) and view.entry[i] != view.entry[i + 1]]
    return [i for i in at if i not in region and explains(view.sentences[i])]


def _threads(rule: Rule, view: View, core: Sequence[int]) -> set[str]:
    """Telling words of the core that are its own or the rule's: another entry with one of them goes on about it."""
    words = [word for i in core for word in view.sentences[i].words if not _is_label(view.sentences[i], word)]
    names = {word.key for word in words if word.surface[0].isupper()} | rule.name_keys | rule.asked
    keys = {word.key for word in words if word.key and weight(word.key) >= 1.0} - names
    return {key for key in keys if (key in rule.own or key not in rule.stated) and not key[0].isdigit()}


def _is_label(sentence: Sentence, word: Word) -> bool:
    """Whether it names a field: every entry of the store has it."""
    return sentence.text[word.end :].lstrip("\"'")[:1] == ":"


def _pointed_back_at(view: View, region: Sequence[int]) -> list[int]:
    """What the sentence before tells that one of the region takes up: "Her slot is 12 to 2. That is when she hides"."""
    at = [i - 1 for i in region if i and view.entry[i] == view.entry[i - 1] and _answers(view, i)]
    return [i for i in at if i not in region]


def _answers(view: View, at: int) -> bool:
    """Whether the sentence takes up the one before, or answers it: "Wet seats? He won't ride then"."""
    return takes_up(view.sentences[at]) or view.sentences[at - 1].text.endswith("?")


def _means(rule: Rule, view: View, at: int) -> bool:
    if _holds(rule, view.sentences[at]) >= MEANT:
        return True
    spoken_of = bool(view.sentences[at].keys & rule.asked)
    same = [q for q in rule.numbers for o in stated_numbers(view.sentences[at]) if q.same(o)]
    return any(q.unit or spoken_of for q in same)


def _of_another(rule: Rule, view: View, own: Sequence[int]) -> Match | None:
    """The same rule told of somebody else, or of nobody in particular."""
    swapped = [i for i in own if given_to_another(view.sentences[i], rule)]
    for i in swapped:
        share = min(1.0, coverage(rule.behavior, (view.sentences[i],), rule.name_keys) / rule.reachable)
        kept = kept_condition(rule, view, (i,), (i,), (i,))
        if share >= SWAPPED and kept.share >= CONDITION_SWAPPED:
            return Match((i,), share, kept, (i,), own=False)
    about = set(own).difference(swapped)
    for window in view.search(rule.behavior, rule.name):
        if about.intersection(window.sentences):
            continue
        match = _foreign(rule, view, window)
        if match is not None:
            return match
    return None


def _foreign(rule: Rule, view: View, window: Window) -> Match | None:
    told = [view.sentences[i] for i in window.sentences]
    share = min(1.0, coverage(rule.behavior, told, rule.name_keys) / rule.reachable)
    if view.held == "shown" and _may_be_own(rule, view, window):
        # That it is the entity's was for the whole store to tell.
        if share < SHOWN_UNNAMED:
            return None
        kept = kept_condition(rule, view, window.sentences, window.sentences, window.sentences)
        return Match(window.sentences, share, kept, window.sentences, own=True)
    named = window.link in (OTHER, INHERITED) or window.link > INHERITED
    if share < (STORED_ELSEWHERE if named else STORED_UNNAMED):
        return None
    kept = kept_condition(rule, view, window.sentences, window.sentences, window.sentences)
    own = view.own_share(window.sentences, rule.stated, rule.name)
    # What is all but word for word this conversation's was made from it, whatever else was lost with the name.
    verbatim = own >= VERBATIM and share >= ALL and _words_said(rule, view, window.sentences)[0] >= SEVERAL
    if not verbatim and (kept.share < CONDITION_ELSEWHERE or kept.lost_numbers or own < OWN_ELSEWHERE):
        return None
    return Match(window.sentences, share, kept, window.sentences, own=False)


def _may_be_own(rule: Rule, view: View, window: Window) -> bool:
    """Whether the place names nobody, says "he" or "she" as the source does, and was made from the source."""
    told = [view.sentences[i] for i in window.sentences]
    entries = {view.entry[i] for i in window.sentences}
    inside = [view.sentences[i] for entry in entries for i in range(view.first[entry], view.first[entry + 1])]
    nameless = not any(word.surface[0].isupper() and word.start for s in inside for word in s.words)
    pronouns = {PRONOUNS[word] for s in told for word in s.lowers if word in PRONOUNS}
    own = view.own_share(window.sentences, rule.stated, rule.name) >= FROM_SOURCE
    does = any(rule.pronoun in sentence.lowers for sentence in told)  # not "the brown one hides in his box"
    return does and nameless and pronouns == {rule.pronoun} and own


def _stored_by_the_paper(evidence: Evidence, rule: Rule, view: View, match: Match) -> bool:
    """The published storage checks (appendix D.3): easy wants the condition too, hard both anywhere in any form."""
    if "hard" not in evidence.task:
        return match.kept.share >= CONDITION_KEPT_APART
    if rule.condition:
        return any(window.coverage >= CONDITION_KEPT_APART for window in view.search(rule.condition, None)[:1])
    return not rule.numbers or any(q.same(o) for q in rule.numbers for o in view.quantities(range(len(view.sentences))))
