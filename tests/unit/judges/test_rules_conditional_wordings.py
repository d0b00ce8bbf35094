"""Conditional rules told in other words: what is still the rule, and what small change makes it another."""

from __future__ import annotations

import pytest

from pytest_memfail.core import Evidence, Listing, Memory
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.senses import states
from pytest_memfail.judges.rules.text import Word, sentences_of


def rule(entity: str, behavior: str, condition: str, source: str) -> Evidence:
    text = f"{entity} {behavior} {condition}."
    return Evidence("e", "rule", "t", text, source, "c", entity, behavior=behavior, condition=condition, value="Yes")


BRAM = rule(
    "Bram",
    "juggles heavy clubs",
    "only when sober",
    "Bram is a stilt walker with a red van. Bram juggles heavy clubs only when he is sober. He writes to his aunt on Sundays.",
)
TUVA = rule(
    "Tuva",
    "refuses to eat porridge",
    "when the stove smokes",
    "Tuva is a grey cat from a lock house. Tuva refuses to eat porridge whenever the stove smokes. She hunts voles by the weir.",
)
PELLE = rule(
    "Pelle",
    "hides a cork under the rug",
    "when herring is on the table",
    "Pelle is a clumsy terrier. Pelle hides a cork under the rug whenever herring is on the table. He swims in the dock.",
)
CORVIN = rule(
    "Corvin",
    "plays the spoons",
    "straight after a swim in the quarry",
    "Corvin is a cooper with a bad knee. He plays the spoons straight after a swim in the quarry. He owns two hats.",
)

ODA = rule(
    "Oda",
    "wears a copper crown",
    "with nine jurors or more on the bench",
    "Oda keeps the court's clock. With nine jurors or more on the bench, Oda wears a copper crown. She owns two ladles.",
)


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (BRAM, "Bram won't juggle his heavy clubs if he has been drinking."),
        (BRAM, "Bram has to be sober to juggle the heavy clubs."),
        (TUVA, "Tuva won't touch her porridge while the stove is smoking."),
        (PELLE, "Herring on the table makes Pelle hide a cork beneath the rug."),
        (CORVIN, "Having swum in the quarry, Corvin plays the spoons at once."),
        (ODA, "Oda wears a copper crown with 9+ jurors on the list."),
    ],
)
def test_same_rule_in_other_words(evidence: Evidence, text: str) -> None:
    assert verdict(evidence, text) == "faithful"


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (BRAM, "Bram juggles heavy clubs, sober or not, whether or not anybody looks."),
        (TUVA, "Tuva happily eats porridge whenever the stove smokes."),
        (TUVA, "Tuva refuses to eat porridge unless the stove smokes."),
        (PELLE, "Pelle hides a cork under the rug whenever there is fish on the table."),
        (CORVIN, "Corvin's tutor plays the spoons straight after a swim in the quarry."),
        (CORVIN, "Corvin plays the spoons straight before a swim in the quarry."),
        (CORVIN, "Corvin plays the spoons when he is far from the quarry."),
    ],
)
def test_another_rule_in_nearly_the_same_words(evidence: Evidence, text: str) -> None:
    assert verdict(evidence, text) == "damaged"


def test_other_sentence_of_the_source_is_not_the_rule() -> None:
    assert verdict(TUVA, "Tuva is a grey cat who hunts voles.") == "absent"


MARIT = rule(
    "Marit",
    "shaves the bellows",
    "only after lamp oil has settled for two hours",
    "Marit is an organ tuner. Marit shaves the bellows only after lamp oil has settled for two hours. She keeps six geese.",
)
SOLVEIG = rule(
    "Solveig",
    "rings the ferry bell",
    "only when alone on the pier",
    "Solveig is a retired pilot. Solveig rings the ferry bell only when alone on the pier. She paints gates green.",
)


def test_what_is_put_off_until_then_is_done_after() -> None:
    text = "Marit holds off on shaving the bellows until lamp oil has settled for two hours."
    assert verdict(MARIT, text) == "faithful"
    assert verdict(MARIT, "Marit shaves the bellows until lamp oil has settled for two hours.") == "damaged"


def test_in_company_is_not_alone() -> None:
    assert verdict(SOLVEIG, "Solveig rings the ferry bell just when nobody else is on the pier.") == "faithful"
    assert verdict(SOLVEIG, "Solveig rings the ferry bell just when guests are on the pier.") == "damaged"


