"""What is said of a rule that is stored or not: the verdict with its reason, and what is lost."""

from __future__ import annotations

from typing import Final, Literal

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, listed
from pytest_memfail.judges.rules.made_from import made_from
from pytest_memfail.judges.rules.rule_condition import unexplained
from pytest_memfail.judges.rules.rule_likeness import coverage
from pytest_memfail.judges.rules.rule_match import ALL, VERBATIM, Match
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_numbers import other_currency
from pytest_memfail.judges.rules.view import View

PART_ONLY: Final = 0.6
"""With less of the behaviour, and no other word in the place of the rest, it is told in part only."""


def absent(rule: Rule, view: View, match: Match | None) -> Finding:
    """Nothing stores it: the entries that come closest."""
    window = next(iter(view.search(rule.behavior, rule.name)), None)
    if match and match.share:
        entries, top = view.entries_of(match.core), match.share
    else:
        entries, top = (view.entries_of(window.sentences), window.coverage) if window else ((), 0.0)
    if (made := made_from(rule.stated, rule.name, view)) is not None and made not in entries:
        inside = [view.sentences[i] for i in range(view.first[made], view.first[made + 1])]
        # An entry made from the source tells more than another one's with a word of the behaviour.
        entries, top = (made,), max((coverage(rule.behavior, (s,), rule.name_keys) for s in inside), default=0.0)
    reason = f"no entry says that {_who(rule)} {rule.wording_behavior!r}"
    if round(top, 2) >= 1.0:
        reason = f"an entry has the words of {rule.wording_behavior!r}, but does not say it of {_who(rule)}"
    elif top:
        reason = f"{reason}; the closest has {top:.0%} of its words"
    return Finding(
        False,
        False,
        reason,
        entries[:3],
        (),
        tuple(dict.fromkeys(filter(None, (rule.wording_behavior, rule.wording_condition)))),
        confidence=0.9 if top < 0.3 else 0.7,
    )


def explained(evidence: Evidence, rule: Rule, view: View, match: Match) -> Finding:
    """What is kept of a stored rule, and what is not."""
    kept, who = match.kept, _who(rule)
    entries = view.entries_of(match.region)
    found: tuple[str, ...] = (rule.wording_behavior,)
    missing: tuple[str, ...]
    if not match.own:
        reason = f"the behaviour {rule.wording_behavior!r} is stored, but not as {who}'s"
        missing = (rule.name.full,) if rule.name else ()
        return Finding(True, False, reason, entries, found, missing, confidence=0.8, fault="elsewhere")
    stored = " ".join(view.sentences[i].text for i in match.region)
    money = bool(rule.numbers) and other_currency(f"{evidence.condition} {evidence.source}", stored)
    only = kept.only or not rule.only
    part = match.share < PART_ONLY and not unexplained(rule, [view.sentences[i] for i in match.core])
    if match.whole and only and not money and not part:
        found += (rule.wording_condition,) if rule.wording_condition else ()
        reason = f"behaviour and condition of {who} are kept"
        return Finding(
            True,
            True,
            reason,
            entries,
            found,
            confidence=0.97 if min(match.share, kept.share) >= ALL and match.source >= VERBATIM else 0.7,
        )
    missing = kept.lost_numbers or (rule.wording_condition,)
    if kept.turned:
        reason = f"the rule of {who} is stored, but {kept.turned}"
    elif kept.lost_numbers:
        reason = f"the rule of {who} is stored without {listed(kept.lost_numbers)}"
    elif money:
        reason = f"the rule of {who} is stored, but in another currency"
    elif kept.dropped:
        reason = f"the rule of {who} is stored, but {listed(kept.dropped)} of its condition is left out"
    elif kept.ok and part:
        reason = f"of {rule.wording_behavior!r} too little is stored of {who}"
        missing = (rule.wording_behavior,)
    elif not kept.ok:
        reason = f"the behaviour of {who} is stored, but its condition {rule.wording_condition!r} is not kept with it"
    else:
        reason = f"the rule of {who} is stored, but not that it holds {rule.wording_only!r} then"
        missing = (rule.wording_only,)
        found += (rule.wording_condition,)
    fault: Literal["", "turned"] = "turned" if kept.turned else ""
    return Finding(True, False, reason, entries, found, tuple(filter(None, missing)), confidence=0.7, fault=fault)


def _who(rule: Rule) -> str:
    return rule.name.full if rule.name else "the entity"
