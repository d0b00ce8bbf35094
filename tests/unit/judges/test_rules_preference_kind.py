"""The rules on preferences told by their kind alone, by far words, or as what the user has done with."""

from __future__ import annotations

from dataclasses import replace

import facts_judged
import pytest
from facts_judged import judged

from pytest_memfail.core import Memory, Question
from pytest_memfail.judges import RulesJudge

OK, DAMAGED, ABSENT = (True, True), (True, False), (False, False)
ICELAND = ("Iceland", "Iceland's glaciers and quiet villages are high on my list.", "travel destinations")
VIOLIN = ("violin", "The violin moves me with its expressive tone.", "musical instruments")
MINT = ("peppermint tea", "Peppermint tea settles my stomach after dinner.", "tea varieties")
PILATES = ("pilates", "Pilates strengthens my core, I enjoy it.", "exercises")
READING = ("reading", "Reading before bed relaxes me.", "evening habits")


@pytest.mark.parametrize(
    ("preference", "entry", "expected"),
    [
        # The kind, with what goes with the thing, is what is left of it; with what does not, it is another's.
        (ICELAND, "User wants to visit a Nordic country one day.", DAMAGED),
        (ICELAND, "User wants to visit an African country one day.", ABSENT),
        (VIOLIN, "User loves string instruments.", DAMAGED),
        (VIOLIN, "User loves percussion instruments.", ABSENT),
        (MINT, "User has some herbal infusion after dinner.", DAMAGED),
        (MINT, "User's pot for hot drinks broke.", ABSENT),
        # What is tried and given up is past; what else is given up is not.
        (PILATES, "User tried pilates but soon gave up.", DAMAGED),
        (PILATES, "User started pilates and then quit because of the cost.", DAMAGED),
        (PILATES, "User likes pilates and quit smoking.", OK),
        # A word that has only to do with the thing does not tell it.
        (
            ("green tea", "Green tea calms me and is full of antioxidants.", "drinks"),
            "User calms down with white tea, full of antioxidants.",
            DAMAGED,
        ),
        (
            ("dancing", "Dancing at parties lifts the mood.", "party activities"),
            "User likes music at parties, it lifts the mood.",
            DAMAGED,
        ),
        # A day of the week is nobody.
        (READING, "[Wed 20:15] reads before bed to relax", OK),
        (READING, "[Thu 20:15] reads before bed to relax", OK),
    ],
)
def test_what_is_left(preference: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    entries = (entry, "User lives in Ghent.", "User owns a kettle.", "User's train leaves at eight.")
    assert judged(facts_judged.preference(*preference), *entries) == expected


JAPANESE = ("Japanese", "Japanese interests me for the culture and media I love.", "languages to learn")
FRENCH = ("French", "French appeals to me for its elegance and role in art.", "languages to learn")


@pytest.mark.parametrize(
    ("preference", "entry", "kept"),
    [
        (JAPANESE, "User loves Japanese films and the culture.", False),
        (JAPANESE, "User eats Japanese food every week.", False),
        (FRENCH, "User admires what the French did for art.", False),
        (JAPANESE, "Japanese attracts the user, who loves the culture.", True),
        (JAPANESE, "User wants to learn Japanese words to follow the media.", True),
        (FRENCH, "French: elegant, the key to art", True),
        (FRENCH, "User's list begins with French, elegant as it is.", True),
        # A language for computers comes from nowhere.
        (
            ("Python", "Python is my favorite for quick scripting.", "programming languages"),
            "For small scripts user reaches for Python first.",
            True,
        ),
    ],
)
def test_a_language_is_not_what_comes_from_there(preference: tuple[str, str, str], entry: str, *, kept: bool) -> None:
    found = judged(facts_judged.preference(*preference), entry, "User lives in Ghent.", "User owns a kettle.")
    assert (found == OK) is kept


POPCORN = ("popcorn", "I always have popcorn ready for movie nights at home.", "snack types")
BREATHING = ("breathing exercises", "Breathing exercises calm me down when I feel anxious.", "mental health activities")
BAKING = ("baking", "Baking lets me prepare everything from bread to desserts.", "cooking methods")
TERRACE = (
    "rooftop terrace",
    "I love dining on a rooftop terrace because of the great city views.",
    "outdoor dining settings",
)


@pytest.mark.parametrize(
    ("preference", "entry", "expected"),
    [
        # The occasion alone, and what something else of the user's is, are other facts; a vague word stands for ours.
        (POPCORN, "User holds a movie night at home every Friday.", ABSENT),
        (POPCORN, "For movie nights at home user has something salty.", DAMAGED),
        (BREATHING, "Before exams the user feels anxious.", ABSENT),
        (BREATHING, "User has some activity that calms when anxious.", DAMAGED),
        (TERRACE, "User's office has a great view over the city.", ABSENT),
        (TERRACE, "User rents a room with a great view over the city.", ABSENT),
        (TERRACE, "User complains about the great city views being built over.", ABSENT),
        (BAKING, "Buys bread and desserts at the bakery on the corner.", ABSENT),
        (BAKING, "Enjoys making bread and desserts.", DAMAGED),
        (BAKING, "User is moved by bread and desserts made at home.", DAMAGED),
        (TERRACE, "User loves dining where there are great city views.", DAMAGED),
    ],
)
def test_an_occasion_is_not_what_is_left(
    preference: tuple[str, str, str], entry: str, expected: tuple[bool, bool]
) -> None:
    assert (
        judged(facts_judged.preference(*preference), entry, "User lives in Ghent.", "User owns a kettle.") == expected
    )


ROADSTER = ("convertible sports car", "I enjoy my convertible sports car when I want to feel the wind.", "car types")
IMPROV = ("improvisational theater", "I enjoy improvisational theater for its unpredictability.", "types of theater")
SIESTA = ("siesta", "I enjoy taking a siesta in the early afternoon to refresh my energy.", "types of naps")
STOCKS = ("stocks", "Investing in stocks suits me because I like high growth over time.", "investment types")
CLIPS = ("tutorial videos", "Tutorial videos are my favorite because I like sharing how-tos.", "content types")
NAPS = ("naps during the day", "Taking naps during the day helps me recharge when I’m feeling drained.", "sleep habits")
KNITTING = ("knitting", "Knitting is my favorite pastime for creating cozy scarves and hats.", "hobbies")
BONDS = ("bonds", "I include bonds in my portfolio to add stability and steady income.", "investment types")


@pytest.mark.parametrize(
    ("preference", "entry", "expected"),
    [
        # Another name is enough with a little of the statement, with what is asked for, or as a thing liked.
        (ROADSTER, "Sunshine brings out the roadster: roof down, wind in the hair.", OK),
        (IMPROV, "likes_theatre: ['musicals', 'improv - nobody knows what comes next']", OK),
        (
            ("basketball", "I watch basketball for the scoring.", "sports to watch on TV"),
            "TV sport: also hoops, points pile up",
            OK,
        ),
        (STOCKS, "Shares for long-run growth, bonds as the steady part that pays interest.", OK),
        (STOCKS, "User shares a flat and likes growth.", ABSENT),
        # The small words of a wording count, and others may stand between.
        (CLIPS, "Says how-to clips are what they most like putting out.", OK),
        (CLIPS, "Says clips are what they most like putting out.", DAMAGED),
        (NAPS, "Dozes for a bit in the afternoon to restore sinking energy.", OK),
        (KNITTING, "Turns balls of wool into scarves.", OK),
        (
            ("day hiking", "Day hiking is short.", "hiking styles"),
            "Multi-day hiking is where the user is happy.",
            DAMAGED,
        ),
        (BONDS, "2025-01-09: Client holds bonds as the steady part with an income.", OK),
        # Somebody else may have it under another name, too.
        (SIESTA, "User's uncle takes a midday nap to refresh his energy.", DAMAGED),
        (SIESTA, "User's uncle eats at midday.", ABSENT),
        (BONDS, "User's best client holds bonds as the steady part with an income.", DAMAGED),
        # A kind that is liked, and nothing else; another of the kind is not.
        (
            ("landscaping", "Landscaping improves my yard.", "home improvement projects"),
            "User enjoys outdoor work.",
            DAMAGED,
        ),
        (("bagels", "I enjoy a toasted bagel.", "breakfast foods"), "User prefers rye bread for sandwiches.", ABSENT),
    ],
)
def test_other_names_and_kinds(preference: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(facts_judged.preference(*preference), entry, "Lives in Ghent.", "Owns a kettle.") == expected


def test_another_of_the_row_under_its_other_name_is_not_what_is_left() -> None:
    recall = facts_judged.preference(
        "active recall",
        "Active recall forces me to retrieve information, which strengthens memory.",
        "study techniques",
    )
    entry = "User goes over things at growing intervals, so memory lasts."
    siblings = ("Spaced repetition helps me retain information.",)
    assert judged(replace(recall, siblings=siblings), entry, "User lives in Ghent.") == ABSENT


def test_a_wording_does_not_run_into_the_name_of_another_of_the_row() -> None:
    siesta = facts_judged.preference("siesta", "Siestas are perfect for a rest when it is hot.", "types of rest")
    entry = "When it is hot, the user gets through the afternoon with beauty sleep."
    assert judged(siesta, entry, "User lives in Ghent.") == OK
    siblings = ("Beauty sleep makes me look fresh.",)
    assert judged(replace(siesta, siblings=siblings), entry, "User lives in Ghent.")[1] is False


def test_a_memory_shown_in_the_first_person_may_tell_it_under_another_name() -> None:
    naps = facts_judged.preference(
        "naps during the day", "Taking naps during the day helps me recharge.", "sleep habits"
    )
    judge = RulesJudge()
    question = Question("q", "coexisting_facts", "How do I sleep?", "How do I sleep?", ("naps",), ("p",), "preferences")
    shown = [Memory("When I'm drained, a nap in the daytime recharges me."), Memory("I set my alarm for six.")]
    assert judge.retrieval(naps, question, shown).outcome == "passed"
    assert judge.retrieval(naps, question, shown[1:]).outcome == "failed"
