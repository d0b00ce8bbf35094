"""Conditional rules: an entity, what it does, and the condition it does it under (paper, section 4, task 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, passage, quote
from pytest_memfail.judges.rules.polarity import condition_negated, excepted, exclusive, negated, order
from pytest_memfail.judges.rules.quantities import CLOCK, Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of
from pytest_memfail.judges.rules.view import INHERITED, OPEN, OTHER, REACH, Name, View, Window, needs
from pytest_memfail.judges.rules.words import COMPARING

STORED: Final = 0.6
"""Share of the behaviour that shows it is stored by itself, and with some of its condition."""
STORED_WITH_CONDITION: Final = 0.4
STORED_ELSEWHERE: Final = 0.9
OWN_ELSEWHERE: Final = 0.8
"""Share of both, and of the entry's words that are the source's, that shows the rule under another name."""
OWN_UNNAMED: Final = 0.6
STORED_UNNAMED: Final = 0.75
OWN_DOUBTFUL: Final = 0.5
CONDITION_KEPT: Final = 0.6
CONDITION_KEPT_APART: Final = 0.5
CONDITION_KEPT_WITH_NUMBER: Final = 0.3
TRIGGER_KEPT: Final = 0.5
PLACES: Final = 200
TIED: Final = 0.5
"""Share of the condition that stands beside the behaviour where the source states the two together."""
COMPARING_KEYS: Final = frozenset(fold(word) for word in COMPARING)
SELF_TELLING: Final = frozenset(("deg", "db", "%", "lux", CLOCK))
"""Units that say by themselves what is measured."""
TRIGGERS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:it's|it is|that's|that is) |^(?:around|by the time|most of the time|most often|most nights|most days|at exactly)\b",
        r"^(?:usually|typically|often|during|on those|in those|at those|right after|right when|after|once|when|in that|at that)\b",
    )
)
"""How a sentence opens that tells when, in essays that state no condition outright (appendix B.3); plainer ones first."""
CLAUSE_END: Final = re.compile(r"\bthat\b|,|\b(?:he|she|they)\b", re.IGNORECASE)
ONLY: Final = re.compile(r"\b(?:only|unless|exclusively|solely|except|never)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """What must be found of a rule, as far as its source states it."""

    name: Name | None
    behavior: Mapping[str, float]
    reachable: float
    """The best share of the behaviour that any one place of the source has: a store cannot be asked for more."""
    condition: Mapping[str, float]
    numbers: tuple[Quantity, ...]
    trigger: Mapping[str, float]
    tied: bool
    """Whether the source states behaviour and condition together."""
    only: bool
    negative: bool
    """Whether the source's condition is itself a negation."""
    turned: bool
    """Whether the source's behaviour is itself negated."""
    order: int
    """Whether the rule holds after (1) or before (-1) its condition."""
    stated: frozenset[str]
    wording_behavior: str
    wording_condition: str
    wording_numbers: tuple[str, ...]
    wording_only: str


