"""How much of a rule's condition is kept with its behaviour, and whether it is the same condition still."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.judges.rules.associations import association
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import likely
from pytest_memfail.judges.rules.rule_contrary import (
    clauses_swapped,
    opposite_in_link,
    opposite_told,
    other_order,
    turned_around,
)
from pytest_memfail.judges.rules.rule_likeness import GENERAL, MATCHED, SPECIFIC, coverage, likeness, said
from pytest_memfail.judges.rules.rule_needed import COMPARING_KEYS, Rule
from pytest_memfail.judges.rules.rule_numbers import (
    SELF_TELLING,
    alike,
    counted_alike,
    kept_numbers,
    other_rate,
    stated_numbers,
    telling,
)
from pytest_memfail.judges.rules.rule_object import other_object
from pytest_memfail.judges.rules.rule_only import leaves_nothing
from pytest_memfail.judges.rules.rule_origin import tells_the_rule
from pytest_memfail.judges.rules.rule_other import (
    borrowed,
    contraposed,
    contrary_condition,
    generalised,
    vaguer_time,
    withheld,
)
from pytest_memfail.judges.rules.rule_phrases import clashes, values, without
from pytest_memfail.judges.rules.rule_places import LIGHT, explains
from pytest_memfail.judges.rules.rule_refused import done, refusal_kept
from pytest_memfail.judges.rules.rule_shifted import always, at_will, deserted, loosened, shifted, tightened
from pytest_memfail.judges.rules.rule_sides import swapped_roles
from pytest_memfail.judges.rules.senses import MEASURED, POLES, states
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import EXCLUSIVE, WEAK_WEIGHT

KEPT: Final = 0.4
KEPT_WITH_NUMBER: Final = 0.3
TOLD_BY_NUMBER: Final = 0.6
ACCOUNTED: Final = 0.34
ONLY_KEYS: Final = frozenset(fold(word) for word in EXCLUSIVE)
SHARED: Final = 3
"""So many words of the rule's own show at a glance that a sentence may have been made from it."""
ANY: Final = re.compile(
    r"\b(?:any|anything|anywhere|anyone|all (?:kinds|sorts)|whatever|wherever|various)\b(?: (\w+))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of the condition is kept beside the behaviour."""

    share: float
    ok: bool
    only: bool
    lost_numbers: tuple[str, ...]
    turned: str
    dropped: tuple[str, ...]
    """Words of the condition that are gone, with nothing in their place."""
    checks: frozenset[str] = frozenset()
    """Which checks found something at fault."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """What the checks find at fault in the source itself, which must not be held against a store."""

    share: float = 1.0
    """How much of the condition the source itself keeps by this measure."""
    numbers: frozenset[str] = frozenset()
    checks: frozenset[str] = frozenset()
    dropped: bool = False


NO_QUIRKS: Final = Quirks()


def kept_condition(
    rule: Rule,
    view: View,
    core: Sequence[int],
    region: Sequence[int],
    wider: Sequence[int],
    quirks: Quirks = NO_QUIRKS,
) -> Kept:
    """What the region (the core, where the behaviour stands, and what refers to it) keeps of the condition.

    Args:
        rule: what is looked for.
        view: where.
        core: the sentences that state the behaviour.
        region: these, and those that refer back to the behaviour.
        wider: these, and what says of the condition what it means, where the source states it apart.
        quirks: what the source itself fails in.
    """
    if not rule.conditions and not rule.numbers and not rule.link:
        return Kept(1.0, True, True, (), "", ())
    if rule.tied and (rule.order or rule.asked_order or rule.numbers):
        # An entry's sentence that ties the two is looked at, though more of the behaviour stands beside it.
        at_home = {view.entry[i] for i in core}
        beside = [i for i in region if i not in core and view.entry[i] in at_home]
        core = [*core, *(i for i in beside if _made_from_the_rule(rule, view.sentences[i]))]
    here = [view.sentences[i] for i in core]
    apart = not rule.tied and (not rule.link or len(rule.conditions) == 1)  # what ties the two may tell no condition
    entries = {view.entry[i] for i in region}
    # What another entry says of the condition counts where the behaviour's points to it: by a word, or by its number.
    numbered = any(alike(q, o) for q in rule.numbers for s in here for o in stated_numbers(s))
    told = [view.sentences[i] for i in wider if i in region or (apart and (numbered or view.entry[i] in entries))]
    told = [sentence for sentence in told if not _beside(rule, sentence)]
    at = region if rule.tied else wider
    gone, moved = kept_numbers(
        rule.numbers, rule.wording_numbers, view, core, at, rule.when, rule.source, tied=rule.tied
    )
    lost = tuple(wording for wording in gone if wording not in quirks.numbers)
    share = min(1.0, _share(rule, here, told, lost) / (quirks.share or 1.0))
    found = {"number": moved} if moved and not quirks.numbers and "number" not in quirks.checks else {}
    if moved and not lost and not rule.turned and any(withheld(sentence, rule) for sentence in here):
        found = {}  # not done at seven or less: done above it
    behind = [sentence for sentence in here if contraposed(rule, sentence) or refusal_kept(rule, sentence) > 0]
    straight = [sentence for sentence in here if sentence not in behind]
    found |= {name: how for name, how in _contradictions(rule, straight, told) if name not in quirks.checks}
    turned = next(iter(found.values()), "")
    if (
        not turned
        and not lost
        and (
            behind
            or _counted(rule, here)
            or (rule.tied and (telling(rule.numbers) or len(rule.numbers) > 1))
            or counted_alike(rule.numbers, rule.when, here)
        )
    ):
        share = max(share, TOLD_BY_NUMBER)
    dropped = () if quirks.dropped or behind else _dropped(rule, told, here) or _dropped_apart(rule, told, here)
    said_so = share >= _least(rule) or (not rule.tied and _accounted(rule, here)) or _in_state(rule, here)
    ok = said_so and not lost and not dropped
    only = not rule.only or bool(behind) or leaves_nothing(rule, view, core, region)
    return Kept(share, ok, only, lost, turned, dropped, frozenset(found))


def _made_from_the_rule(rule: Rule, sentence: Sentence) -> bool:
    return len(sentence.keys & rule.spoken) >= SHARED and tells_the_rule(sentence, rule)


def _beside(rule: Rule, sentence: Sentence) -> bool:
    """Whether it keeps what the source says by the way: that it shares a word with the condition ties nothing to it."""
    keys = sentence.keys - rule.name_keys
    return len(keys) > 1 and any(keys <= told for told in rule.besides)


def _counted(rule: Rule, here: Sequence[Sentence]) -> bool:
    """Whether the gold's number is told with the behaviour, though the source has it in other words only."""
    asked = () if rule.numbers else tuple(q for s in sentences_of(rule.when) for q in stated_numbers(s))
    stated = [q for sentence in here for q in stated_numbers(sentence)]
    return any(q.unit and q.same(o) and q.direction * o.direction >= 0 for q in asked for o in stated)


def _contradictions(rule: Rule, here: Sequence[Sentence], told: Sequence[Sentence]) -> Iterator[tuple[str, str]]:
    """Each way in which what is told with the behaviour may be another condition, or its contrary; by name."""
    checks = (
        ("turned", turned_around(rule, here) if rule.tied else ""),
        ("order", other_order(rule, here if rule.tied else told)),
        ("refused", _refused_otherwise(rule, here)),
        ("done", done(rule, here)),
        ("opposed", opposite_told(rule, here) or opposite_in_link(rule, told)),
        ("clashing", _clashing(rule, here)),
        ("contrary", "" if _in_state(rule, here) else contrary_condition(rule, here)),
        ("shifted", shifted(rule, here) if rule.tied else ""),
        ("loosened", loosened(rule, here) or tightened(rule, here)),
        ("always", always(rule, here) or at_will(rule, here) or deserted(rule, here)),
        ("general", generalised(rule, here) or vaguer_time(rule, here)),
        ("borrowed", borrowed(rule, here)),
        ("roles", swapped_roles(rule, here)),
        ("clauses", clauses_swapped(rule, here) if rule.tied else ""),
        ("object", other_object(rule, here)),
        ("rate", other_rate(rule.when, rule.source, here)),
    )
    return ((name, how) for name, how in checks if how)


def _refused_otherwise(rule: Rule, here: Sequence[Sentence]) -> str:
    return "it is refused at all the other times" if any(refusal_kept(rule, s) < 0 for s in here) else ""


def _share(rule: Rule, here: Sequence[Sentence], told: Sequence[Sentence], lost: Sequence[str]) -> float:
    """How much of the condition is said, in the wording of which most is."""
    if rule.conditions:
        # A word that stands for one of the behaviour's is not said of the condition, unless it is its own.
        doing = {key for s in told for key in s.keys if rule.does(key)} - rule.known
        doing |= {key for s in told for key in s.keys if rule.says_beside(key)}
        return max(coverage(need, told, rule.name_keys | doing) for need in rule.conditions)
    # "at that hour": the source does not say it in words of its own, so words from around it must do.
    return float(not lost if rule.numbers else _accounted(rule, here))


def _accounted(rule: Rule, here: Sequence[Sentence]) -> bool:
    """Whether what is said beside the behaviour is mostly what the source says of the condition, in whatever words."""
    rest = (
        {key for s in here if not _beside(rule, s) for key in s.keys if weight(key) >= 1.0 and not key[0].isdigit()}
        - rule.name_keys
        - LIGHT
        - ONLY_KEYS
    )
    rest = {key for key in rest if max((likeness(own, key) for own in rule.behavior), default=0.0) < MATCHED}
    pool = (
        rule.pool.difference(rule.also) if rule.conditions else rule.pool
    )  # what ties the two also tells of the behaviour
    told = [key for key in rest if any(likeness(known, key) >= MATCHED for known in likely(key, pool))]
    if rule.conditions and not any(key in told or key not in rule.stated for key in rest - rule.asked):
        return False  # nothing is said that could stand for what is missing
    return bool(told) and len(told) >= ACCOUNTED * len(rest)


def _clashing(rule: Rule, here: Sequence[Sentence]) -> str:
    """Another weekday, season or weather than the rule's."""
    when = rule.when if any(values(rule.when)) or rule.asked_state else rule.told
    done = rule.behavior.keys() - rule.asked  # a cloak of raindrops is no weather
    if clashes(when, (without(s, done) for s in here), rule.told):
        return "another time, place or company is said than its own"
    if rule.meant:
        told = frozenset().union(*(states(s.text) for s in here))
        known = states(rule.told) | rule.meant
        for kind, pole in sorted(told - known):
            if kind in MEASURED and any(alike(q, o) for q in rule.numbers for s in here for o in stated_numbers(s)):
                continue  # the number tells it
            if (kind, 1 - pole) in rule.meant and (kind, 1 - pole) not in told:
                return f"the contrary is said of its condition ({POLES[kind][pole].split(',')[0]!r})"
    return ""


def _in_state(rule: Rule, here: Sequence[Sentence]) -> bool:
    """Whether the state that the condition asks for is told with the behaviour, in whatever words."""
    return not rule.numbers and any(rule.asked_state & states(s.text) for s in here)


def _least(rule: Rule) -> float:
    if rule.numbers:
        return 0.0 if all(q.unit in SELF_TELLING for q in rule.numbers) else KEPT_WITH_NUMBER
    return KEPT


def _dropped(rule: Rule, told: Sequence[Sentence], here: Sequence[Sentence]) -> tuple[str, ...]:
    """The condition's words that are missing though no other word could stand in their place."""
    if not rule.tied or (rule.numbers and all(q.unit in SELF_TELLING for q in rule.numbers)):
        return ()
    least = 1.0 if rule.numbers else WEAK_WEIGHT  # what is counted may be left unsaid: a table of six
    gone = tuple(
        key for key, value in rule.condition.items() if value >= least and said(key, told, rule.name_keys) < GENERAL
    )
    if not gone or len(gone) == len(rule.condition):
        return ()
    return () if unexplained(rule, [*here, *filter(explains, told)]) and not _generalised(rule, here) else gone


def _dropped_apart(rule: Rule, told: Sequence[Sentence], here: Sequence[Sentence]) -> tuple[str, ...]:
    """The same of a condition that the source tells apart from the behaviour: what is left of it is told with the behaviour.

    A bearded guest is no guest with a hat: a new word stands for one that is missing where the two have to do with each other.
    """
    if rule.tied or rule.numbers:
        return ()
    asked = [key for key in rule.asked - rule.behavior.keys() if weight(key) >= 1.0 and key in rule.stated]
    kept = [key for key in asked if said(key, here, rule.name_keys) >= MATCHED]
    gone = [
        k
        for k in asked
        if k in rule.link and k not in COMPARING_KEYS and kinds_of(k) and said(k, told, rule.name_keys) < SPECIFIC
    ]
    if not kept or not gone:
        return ()
    new = unexplained(rule, told)
    return tuple(
        key for key in gone if not any(likeness(key, o) or likeness(o, key) or association(key, o) for o in new)
    )


def _generalised(rule: Rule, here: Sequence[Sentence]) -> bool:
    """Whether what is told with the behaviour is said to hold of all of a kind, as the source does not say."""
    if ANY.search(rule.told):
        return False
    return any(match[1] is None or fold(match[1]) not in rule.behavior for s in here for match in ANY.finditer(s.text))


def unexplained(rule: Rule, told: Sequence[Sentence]) -> set[str]:
    """Words of the store that are not the source's: they may stand for any that is missing."""
    name = rule.name.parts if rule.name else frozenset()
    words = {w.key for s in told for w in s.words if w.key and w.lower.removesuffix("'s") not in name}
    known = rule.stated | rule.asked | rule.behavior.keys()
    return {key for key in words if key not in known and not key[0].isdigit()}