def test_the_name_of_a_field_ties_no_other_entry_to_the_behaviour() -> None:
    entries = ("Pelle hides a cork under the rug. | keywords: cork", "Pelle is clumsy. | keywords: herring, table")
    found = RulesJudge().summary(PELLE, Listing("s", tuple(map(Memory, entries))))
    assert found.outcome == "failed"


def test_seldom_more_than_tells_a_limit() -> None:
    assert states("seldom more than two") == states("how often he does it") == frozenset()
    assert states("seldom") != frozenset()


def test_word_may_stand_between_number_and_stretch_of_time() -> None:
    (three,) = quantities(*parts("after three quiet days"))
    assert (three.value, three.unit) == (3 * 1440.0, "time")


def test_darker_is_below() -> None:
    (lux,) = quantities(*parts("darker than 150 lux"))
    assert lux.direction == -1


def parts(text: str) -> tuple[str, tuple[Word, ...]]:
    (sentence,) = sentences_of(text)
    return sentence.text, sentence.words


def verdict(evidence: Evidence, text: str) -> str:
    judge, store = RulesJudge(), Listing("s", (Memory(text), Memory("Ane mends nets on the quay.")))
    if judge.storage(evidence, store).outcome != "passed":
        return "absent"
    return "faithful" if judge.summary(evidence, store).outcome == "passed" else "damaged"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Oda wears a copper crown with four jurors or more on the bench.", "with 'four' instead of 'nine'"),
        ("Oda wears a copper crown and carries two ladles to the bench.", "without 'nine'"),
    ],
)
def test_a_number_is_told_instead_only_where_it_counts_the_same(text: str, reason: str) -> None:
    found = RulesJudge().summary(ODA, Listing("s", (Memory(text), Memory("Ane mends nets on the quay."))))
    assert found.outcome == "failed"
    assert reason in found.reason


GILLIS = Evidence(
    "e",
    "rule",
    "t",
    "Gillis bakes flatbread only on Sundays.",
    "Gillis is a lighthouse keeper with a grey beard. Gillis bakes flatbread only on Sundays. He whistles to the seals.",
    "c",
    "Gillis",
    behavior="bakes flatbread",
    condition="only on Sundays",
    value="No",
)
TYRA = rule(
    "Tyra",
    "gives a concert on the weir",
    "no more than twice in any seven-day stretch",
    "Tyra plays the horn. Tyra gives a concert on the weir no more than twice in any seven-day stretch. She owns a red canoe.",
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Gillis bakes flatbread on Sundays alone.", "faithful"),
        ("Gillis bakes flatbread on Sundays, full stop.", "faithful"),
        ("Gillis bakes flatbread on Sundays.", "damaged"),
    ],
)
def test_only_in_other_words(text: str, kept: str) -> None:
    assert verdict(GILLIS, text) == kept


def test_seven_days_are_a_week() -> None:
    assert verdict(TYRA, "Tyra gives a concert on the weir twice in any week at most.") == "faithful"
    assert verdict(TYRA, "Tyra gives a concert on the weir twice in any month at most.") == "damaged"


def test_at_no_other_time_withholds_nothing() -> None:
    text = "Ahead of every swim in the quarry, and at no other time, Corvin plays the spoons."
    assert verdict(CORVIN, text) == "damaged"
    assert verdict(CORVIN, text.replace("Ahead of", "After")) == "faithful"


def test_the_name_of_a_field_does_nothing() -> None:
    text = '{"person": "Pelle", "trigger": "herring on the table", "action": "hides a cork under the rug"}'
    assert verdict(PELLE, text) == "faithful"


