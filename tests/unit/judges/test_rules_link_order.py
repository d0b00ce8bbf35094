"""The rules on links: which end is told to lead to the other, in many forms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import judged, link

OK, DAMAGED = (True, True), (True, False)
TRIM = ("trimming the hedge", "trims the hedge", "trimmed the hedge", "the hedge is trimmed")
READ = ("reading poetry", "reads poetry", "read poetry", "poetry is read")
FORMS = (
    "The user {B1}, but only after having {A2}.",
    "The user won't start {B0} until they have {A2}.",
    "{A3} first, and only after that {B3}.",
    "Before {B0}, the user {A1}.",
    "{A0} is followed by {B0}.",
    "{B0} follows {A0}.",
    "What gets the user {B0} is {A0}.",
    "The reason the user {B1} is {A0}.",
    "Why the user {B1}: {A0}",
    "{A0} = {B0}",
    "{A0} >> {B0}",
    '{{"effect": "{B0}", "trigger": "{A0}"}}',
    "The user {B1}. The trigger is {A0}.",
    "The user gets to {B0} by {A0}.",
    "{A0} has the user {B0}.",
    "{B0} has to wait until {A3}.",
    "{B0} rounds off {A0}.",
    "{A0} never passes without {B0}.",
    "{A0} comes first; only then does the user sit down to {B0}.",
    "Having put down {A0}, the user goes on to {B0}.",
    "{A3}, and once the rain is over the user {B1}.",
    "{A0} right after getting up has the user {B0}.",
    "The user shakes off {A0} by {B0}.",
    "{A0}, which the user deals with by {B0}.",
    "The user finds {B0} easier with {A0}.",
    "{A0} finds its way out as {B0}.",
    "{B0} is what the user gets out of {A0}.",
    "{A0} is the user's cue to go on with {B0}.",
    "{A0} winds up in {B0}.",
    "{A0} time is when the user begins {B0}.",
    "A time for {B0} is when the user {A1}.",
    "{B0} calls for {A0} first.",
    "{B0} is an outlet for {A0}.",
    "The user follows {A0} up with {B0}.",
    "The user cannot start {B0} without {A0}.",
    "All it takes for {B0} is {A0}.",
    "What precedes {B0} is {A0}.",
)


def _filled(form: str, first: tuple[str, ...], second: tuple[str, ...]) -> str:
    parts = {f"A{i}": word for i, word in enumerate(first)} | {f"B{i}": word for i, word in enumerate(second)}
    return form.format(**parts)


@pytest.mark.parametrize("form", FORMS)
def test_the_direction_is_read_off_in_both_orders(form: str) -> None:
    wanted = link("After I trim the hedge I read poetry.", "trim the hedge", "read poetry")
    assert judged(wanted, _filled(form, TRIM, READ), "User lives in Ghent.") == OK
    assert judged(wanted, _filled(form, READ, TRIM), "User lives in Ghent.") == DAMAGED


@pytest.mark.parametrize(
    "entry",
    [
        "Gloomy moods are when the user bakes bread.",
        "A gloomy user bakes bread.",
        "Baking bread is how the user deals with gloominess.",
        "Baking bread is what the user does about gloominess.",
        "Baking bread helps the user against gloominess.",
        "The user bakes bread to cope with gloominess.",
        "Against gloominess the user bakes bread.",
        "The user eases gloominess by baking bread.",
    ],
)
def test_what_is_done_about_a_state_comes_after_it(entry: str) -> None:
    wanted = link("When I feel gloomy I bake bread.", "feel gloomy", "bake bread")
    turned = link("Baking bread makes me feel gloomy.", "baking bread", "feel gloomy")
    assert judged(wanted, entry, "User lives in Ghent.") == OK
    assert judged(turned, entry, "User lives in Ghent.") == DAMAGED


def test_a_time_may_be_called_by_two_words_with_a_hyphen() -> None:
    wanted = link("When I unwind I start reading poetry.", "unwind", "start reading poetry")
    assert judged(wanted, "Wind-down time is when the user begins reading poetry.", "User lives in Ghent.") == OK


def test_an_arrow_behind_a_name_leads_to_nothing() -> None:
    wanted = link("Counting boats makes Ida feel wistful.", "counting boats", "feel wistful")
    assert judged(wanted, "Ida -> counting of boats -> some mood or other", "Ida -> owns a kettle") == DAMAGED


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("The user bundles up in a blanket once the room has gone cold.", OK),
        ("The user bundles up in a blanket once the chilly room is gone.", DAMAGED),
    ],
)
def test_what_has_gone_cold_is_not_gone(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("A chilly room makes me wrap up in a blanket.", "chilly room", "wrap up in a blanket")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("Late buses and postponed flights make the user grumpy.", OK),
        ("Late buses postpone the moment that the user gets grumpy.", DAMAGED),
    ],
)
def test_what_is_postponed_keeps_nobody_from_anything(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("Late buses make me grumpy.", "late buses", "grumpy")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_another_link_told_in_other_words_is_not_what_became_of_this_one() -> None:
    wanted = link("When I crave plums I stew pears.", "crave plums", "stew pears")
    entry = "A burst of vigour gets the user stewing pears."
    assert judged(wanted, entry, "User lives in Ghent.") == DAMAGED
    wanted = replace(wanted, siblings=("Stewing pears makes me feel energized.",))
    assert judged(wanted, entry, "User lives in Ghent.") == (False, False)


def test_what_a_thing_does_to_somebody_is_another_link_and_no_dislike() -> None:
    wanted = link("Clara loves windy piers.", "Clara", "windy piers")
    assert judged(wanted, "Clara: a windy pier makes her drowsy.", "User lives in Ghent.") == DAMAGED
    wanted = replace(wanted, siblings=("Windy piers make Clara giddy.",))
    assert judged(wanted, "Clara: a windy pier makes her drowsy.", "User lives in Ghent.") == (False, False)
    assert judged(wanted, "Clara dislikes windy piers.", "User lives in Ghent.") == DAMAGED


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("Lena: the hush at the start of the day helps her compose odes.", DAMAGED),
        ("Theo: the hush at the start of the day helps him compose odes.", OK),
        ("Lena: odes help her through the start of the day.", (False, False)),
    ],
)
def test_a_link_in_other_words_may_be_told_of_somebody_else(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("Early morning silence helps Theo write odes.", "early morning silence", "write odes")
    assert judged(wanted, entry, "Theo: allergic to hazelnuts.") == expected


HEDGE = ("After I trim the hedge I read poetry.", "trim the hedge", "read poetry")
STRONG = ("Strong tea makes me talkative.", "strong tea", "talkative")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (HEDGE, "After trimming the hedge the user refuses to read poetry.", DAMAGED),
        (HEDGE, "After trimming the hedge the user never refuses to read poetry.", OK),
        (HEDGE, "After trimming the hedge the user gives up reading poetry.", DAMAGED),
        (HEDGE, "Trimming the hedge makes reading poetry impossible.", DAMAGED),
        (HEDGE, "Trimming the hedge rules out reading poetry.", DAMAGED),
        (HEDGE, "When the hedge isn't trimmed, the user reads poetry.", DAMAGED),
        (HEDGE, "When not only the lawn but the hedge is trimmed, the user reads poetry.", OK),
        (HEDGE, "The user doesn't rest after trimming the hedge but reads poetry.", OK),
        (HEDGE, "The user trims the hedge but doesn't read poetry.", DAMAGED),
        (STRONG, "Strong tea makes the user not sleepy but talkative.", OK),
        (STRONG, "Strong tea makes the user not talkative but sleepy.", DAMAGED),
        (STRONG, "Strong tea no longer makes the user talkative.", DAMAGED),
        (STRONG, "Without strong tea the user is not talkative.", OK),
        (STRONG, "Without strong tea the user is talkative.", DAMAGED),
    ],
)
def test_what_is_denied_of_a_link(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("Whenever a neighbour is gloomy, bread is baked.", DAMAGED),
        ("Gloominess has a neighbour baking bread.", DAMAGED),
        ("Gloominess gets her neighbour to bake bread.", DAMAGED),
        ("The user bakes bread for Nina when gloomy.", OK),
        ("The user, like Nina, bakes bread when gloomy.", OK),
        ("The user, like the user's sister, bakes bread when gloomy.", OK),
        ("The user told Nina about baking bread when gloomy.", OK),
        ("For Nina, gloominess means baking bread.", DAMAGED),
    ],
)
def test_who_does_it_and_who_is_but_named_beside(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("When I feel gloomy I bake bread.", "feel gloomy", "bake bread")
    assert judged(wanted, entry, "User lives in Ghent.") == expected