@lru_cache(maxsize=4096)
def read_rule(evidence: Evidence, protocol: str) -> Rule:
    """The rule of the evidence."""
    source = View([evidence.source], TextCache())
    name = Name.of(evidence.entity, source.lowers())
    ignore = keys_of(evidence.entity or "")
    stated = {key for sentence in source.sentences for key in sentence.keys}
    gold = evidence.behavior or evidence.text
    wanted = needs(keys_of(gold) - ignore)
    behavior = {key: value for key, value in wanted.items() if key in stated}
    best = _best(source, behavior)
    if sum(behavior.values()) < 0.5 * sum(wanted.values()) or best is None:
        widest = _best(source, behavior) if behavior else None
        more = set(behavior)
        if widest is not None:
            more |= {key for i in widest.sentences for key in source.sentences[i].keys} - ignore
        behavior = needs(more) or wanted
        best = _best(source, behavior)
    home = best.sentences if best else ()

    condition_text = evidence.condition or ""
    asked = keys_of(condition_text) - ignore
    condition = needs(asked if protocol == "paper" else asked & stated)
    all_numbers = [q for s in source.sentences for q in quantities(s.text, s.words)]
    numbers = []
    for s in sentences_of(condition_text):
        for q in quantities(s.text, s.words):
            same = [other for other in all_numbers if q.same(other)]
            if same or protocol == "paper":
                numbers.append(q)
    alone = {key: value for key, value in condition.items() if key not in behavior}
    condition = alone or ({} if numbers else condition)
    if numbers:
        condition = {key: value for key, value in condition.items() if key not in COMPARING_KEYS}
    place = _home_of_condition(source, behavior, condition, numbers)
    tied = place is not None
    if place is not None:
        here = source.sentences[place[0]].keys
        condition = {key: value for key, value in condition.items() if key in here or protocol == "paper"}
    trigger = {} if tied else _trigger(source, ignore | set(behavior))
    spoken = [source.sentences[i] for i in (place or home)]
    only = tied and any(exclusive(s) for s in spoken) and _says_only(evidence)
    if protocol == "paper":
        only = bool(ONLY.search(condition_text))
    shown = _condition_wording(evidence.source, source, place, condition, numbers, trigger)
    return Rule(
        name,
        behavior,
        best.coverage if best else 1.0,
        condition,
        tuple(numbers),
        trigger,
        tied,
        only,
        any(condition_negated(s, condition.keys()) or excepted(s, condition.keys()) for s in spoken),
        any(negated(s, behavior.keys()) for s in spoken),
        next((way for s in spoken if (way := order(s, condition.keys()))), 0),
        frozenset(stated),
        passage(evidence.source, source.sentences[home[0]], behavior) if home else gold,
        shown or condition_text,
        tuple(_number_wording(evidence.source, all_numbers, q) for q in numbers),
        _only_wording(spoken),
    )


def _best(view: View, need: Mapping[str, float]) -> Window | None:
    windows = view.search(need, None)
    return windows[0] if windows else None


def _trigger(source: View, ignore: set[str]) -> dict[str, float]:
    """The words of the source that tell when the behaviour shows, where it does not say so beside the behaviour."""
    for opening in TRIGGERS:
        found: set[str] = set()
        for sentence in source.sentences[1:]:
            if match := opening.match(sentence.text):
                found |= keys_of(CLAUSE_END.split(sentence.text[match.end() :].lstrip(), maxsplit=1)[0])
        if found - ignore:
            return needs(found - ignore)
    return {}


def _says_only(evidence: Evidence) -> bool:
    gold = f"{evidence.condition} {evidence.value or ''}"
    return bool(ONLY.search(gold)) or bool(re.match(r"\W*no\b", evidence.value or "", re.IGNORECASE))


def _only_wording(sentences: list[Sentence]) -> str:
    for sentence in sentences:
        if match := ONLY.search(sentence.text):
            return match[0]
    return "only"


def _home_of_condition(
    source: View, behavior: Mapping[str, float], condition: Mapping[str, float], numbers: list[Quantity]
) -> tuple[int, ...] | None:
    """The source sentence that states behaviour and condition together, if one does."""
    total = sum(condition.values())
    if not total and not numbers:
        return None
    for window in source.search(behavior, None):
        if window.coverage < 0.4 or len(window.sentences) > 1:
            continue
        sentence = source.sentences[window.sentences[0]]
        held = sum(value for key, value in condition.items() if key in sentence.keys)
        stated = quantities(sentence.text, sentence.words)
        if (not total or held >= TIED * total or numbers) and all(any(q.same(o) for o in stated) for q in numbers):
            return window.sentences
    return None


def _condition_wording(
    text: str,
    source: View,
    place: tuple[int, ...] | None,
    condition: Mapping[str, float],
    numbers: list[Quantity],
    trigger: Mapping[str, float],
) -> str:
    wanted = {*condition, *(w for q in numbers for w in keys_of(q.text))}
    if place is None:
        need = condition or trigger
        best = _best(source, need) if need else None
        if best is None:
            return ""
        return passage(text, source.sentences[best.sentences[0]], need)
    sentence = source.sentences[place[0]]
    return passage(text, sentence, wanted)


