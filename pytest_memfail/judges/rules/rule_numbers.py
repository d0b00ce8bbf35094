"""The numbers of a rule's condition: whether they are kept, with their side, unit and rate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.lexicon import likely
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.quantities import CLOCK, DURATION, Quantity, quantities
from pytest_memfail.judges.rules.rule_likeness import MATCHED, likeness
from pytest_memfail.judges.rules.text import Sentence, Word, fold, sentences_of
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import COMPARING, NUMBERS

SELF_TELLING: Final = frozenset(("deg", "db", "%", "lux", CLOCK))
"""Units that say by themselves what is measured."""
COMMON: Final = 12
"""Larger numbers do not stand there by chance."""
CURRENCIES: Final = (
    re.compile(r"\beuros?\b|\beur\b|€"),
    re.compile(r"\bdollars?\b|\busd\b|\bbucks?\b|\$"),
    re.compile(r"\bpounds?\b|\bgbp\b|\bquid\b|£"),
    re.compile(r"\bz[lł]ot(?:y|ys|ies)\b|\bpln\b|\bzł"),
    re.compile(r"\byen\b|\bjpy\b|¥"),
    re.compile(r"\bfrancs?\b|\bchf\b"),
    re.compile(r"\brupees?\b|\binr\b|₹"),
    re.compile(r"\bcrowns?\b|\bkron(?:or|er|a|e)\b|\b(?:sek|nok|dkk|czk)\b"),
    re.compile(r"\bpesos?\b|\bmxn\b"),
    re.compile(r"\bliras?\b|\btry\b|₺"),
)
STRICT: Final = re.compile(
    r"\b(?:(?:more|fewer|less|higher|greater|larger|older|younger) than|over|above|beyond|exceed\w*|under|below)(?: \w+)?$",
    re.IGNORECASE,
)
"""What stands before a number that is itself left out."""
MORE: Final = re.compile(r"more|higher|greater|larger|older|over|above|beyond|exceed", re.IGNORECASE)
INCLUDED_BEFORE: Final = re.compile(
    r"\b(?:at (?:the )?(?:very )?(?:least|most)|up to|(?:no|not|never) (?:more|fewer|less|later|earlier) than"
    r"|(?:min|max)imum(?: of)?)(?: \w+)?$",
    re.IGNORECASE,
)
INCLUDED_AFTER: Final = re.compile(
    r"\+|(?: \w+)? (?:or|and) (?:more|over|above|up|fewer|less|under|below|lower|higher|upwards?|greater)\b"
    r"|(?: \w+)? upwards?\b|(?: \w+)? at (?:the )?(?:very )?(?:most|least)\b",
    re.IGNORECASE,
)
MEASURING: Final = frozenset(fold(word) for word in COMPARING)
"""Words around any number: they tell nothing of what it counts."""
REACH: Final = 5
BEHIND: Final = 2
"""So many words before and behind a number tell what it counts."""
TAIL: Final = 30
"""So many characters after a number may tell its side."""
SIGNS: Final = {"<": -1, "≤": -1, ">": 1, "≥": 1}
AT_MOST: Final = re.compile(
    r"\b(?:at (?:the )?(?:very )?most|up to|(?:no|not|never) (?:more than|above|over|beyond)|maximum|max|tops|no higher than"
    r"|(?:or|and) (?:less|fewer|under|below|lower|none|no|zero|nothing|even less))\b",
    re.IGNORECASE,
)
AT_LEAST: Final = re.compile(
    r"\b(?:at (?:the )?(?:very )?least|(?:no|not|never) (?:(?:less|fewer|lower) than|below|under)|minimum|min"
    r"|(?:or|and) (?:more|higher|over|above|up|upwards?|greater))\b|\+",
    re.IGNORECASE,
)
ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth".split(),
        3,
    )
}
"""A second is a time as well."""
SPANS: Final = {60.0: "hour", 1440.0: "day", 10080.0: "week"}
"""Minutes of the stretches of time that have a name."""
ANY_NUMBER: Final = re.compile(
    rf"\d|(?<![^\W\d_])(?:{'|'.join((*NUMBERS, *ORDINALS))}|half|noon|midday|midnight|hour|quarter|fortnight)"
)
"""What a text that states a number cannot do without: one look spares most sentences the reading."""
RATE: Final = re.compile(
    r"\b(?:per|every|each|an?|one|any|single|given|calendar|same|last|past|previous) (hour|day|week|month|year)\b"
    r"|\b(hour|dai|week|month|year)ly\b",
    re.IGNORECASE,
)
WEEKDAYS: Final = re.compile(
    r"\b(?:every|each) ((?:first|second|third|fourth|last|other|1st|2nd|3rd|4th) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.IGNORECASE,
)
COUNTED_BY: Final = re.compile(r"\b(?:per|every|each|any|given|same)$", re.IGNORECASE)
"""What stands before a stretch of so many minutes that something is counted by."""


def stated_numbers(sentence: Sentence) -> tuple[Quantity, ...]:
    """The quantities of a sentence, and what it counts in ordinals."""
    return _stated(sentence.text)


@lru_cache(maxsize=65536)
def _stated(text: str) -> tuple[Quantity, ...]:
    if not ANY_NUMBER.search(text.lower()):
        return ()
    found: list[Quantity] = []
    for sentence in sentences_of(text):
        found += quantities(sentence.text, sentence.words)
        for i, word in enumerate(sentence.words):
            if word.lower in ORDINALS:
                found.append(Quantity(float(ORDINALS[word.lower]), "", 0, word.surface, i))
    return tuple(found)


def telling(numbers: Sequence[Quantity]) -> bool:
    """Whether the numbers alone show the condition: of a telling unit, or too large to stand there by chance."""
    return bool(numbers) and all(q.unit in SELF_TELLING or q.value > COMMON for q in numbers)


def kept_numbers(
    numbers: Sequence[Quantity],
    wordings: Sequence[str],
    view: View,
    core: Sequence[int],
    at: Sequence[int],
    when: str,
    source: str,
    *,
    tied: bool,
) -> tuple[tuple[str, ...], str]:
    """The numbers that are gone, and how one of them stands on the wrong side.

    Args:
        numbers: what is needed.
        wordings: each as the source has it.
        view: where.
        core: the sentences that state the behaviour.
        at: those that may state the condition.
        when: the condition in the words of the gold.
        source: what was told.
        tied: whether the source states the two together.
    """
    stated = [(view.sentences[i], q) for i in at for q in stated_numbers(view.sentences[i])]
    here = {view.sentences[i] for i in core}
    lost = []
    turned = ""
    for wanted, wording in zip(numbers, wordings, strict=True):
        same = [(s, q) for s, q in stated if _equal(wanted, q, s) and not _counts_other(wanted, q, s, source)]
        if not same and any(_as_rate(wanted, view.sentences[i]) for i in at):
            continue
        if not same:
            lost.append(wording)
            continue
        if not any(s in here for s, _ in same) and not turned:
            # Another number with the behaviour, which was never told: that this one stands elsewhere does not save it.
            strange = [(s, q) for s, q in stated if s in here and not any(q.same(own) for own in _stated(source))]
            turned = replaced([wanted], when, strange)
        # Elsewhere than beside the behaviour, the other side may tell what happens there.
        beside = [(s, q) for s, q in same if s in here]
        ways = [_way(q, s) for s, q in beside or same if beside or not tied]
        if wanted.direction and ways and all(way and way != wanted.direction for way in ways):
            turned = f"on the other side of {wording!r}"
        if _is_count(wanted) and all(
            alike(wanted, q) and _bound(q, s.text) * _bound(wanted, when) < 0 for s, q in same
        ):
            turned = f"by one more or less than {wording!r}"
    if lost and not turned:
        gone = [q for q, w in zip(numbers, wordings, strict=True) if w in lost]
        turned = replaced(gone, when, [(s, q) for s, q in stated if s in here])
    return tuple(lost), turned


def replaced(lost: Sequence[Quantity], when: str, stated: Sequence[tuple[Sentence, Quantity]]) -> str:
    """Another number in the place of one that is gone, of the same measure or of the same thing: it was changed.

    >>> (two,), (ladles,) = sentences_of("with two ladles"), sentences_of("more than 40 guests")
    >>> replaced(stated_numbers(ladles), ladles.text, [(two, q) for q in stated_numbers(two)])
    ''
    """
    for wanted in lost:
        for sentence, other in stated:
            if other.unit == wanted.unit and (wanted.unit or _same_slot(wanted, when, other, sentence)):
                return f"with {other.text!r} instead of {wanted.text!r}"
    return ""


def counted_alike(numbers: Sequence[Quantity], when: str, here: Sequence[Sentence]) -> bool:
    """Whether each number stands there, and counts the same thing: six hearings, in whatever list."""
    return bool(numbers) and all(
        any(_equal(wanted, q, s) and _same_slot(wanted, when, q, s) for s in here for q in stated_numbers(s))
        for wanted in numbers
    )


def _same_slot(wanted: Quantity, when: str, other: Quantity, sentence: Sentence) -> bool:
    """Whether both count the same thing, or stand right behind the same word."""
    home = next((s for s in sentences_of(when) if wanted in stated_numbers(s)), None)
    if home is None:
        return False
    (before, after), (found_before, found_after) = _slot(wanted, home), _slot(other, sentence)
    pairs = ((before, found_before), (after, found_after))
    return any(likeness(one, held) >= MATCHED for own, told in pairs for one in own for held in told)


def _slot(quantity: Quantity, sentence: Sentence) -> tuple[list[str], list[str]]:
    """The nearest telling word before a number, and those right after it."""
    words = sentence.words
    end = quantity.at + len(quantity.text.split())
    before = [w.key for w in reversed(words[max(0, quantity.at - REACH) : quantity.at]) if _names(w)]
    return before[:1], [w.key for w in words[end : end + BEHIND] if _names(w)]


def _names(word: Word) -> bool:
    return bool(word.key) and word.key not in MEASURING and not word.key[0].isdigit()


def other_rate(when: str, source: str, here: Sequence[Sentence]) -> str:
    """A count told for another stretch of time than its own.

    >>> other_rate("twice per hour", "never more than twice per hour", sentences_of("never more than twice a day"))
    'counted by the day and not by the hour'
    """
    meant = rates(when) & rates(source)
    told = set().union(*(rates(s.text) for s in here))
    if len(meant) == 1 and told and not told & (meant | rates(source)):
        return f"counted by the {min(told)} and not by the {min(meant)}"
    return ""


@lru_cache(maxsize=65536)
def rates(text: str) -> frozenset[str]:
    """The stretches of time that something is counted by.

    >>> sorted(rates("twice in any ten minutes")), sorted(rates("three per 24 hours"))
    (['10 minutes'], ['day'])
    """
    named = {(m[1] or m[2]).casefold() for m in RATE.finditer(text)}
    if any(match[1] is None for match in WEEKDAYS.finditer(text)):
        named.add("week")
    for span in _stated(text):
        if span.unit == DURATION and COUNTED_BY.search(text[: text.find(span.text)].rstrip()):
            named.add(SPANS.get(span.value, f"{span.value:g} minutes"))
    return frozenset("day" if name == "dai" else name for name in named)


def _as_rate(wanted: Quantity, sentence: Sentence) -> bool:
    """Whether the stretch of time is told by its name, as what something is counted by: seven days are a week.

    >>> (days,) = stated_numbers(sentences_of("in any seven-day stretch")[0])
    >>> _as_rate(days, sentences_of("two solos in any week")[0])
    True
    """
    return wanted.unit == DURATION and SPANS.get(wanted.value) in rates(sentence.text)


def counts_by(quantity: Quantity, sentence: Sentence) -> bool:
    """Whether it is the one of "one per guest"."""
    following = sentence.words[quantity.at + 1 : quantity.at + 2]
    return quantity.value == 1 and not quantity.unit and any(word.lower in ("per", "for", "each") for word in following)


def alike(wanted: Quantity, stated: Quantity) -> bool:
    """Whether both are the same number: "a five-day streak" is "five gym days" in a row."""
    return wanted.same(stated) or (not (wanted.unit and stated.unit) and _numeral(wanted) == _numeral(stated))


def _equal(wanted: Quantity, stated: Quantity, sentence: Sentence) -> bool:
    if alike(wanted, stated):
        return True
    # Fewer than three is at most two, more than three at least four, and never a third time at most twice.
    step = stated.value - wanted.value
    if wanted.direction < 0 and step == -1 and AT_MOST.search(sentence.text):
        return not wanted.unit or wanted.unit == stated.unit
    if wanted.direction < 0 and step == 1 and stated.text.casefold() in ORDINALS:
        return any(is_negator(word.lower) for word in sentence.words)
    return wanted.direction > 0 and step == 1 and bool(AT_LEAST.search(sentence.text)) and wanted.unit == stated.unit


def _counts_other(wanted: Quantity, stated: Quantity, sentence: Sentence, source: str) -> bool:
    """Whether a measure is wanted, and what is counted is none and unknown to the source: four chapters for four days."""
    if not wanted.unit or stated.unit:
        return False
    known = frozenset(keys_of(source))
    behind = sentence.words[stated.at + len(stated.text.split()) :][:REACH]
    counted = [word.key for word in takewhile(_names, behind)]  # five consecutive workout days
    return bool(counted) and all(likeness(own, key) < MATCHED for key in counted for own in likely(key, known))


def _numeral(quantity: Quantity) -> str:
    return next((fold(word) for word in re.findall(r"[\w.,:]+", quantity.text.casefold())), "")


def _is_count(quantity: Quantity) -> bool:
    """Whether one more or less decides: of a few things counted, but not of eighty."""
    return not quantity.unit and quantity.value <= COMMON


def _bound(quantity: Quantity, text: str) -> int:
    """1 where the number itself is left out ("more than three"), -1 where it is in ("at least three"), else 0."""
    at = text.find(quantity.text)
    before, after = text[:at].rstrip(), text[at + len(quantity.text) :][:TAIL]
    if INCLUDED_BEFORE.search(before) or INCLUDED_AFTER.match(after) or before[-1:] in ("≤", "≥"):
        return -1
    if (strict := STRICT.search(before)) is not None:
        # "never does it more than twice": up to two, and two as well.
        return -1 if quantity.direction < 0 and MORE.match(strict[0]) else 1
    return int(before[-1:] in ("<", ">"))


def _way(quantity: Quantity, sentence: Sentence) -> int:
    before = sentence.text[: sentence.text.find(quantity.text)].rstrip(" $€£=")[-1:]
    return SIGNS.get(before, quantity.direction)


def other_currency(source: str, stored: str) -> bool:
    """Whether the stored text counts in money that the source never mentions.

    >>> other_currency("less than 250 zloty", "under 250 euros"), other_currency("250 zloty", "under 250 PLN")
    (True, False)
    """
    meant = _currencies(source)
    return bool(meant) and bool(told := _currencies(stored)) and meant.isdisjoint(told)


@lru_cache(maxsize=4096)
def _currencies(text: str) -> frozenset[int]:
    text = text.lower()
    return frozenset(i for i, pattern in enumerate(CURRENCIES) if pattern.search(text))