IDA = rule(
    "Ida",
    "oils the weir gate",
    "after rowing for at least 20 minutes",
    "Ida keeps the lower lock. Ida only oils the weir gate after rowing for at least 20 minutes. She collects tin lids.",
)
BODIL = rule(
    "Bodil",
    "crawls under the dresser",
    "after finishing a full dish of herring",
    "Bodil is a stout cat. Bodil crawls under the dresser after finishing a full dish of herring. She distrusts brooms.",
)
RAGNA = rule(
    "Ragna",
    "sketches otters on envelopes",
    "when the colour temperature of the lamp is below 2700K",
    "Ragna sketches otters on envelopes when the colour temperature of the lamp is below 2700K. She owns a tandem.",
)
JORUN = rule(
    "Jorun",
    "dances on the pier",
    "when the foghorn is sounding",
    "Jorun is a shy clerk. Jorun dances on the pier only when the foghorn is sounding. She owns a red kettle.",
)
KASPER = rule(
    "Kasper",
    "polishes the brass bell",
    "after supper",
    "Kasper is a porter with a limp. Kasper polishes the brass bell only after supper. He feeds the crows.",
)
SIV = rule(
    "Siv",
    "braids straw hens",
    "when her energy is below 3 on a 10-point scale",
    "Siv runs a forge. Siv braids straw hens when her energy is below 3 on a 10-point scale. She hates liquorice.",
)


@pytest.mark.parametrize(
    ("evidence", "text", "kept"),
    [
        (IDA, "Ida oils the weir gate, though never before a good twenty minutes of rowing.", "faithful"),
        (IDA, "Not before she has rowed for at least 20 minutes does Ida oil the weir gate.", "faithful"),
        (IDA, "Ida never oils the weir gate before having rowed at least 20 minutes.", "faithful"),
        (IDA, "At least 20 minutes of rowing, otherwise Ida does not oil the weir gate.", "faithful"),
        (IDA, "Ida only oils the weir gate before she rows for at least 20 minutes.", "damaged"),
        (IDA, "Ida oils the weir gate no later than 20 minutes before rowing.", "damaged"),
        (IDA, "After a bit of rowing, Ida oils the weir gate.", "damaged"),
        (BODIL, "Dish of herring emptied to the last bite -> Bodil crawls under the dresser.", "faithful"),
        (BODIL, "The herring dish licked clean, Bodil crawls under the dresser.", "faithful"),
        (BODIL, "Bodil crawls under the dresser before finishing a full dish of herring.", "damaged"),
        (RAGNA, "Ragna sketches otters on envelopes by a warm lamp with a colour temperature under 2700K.", "faithful"),
        (RAGNA, "Ragna sketches otters on envelopes by a cold lamp with a colour temperature over 2700K.", "damaged"),
        (SIV, "Siv braids straw hens when she rates her energy at two or lower of ten.", "faithful"),
        (SIV, "Siv braids straw hens when she rates her energy at four or lower of ten.", "damaged"),
        (JORUN, "Jorun sits still on the pier unless the foghorn is sounding; then she dances.", "faithful"),
        (JORUN, "Jorun dances on the pier unless the foghorn is sounding; then she sits still.", "damaged"),
        (JORUN, "If the foghorn is not sounding, Jorun does not dance on the pier.", "faithful"),
        (JORUN, "Jorun does not dance on the pier if the foghorn is sounding.", "damaged"),
        (JORUN, "Jorun dances on the pier, but not when the foghorn is sounding.", "damaged"),
        (KASPER, "Kasper polishes the brass bell, but never after supper.", "damaged"),
        (KASPER, '{"person": "Kasper", "action": "polishes the brass bell", "never": "after supper"}', "damaged"),
        (KASPER, "Kasper polishes the brass bell after supper, not after lunch.", "faithful"),
        (KASPER, "Kasper polishes the brass bell, but not until after supper.", "faithful"),
    ],
)
def test_thorough_rewordings(evidence: Evidence, text: str, kept: str) -> None:
    assert verdict(evidence, text) == kept


def test_a_note_in_lower_case_may_have_capitals_in_it() -> None:
    assert verdict(BRAM, "bram/habits: juggles heavy clubs for TV crews, sober only") == "faithful"


@pytest.mark.parametrize(
    ("pointer", "outcome"),
    [
        ("Bram is the one with the heavy clubs; Ulla has the hoops.", "passed"),
        ("Bram is the one with the red van.", "failed"),
        ("Ulla is the one with the heavy clubs.", "failed"),
    ],
)
def test_whose_it_is_may_be_told_by_another_entry(pointer: str, outcome: str) -> None:
    entries = (
        "He juggles heavy clubs, and only when sober.",
        pointer,
        "Ulla knots fishing nets.",
        "Bram owns a red van.",
    )
    listing = Listing("s", tuple(map(Memory, entries)))
    assert RulesJudge().summary(BRAM, listing).outcome == outcome