def _number_wording(text: str, stated: list[Quantity], wanted: Quantity) -> str:
    for quantity in stated:
        if wanted.same(quantity):
            return quote(text, [w for s in sentences_of(quantity.text) for w in s.words]) or quantity.text
    return wanted.text


@dataclass(frozen=True, slots=True)
class _Kept:
    """How much of the condition is kept beside one occurrence of the behaviour."""

    share: float
    ok: bool
    only: bool
    where: tuple[int, ...]
    lost_numbers: tuple[str, ...]
    turned: str


@dataclass(frozen=True, slots=True)
class _Match:
    """One place where the behaviour is stored."""

    window: Window
    share: float
    kept: _Kept
    whole: bool
    """Whether the condition is kept with it, the right way round."""

    @property
    def linked(self) -> bool:
        """Whether it is not plainly somebody else's."""
        return self.window.link >= OPEN


def find_rule(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The rule in a view: its behaviour (stored), and its condition tied to it (faithful)."""
    rule = read_rule(evidence, protocol)
    windows = view.search(rule.behavior, rule.name)
    matches = _matches(rule, view, windows)
    if not matches or (protocol == "paper" and not _stored_by_the_paper(evidence, rule, view, matches)):
        return _absent(rule, view, windows)
    best = min(matches, key=lambda m: (not m.linked, not m.whole, -m.kept.share, -m.share, m.window.sentences))
    return _explained(rule, view, best)


def _matches(rule: Rule, view: View, windows: list[Window]) -> list[_Match]:
    """The places that state the behaviour as part of this rule, with the condition found beside each."""
    places = _places(rule, view)
    found = []
    for window in windows:
        share = min(1.0, window.coverage / rule.reachable) if rule.reachable else 0.0
        if share < STORED_WITH_CONDITION:
            continue
        kept = _condition(rule, view, window, places)
        if _is_stored(rule, view, window, share, kept):
            whole = kept.ok and not kept.turned and (kept.only or not rule.only)
            found.append(_Match(window, share, kept, whole))
            if whole and window.link > OPEN and share >= STORED_ELSEWHERE:
                break
    return found


def _stored_by_the_paper(evidence: Evidence, rule: Rule, view: View, matches: list[_Match]) -> bool:
    """The published storage checks (appendix D.3): easy wants the condition too, hard both anywhere in any form."""
    if "hard" not in evidence.task:
        return any(m.kept.share >= CONDITION_KEPT_APART for m in matches)
    if rule.condition:
        return any(window.coverage >= CONDITION_KEPT_APART for window in view.search(rule.condition, None)[:1])
    return not rule.numbers or any(q.same(o) for q in rule.numbers for o in view.quantities(range(len(view.sentences))))


def _absent(rule: Rule, view: View, windows: list[Window]) -> Finding:
    top = windows[0].coverage if windows else 0.0
    reason = f"no entry says that {_who(rule.name)} {rule.wording_behavior!r}"
    return Finding(
        False,
        False,
        f"{reason}; the closest has {top:.0%} of its words" if top else reason,
        view.entries_of([i for window in windows[:3] for i in window.sentences])[:3],
        (),
        tuple(dict.fromkeys(filter(None, (rule.wording_behavior, rule.wording_condition)))),
        confidence=0.95 if top < 0.35 else 0.7,
    )


def _explained(rule: Rule, view: View, match: _Match) -> Finding:
    """What is kept of a stored rule, and what is not."""
    kept, who = match.kept, _who(rule.name)
    entries = view.entries_of((*match.window.sentences, *kept.where))
    found: tuple[str, ...] = (rule.wording_behavior,)
    missing: tuple[str, ...]
    if not match.linked or not _tied_to(view, rule.name, (*match.window.sentences, *kept.where)):
        reason = f"the behaviour {rule.wording_behavior!r} is stored, but not as {who}'s"
        missing = (rule.name.full,) if rule.name else ()
        return Finding(True, False, reason, entries, found, missing, confidence=0.8, fault="elsewhere")
    if match.whole:
        found += (rule.wording_condition,) if rule.wording_condition else ()
        reason = f"behaviour and condition of {who} are kept"
        return Finding(True, True, reason, entries, found, confidence=min(1.0, 0.6 + 0.4 * match.share))
    missing = kept.lost_numbers or (rule.wording_condition,)
    if kept.turned:
        reason = f"the rule of {who} is stored, but {kept.turned}"
    elif kept.lost_numbers:
        reason = f"the rule of {who} is stored without {listed(kept.lost_numbers)}"
    elif not kept.ok:
        reason = f"the behaviour of {who} is stored, but its condition {rule.wording_condition!r} is not kept with it"
    else:
        reason = f"the rule of {who} is stored, but not that it holds {rule.wording_only!r} then"
        missing = (rule.wording_only,)
        found += (rule.wording_condition,)
    fault: Literal["", "turned"] = "turned" if kept.turned else ""
    return Finding(True, False, reason, entries, found, tuple(filter(None, missing)), confidence=0.8, fault=fault)


def _is_stored(rule: Rule, view: View, window: Window, share: float, kept: _Kept) -> bool:
    """Whether this occurrence is the rule itself, and not another one that shares words with it."""
    own = view.own_share(window.sentences, rule.stated, rule.name)
    if window.link == OTHER:
        return (
            share >= STORED_ELSEWHERE
            and kept.share >= STORED_ELSEWHERE
            and not kept.lost_numbers
            and own >= OWN_ELSEWHERE
        )
    if window.link == OPEN:
        return share >= STORED_UNNAMED and kept.share >= 0.5 and own >= OWN_UNNAMED
    if share < STORED and kept.share < 0.5:
        return False
    return share >= 0.9 or kept.share >= 0.3 or own >= OWN_DOUBTFUL


def _tied_to(view: View, name: Name | None, at: tuple[int, ...]) -> bool:
    """Whether the entity can be told: named or inherited, or at least named anywhere and nobody else here."""
    if name is None or any(view.link(i, name) >= INHERITED for i in at):
        return True
    return bool(view.mentions(name))


def _least(rule: Rule) -> float:
    """The share of the condition's words that must be there."""
    if rule.numbers:
        return 0.0 if all(q.unit in SELF_TELLING for q in rule.numbers) else CONDITION_KEPT_WITH_NUMBER
    return CONDITION_KEPT if rule.tied else CONDITION_KEPT_APART


def _condition(rule: Rule, view: View, window: Window, places: list[int]) -> _Kept:
    if not rule.condition and not rule.numbers and not rule.trigger:
        return _Kept(1.0, True, True, (), (), "")
    scope = _scope(rule, view, window, places)
    here = frozenset().union(*(view.sentences[i].keys for i in window.sentences))
    total = sum(rule.condition.values())
    least = _least(rule)
    best: tuple[float, tuple[int, ...]] = (-1.0, ())
    best_trigger = 0.0
    trigger_total = sum(rule.trigger.values())
    everything: set[str] = set(here)
    for i in scope:
        keys = view.sentences[i].keys
        everything |= keys
        both = here | keys
        share = sum(v for k, v in rule.condition.items() if k in both) / total if total else 0.0
        numbers = view.quantities((*window.sentences, i))
        share += sum(any(q.same(o) for o in numbers) for q in rule.numbers)
        if share > best[0]:
            best = (share, () if i in window.sentences else (i,))
        if trigger_total:
            got = sum(v for k, v in rule.trigger.items() if k in keys) / trigger_total
            if got > best_trigger:
                best_trigger = got
                if got >= TRIGGER_KEPT and best[0] <= 0:
                    best = (best[0], () if i in window.sentences else (i,))
    where = best[1]
    at = (*window.sentences, *where)
    keys = here | frozenset().union(*(view.sentences[i].keys for i in at))
    if not rule.tied:
        keys = frozenset(everything)
    share = sum(v for k, v in rule.condition.items() if k in keys) / total if total else float(bool(rule.numbers))
    numbers = view.quantities(at if rule.tied else scope)
    lost = []
    turned = ""
    for wanted, wording in zip(rule.numbers, rule.wording_numbers, strict=True):
        same = [o for o in numbers if wanted.same(o)]
        if not same:
            lost.append(wording)
        elif wanted.direction and rule.tied and all(o.direction and o.direction != wanted.direction for o in same):
            turned = f"on the other side of {wording!r}"
    ok = share >= least if total else bool(rule.numbers) or not rule.trigger
    if rule.trigger and best_trigger >= TRIGGER_KEPT:
        ok = True
        share = max(share, best_trigger)
    told = [view.sentences[i] for i in at]
    if not turned and rule.tied:
        turned = _turned(rule, told)
    only = any(exclusive(view.sentences[i]) for i in at if _tells_condition(rule, view, i))
    return _Kept(share, ok and not lost, only, where, tuple(lost), turned)


def _tells_condition(rule: Rule, view: View, at: int) -> bool:
    """Whether the sentence says anything of the condition, so that an "only" in it is the condition's."""
    return bool(rule.condition.keys() & view.sentences[at].keys) or any(
        q.same(o) for q in rule.numbers for o in view.quantities((at,))
    )


def _turned(rule: Rule, told: list[Sentence]) -> str:
    """How the stored sentence says the opposite, or nothing."""
    for sentence in told:
        if not rule.condition.keys() & sentence.keys:
            continue
        negative = condition_negated(sentence, rule.condition.keys()) or excepted(sentence, rule.condition.keys())
        if negative != rule.negative or order(sentence, rule.condition.keys()) * rule.order < 0:
            return "its condition is turned around"
        refuses = "refus" in rule.behavior
        if (
            not refuses
            and rule.behavior.keys() & sentence.keys
            and negated(sentence, rule.behavior.keys())
            and not rule.turned
        ):
            return "its behaviour is negated"
    return ""


def _scope(rule: Rule, view: View, window: Window, places: list[int]) -> list[int]:
    """The sentences in which the condition may stand."""
    scope = list(window.sentences)
    entry = view.entry[scope[0]]
    strong = {key for key, value in rule.behavior.items() if value >= 1.0} or set(rule.behavior)
    if rule.tied:
        for i in (scope[0] - 1, scope[-1] + 1):
            if 0 <= i < len(view.sentences) and view.entry[i] == entry and _continues(view.sentences[i], strong):
                scope.append(i)
    if not rule.tied:
        near = range(max(view.first[entry], scope[0] - REACH), min(view.first[entry + 1], scope[0] + REACH + 1))
        scope.extend(i for i in near if i not in scope and view.link(i, rule.name) >= OPEN)
    known = set(scope)
    scope.extend(i for i in places if i not in known)
    return scope


def _places(rule: Rule, view: View) -> list[int]:
    """The sentences about the entity that may state the condition, wherever they are stored."""
    if rule.name is None:
        return []
    keys = rule.condition.keys() | rule.trigger.keys()
    strong = {key for key, value in rule.behavior.items() if value >= 1.0} or set(rule.behavior)
    found = []
    for i in view.about(rule.name):
        sentence = view.sentences[i]
        if (sentence.keys & keys or (rule.numbers and view.quantities((i,)))) and (
            not rule.tied or _restates(sentence, strong)
        ):
            found.append(i)
    return found[:PLACES]


_MARKER: Final = frozenset("when whenever if after during only unless while before once until".split())
_BACK: Final = frozenset(
    "this that it so these habit ritual behavior behaviour does happens happen occurs rule".split()
)


def _continues(sentence: Sentence, strong: set[str]) -> bool:
    return bool(sentence.lowers & _MARKER) and (bool(sentence.keys & strong) or bool(sentence.lowers & _BACK))


def _restates(sentence: Sentence, strong: set[str]) -> bool:
    return len(sentence.keys & strong) >= min(1, len(strong)) and bool(sentence.lowers & _MARKER)


def _who(name: Name | None) -> str:
    return name.full if name else "the entity"
