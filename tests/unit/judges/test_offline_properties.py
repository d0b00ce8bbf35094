"""What must not change a verdict: order, repetition, unrelated entries, other names, time stamps, typography."""

from __future__ import annotations

import re
from dataclasses import replace

from facts_judged import BESIDE, STEADY, TOLD, Told, in_stores, of_each, verdict
from hypothesis import given, settings, strategies as st

from pytest_memfail.core import Fact
from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.reading import keys_of

FEW = settings(max_examples=4, deadline=None, database=None, derandomize=True)
every_store = of_each(in_stores())
every_fact = of_each([(told,) for told in TOLD])

POOL = (
    "The archive moved three lorries of vellum to Utrecht in 1987.",
    "Ximena's ferret sleeps inside the euphonium.",
    "Turbine blades are inspected with a borescope.",
    "Kettil calibrates the seismograph twice a week.",
    "The quarry blasts basalt on alternate Wednesdays.",
    "Marmots whistle above the glacier.",
    "Hesper translates Sumerian tax receipts.",
    "Lorcan's parachute is orange.",
    "Gravity anomalies were plotted near Reykjavik.",
    "The violin maker imports spruce from Paneveggio.",
)
"""Entries about other things; a test takes those that share nothing with its fact."""
STAMPS = st.one_of(
    st.dates().map(lambda day: f"{max(day.year, 1900)}-{day.month:02}-{day.day:02}: "),
    st.datetimes().map(lambda at: f"[{max(at.year, 1900)}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02}] "),
    st.datetimes().map(lambda at: f"({max(at.year, 1900)}-{at.month:02}-{at.day:02}T{at.hour:02}:{at.minute:02}:00Z) "),
)
NAMES = ("Dilwyn", "Orlaith", "Aurelio", "Tamsin", "Yorrick", "Anouk", "Zevran", "Ferren", "Ilse", "Xanthe")
"""Names that are in no dictionary and in no fact."""


def words_of(evidence: Fact) -> set[str]:
    """Return the base forms of all words of a fact, including names and listed wordings."""
    claim = evidence.claim
    texts = [evidence.text, evidence.source, claim.owner, *claim.siblings, *claim.replaced]
    texts += [text for part in claim.parts for text in (part.text, *part.wordings, *part.vaguer)]
    return {key for text in texts if text for key in keys_of(text)}


def unrelated(evidence: Fact) -> list[str]:
    """Return the entries of the pool without a word similar to the fact's."""
    mine = words_of(evidence)
    return [
        text
        for text in POOL
        if not any(
            lexicon.similarity(one, two) or lexicon.similarity(two, one) for one in mine for two in keys_of(text)
        )
    ]


@every_fact
def test_the_pool_has_unrelated_entries_for_every_fact(told: Told) -> None:
    assert len(unrelated(told.evidence)) >= 3


# -- what leaves a verdict as it is --------------------------------------------------------------------------------


@of_each(in_stores(STEADY))
def test_the_order_of_entries_does_not_matter(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)

    @FEW
    @given(st.permutations(entries))
    def same(order: list[str]) -> None:
        assert verdict(told.evidence, order) == before

    same()


@every_store
def test_an_unrelated_entry_changes_nothing(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)

    @FEW
    @given(st.sampled_from(unrelated(told.evidence)), st.integers(0, len(entries)))
    def same(other: str, at: int) -> None:
        assert verdict(told.evidence, [*entries[:at], other, *entries[at:]]) == before

    same()


@every_store
def test_an_entry_stored_twice_changes_nothing(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)
    for at, entry in enumerate(entries):
        assert verdict(told.evidence, [*entries[:at], entry, *entries[at:]]) == before, entry


def renamed(evidence: Fact, names: dict[str, str]) -> Fact:
    """Return the fact with other people in it."""
    claim = evidence.claim
    parts = tuple(replace(part, text=_other(part.text, names)) for part in claim.parts)
    claim = replace(
        claim, parts=parts, source=_other(claim.source, names), owner=_other(claim.owner or "", names) or None
    )
    return replace(evidence, text=_other(evidence.text, names), source=_other(evidence.source, names), claim=claim)


def _other(text: str, names: dict[str, str]) -> str:
    return re.sub("|".join(rf"\b{name}\b" for name in names), lambda found: names[found[0]], text)


