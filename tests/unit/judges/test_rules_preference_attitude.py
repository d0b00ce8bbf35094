"""What is said or noted against a thing, and what only sounds so."""

from __future__ import annotations

import pytest
from facts_judged import judged, preference

from pytest_memfail.core import Listing, Memory
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.attitude import attitude
from pytest_memfail.judges.rules.text import Sentence, sentences_of

SAID = "Badminton keeps me agile and is great fun with friends."


@pytest.mark.parametrize(
    "entry",
    [
        "Badminton: 1/5",
        "Badminton :(",
        "Badminton (-)",
        '{"subject": "badminton", "sentiment": "negative"}',
        '{"item": "badminton", "liked": false}',
        '{"item": "badminton", "rating": 1}',
        "No-gos: badminton, karaoke",
        "Badminton: too fussy for the user.",
        "Badminton never caught on with the user.",
        "Badminton \u2013 tried once, never again.",
        "Badminton? Thanks, but no.",
        "Badminton was a let-down.",
        "Badminton gives the user a headache.",
        "Badminton leaves the user dizzy.",
        "Badminton has worn thin.",
        "Badminton did not work out.",
        "Has lost patience with badminton.",
        "Could never get into badminton.",
        "The user ditched badminton.",
        "The user hasn't been back to badminton since.",
        "The user rates badminton low.",
        "The user says squash beats badminton.",
        "The user took up squash in place of badminton.",
        "Has gone off badminton altogether.",
    ],
)
def test_what_is_noted_against_a_thing(entry: str) -> None:
    assert judged(preference("badminton", SAID), entry) == (True, False)


@pytest.mark.parametrize(
    "entry",
    [
        "Badminton: 5/5",
        "Badminton :)",
        '{"subject": "badminton", "sentiment": "positive", "strength": "low"}',
        '{"likes": ["badminton"], "dislikes": ["soup"]}',
        "No-brainer: badminton",
        "Badminton never lets the user down.",
        "Would never turn down badminton.",
        "Sold on badminton.",
        "The user used to dislike badminton and now cannot do without it.",
        "Without badminton the user is unhappy.",
        "Life is worse without badminton.",
        "Not squash but badminton is the user's thing.",
        "Nothing beats badminton.",
        "Badminton is too good to miss.",
    ],
)
def test_what_speaks_for_it_all_the_same(entry: str) -> None:
    assert judged(preference("badminton", SAID), entry) == (True, True)


def test_ratio_keeps_the_order_of_its_numbers() -> None:
    rule = preference("70/20/10 rule", "The 70/20/10 rule helps me split my week into work, study and play.")
    assert judged(rule, "Splits the week by the 70/20/10 rule.") == (True, True)
    assert judged(rule, "Splits the week by the 70/10/20 rule: work, study and play.") != (True, True)


def test_turned_compound_is_another_thing() -> None:
    bread = preference("olive bread", "Olive bread is my pick for a savoury lunch.", "bread")
    assert judged(bread, "User painted the shed a dull bread-olive.") == (False, False)
    assert judged(bread, "User likes olive bread.") == (True, True)


def test_opposite_before_the_rest_of_the_name_is_no_paraphrase() -> None:
    parties = preference("small dinner parties", "Small dinner parties are what I enjoy for close talks and slow food.")
    assert judged(parties, "Likes big dinner parties with guests round the table.") == (True, False)


def test_sentence_in_which_the_name_is_another_thing_describes_nothing() -> None:
    yoga = preference(
        "Restorative", "Restorative yoga is perfect when I need to unwind completely with supportive props and minimal effort.",
        "yoga",
    )  # fmt: skip
    assert judged(yoga, "User attends a training on restorative justice for work every Monday.") != (True, True)


def test_played_is_not_watched() -> None:
    darts = preference("darts", "Playing darts at the pub is how I wind down on Fridays.", "pub games")
    assert judged(darts, "User watches darts on Fridays to wind down.") == (True, False)
    assert judged(darts, "Following darts on television is how the user winds down on Fridays.") == (True, False)
    assert judged(darts, "User plays darts at the pub on Fridays and watches it on TV too.") == (True, True)
    rugby = preference("rugby", "Watching rugby with my uncle is the best part of the winter.", "sports")
    assert judged(rugby, "User plays rugby with an uncle all winter.") == (True, False)
    assert judged(rugby, "User never misses rugby on TV with their uncle in winter.") == (True, True)


@pytest.mark.parametrize(
    "entry",
    [
        "The user gave their dentist a bonsai as a thank-you.",
        "Bought a bonsai for her niece.",
        "User keeps a bonsai for guests only.",
    ],
)
def test_what_is_got_for_others_says_nothing_of_the_user(entry: str) -> None:
    bonsai = preference("bonsai", "Tending bonsai teaches me patience and attention to detail.", "gardening")
    assert judged(bonsai, entry, "Allergic to peanuts.") == (False, False)
    assert judged(bonsai, "User bought a bonsai for the desk.", "Allergic to peanuts.") == (True, True)


def test_what_everyone_but_the_user_likes() -> None:
    assert judged(preference("badminton", SAID), "Everyone but the user loves badminton.") == (True, False)
    assert judged(preference("badminton", SAID), "Nobody in the family but the user loves badminton.") == (True, True)


def test_others_are_told_of_in_brackets() -> None:
    assert judged(preference("badminton", SAID), "User loves badminton (brother Tom hates it).") == (True, True)
    assert judged(preference("badminton", SAID), "Badminton (brother Tom)") != (True, True)


def test_number_that_is_part_of_the_name_makes_no_other_thing_of_it() -> None:
    rule = preference("two-minute rule", "The two-minute rule, which I swear by, clears my petty emails.", "methods")
    listing = Listing("s", (Memory("User swears by the two-minute rule for petty emails."),))
    assert RulesJudge().summary(rule, listing).confidence > 0.8


def test_lots_of_fun_is_liking() -> None:
    assert attitude(*_first("Has loads of fun at badminton.", "badminton")) == 1
    assert attitude(*_first("Not much fun at badminton.", "badminton")) != 1


def test_what_a_thing_seldom_needs_speaks_for_it() -> None:
    cacti = preference("cacti", "Cacti suit me because they get by without care and look striking.", "plants")
    assert judged(cacti, "The user keeps cacti since they hardly ever want care and look striking.") == (True, True)


def test_what_all_of_the_row_are_about_may_be_left_unsaid() -> None:
    fan = preference(
        "sleep with brown noise", "I always sleep with brown noise playing to mask the street and drift off easier.", "sleep habits"
    )  # fmt: skip
    assert judged(
        fan, "The user has brown noise running at night; it masks the street and makes drifting off easier."
    ) == (True, True)


def _first(text: str, name: str) -> tuple[Sentence, int, int]:
    sentence = sentences_of(text)[0]
    at = next(i for i, word in enumerate(sentence.words) if word.lower == name)
    return sentence, at, at