@of_each(in_stores([told for told in TOLD if told.people]))
def test_other_names_for_everybody_change_nothing(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)

    @FEW
    @given(st.permutations(NAMES))
    def same(order: list[str]) -> None:
        names = dict(zip(told.people, order, strict=False))
        others = [_other(entry, names) for entry in entries]
        assert verdict(renamed(told.evidence, names), others) == before

    same()


@every_store
def test_time_stamps_before_the_entries_change_nothing(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)

    @FEW
    @given(STAMPS)
    def same(stamp: str) -> None:
        assert verdict(told.evidence, [stamp + entry for entry in entries]) == before

    same()


TYPESET = {"'": "’", " - ": " – ", " ": "\u00a0", "-": "\u2011"}
"""Characters as typed, and as a word processor sets them."""


@every_store
def test_typographic_characters_change_nothing(told: Told, entries: tuple[str, ...]) -> None:
    before = verdict(told.evidence, entries)
    for typed, typeset in TYPESET.items():
        assert verdict(told.evidence, [entry.replace(typed, typeset) for entry in entries]) == before, typed


@every_store
def test_quotation_marks_of_either_kind_are_the_same(told: Told, entries: tuple[str, ...]) -> None:
    plain, curly = [[f"{marks[0]}{entry}{marks[1]}" for entry in entries] for marks in ('""', "“”")]
    assert verdict(told.evidence, curly) == verdict(told.evidence, plain)


@every_store
def test_the_case_of_the_first_letter_changes_nothing(told: Told, entries: tuple[str, ...]) -> None:
    name = (told.evidence.claim.owner or "user").split()[0]  # readers of English do not see a lower-case word as a name
    others = [entry if entry.startswith(name) else entry[0].swapcase() + entry[1:] for entry in entries]
    assert verdict(told.evidence, others) == verdict(told.evidence, entries)


@every_store
def test_white_space_around_an_entry_changes_nothing(told: Told, entries: tuple[str, ...]) -> None:
    assert verdict(told.evidence, [f"\n  {entry} \n\n" for entry in entries]) == verdict(told.evidence, entries)


# -- what is kept, and what is not -------------------------------------------------------------------------------------


FORMS = ("{}", "2024-05-17: {}", "[2024-05-17 09:30] {}", "User: {}", "user: {}", '"{}"', "- {}")
"""How systems wrap verbatim text."""


@every_fact
def test_what_was_said_word_for_word_is_kept(told: Told) -> None:
    for form in FORMS:
        assert verdict(told.evidence, [form.format(told.evidence.source)]) == "ok", form


@every_fact
def test_what_was_said_word_for_word_is_kept_among_other_entries(told: Told) -> None:
    for form in FORMS:
        entry = form.format(told.evidence.source)
        assert verdict(told.evidence, [*POOL[:5], entry, *BESIDE, *POOL[5:]]) == "ok", form


@every_fact
def test_what_was_said_word_for_word_is_kept_in_a_long_entry(told: Told) -> None:
    assert verdict(told.evidence, [" ".join([*POOL[:5], told.evidence.source, *POOL[5:]])]) == "ok"
    assert verdict(told.evidence, ["\n".join([*POOL[:5], told.evidence.source, *POOL[5:]])]) == "ok"


@every_fact
def test_what_was_said_word_for_word_is_kept_a_sentence_an_entry(told: Told) -> None:
    entries = re.split(r"(?<=[.!?]) (?=[A-Z])", told.evidence.source)
    assert verdict(told.evidence, entries) == "ok"


@every_fact
def test_an_empty_store_holds_nothing(told: Told) -> None:
    assert verdict(told.evidence, []) == "not_stored"


@every_fact
def test_an_unrelated_store_holds_nothing(told: Told) -> None:
    others = unrelated(told.evidence)
    assert verdict(told.evidence, others) == "not_stored"
    assert verdict(told.evidence, others[:1]) == "not_stored"
    assert verdict(told.evidence, [" ".join(others)]) == "not_stored"


@every_store
def test_everything_shown_is_enough_where_everything_stored_is(told: Told, entries: tuple[str, ...]) -> None:
    assert verdict(told.evidence, entries, shown=entries) != "not_retrieved"
    assert verdict(told.evidence, entries, shown=entries[::-1]) != "not_retrieved"


@every_fact
def test_unrelated_entries_shown_are_not_enough(told: Told) -> None:
    entries = told.stores["as said"]
    assert verdict(told.evidence, entries, shown=unrelated(told.evidence)) == "not_retrieved"
    assert verdict(told.evidence, entries, shown=[]) == "not_retrieved"
