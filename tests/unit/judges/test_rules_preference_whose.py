"""Whose a preference is where its sentence alone does not say, and ways of having no use for a thing."""

from __future__ import annotations

import pytest
from facts_judged import judged, preference

from pytest_memfail.judges.rules.text import TextCache
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose import owner

OK, DAMAGED = (True, True), (True, False)
KARAOKE = (
    "karaoke",
    "Karaoke is my go-to activity for breaking the ice and having some silly fun.",
    "party activities",
)
TEA = ("green tea", "I drink green tea in the morning because it wakes me gently.", "drinks")


@pytest.mark.parametrize(
    ("entry", "word", "expected"),
    [
        ("Dora, who leads the user's choir, offers a drumming course.", "drumming", "dora"),
        ("The user, who lives with Dora, likes drumming.", "drumming", "user"),
        (
            "User's uncle Piet joined the pottery group down at the old community hall; finds glazing soothing.",
            "glazing",
            "piet",
        ),
        (
            "User's uncle Piet joined the pottery group down at the old community hall. Finds glazing soothing.",
            "glazing",
            "user",
        ),
        ("Drumming is loved by the user's uncle.", "drumming", "uncle"),
        ("Drumming is loved by the user, says their uncle.", "drumming", "user"),
        ("Drumming belongs to neighbour Piet.", "drumming", "neighbour"),
        ("Drumming is neighbour Piet's pride.", "drumming", "piet"),
        ("Drumming appeals to the user's uncle.", "drumming", "uncle"),
        ("Drumming (user's uncle)", "drumming", "uncle"),
        ("Boredom is why the user's uncle has a drumming kit.", "drumming", "uncle"),
        ("User visited Nina's drumming class.", "drumming", "nina"),
        ("User loves Nina's drumming class.", "drumming", "user"),
        ("Nina has a drumming class on Mondays, the user a day off.", "drumming", "nina"),
        ("Last year Nina started a drumming class, the user was away.", "drumming", "nina"),
        ("Nina: drumming class, user: none", "drumming", "nina"),
        ("User's uncle dislikes drumming, but the user loves it.", "drumming", "user"),
        ("User's uncle dislikes drumming, the user does.", "drumming", "user"),
        ("User's uncle dislikes drumming, the user loves quizzes.", "drumming", "uncle"),
        ("User likes it when everybody joins in the drumming.", "drumming", "user"),
        ("User likes it when their uncle plays the drumming record.", "drumming", "uncle"),
        ("Last year the user's uncle started a drumming class.", "drumming", "uncle"),
        ("Duolingo has drumming words that the user likes.", "drumming", "user"),
        ("Notes on Piet\n- user's uncle\n- finds glazing soothing", "glazing", "user"),
        ("Title: clay. Keywords: family, pottery. Uncle Piet sells bowls.", "pottery", "uncle"),
        ("Title: hobby. Keywords: family, pottery. User sells bowls with uncle Piet.", "pottery", "user"),
    ],
)
def test_whose_it_is(entry: str, word: str, expected: str) -> None:
    view = View([entry], TextCache())
    places = [(at, i) for at, s in enumerate(view.sentences) for i, w in enumerate(s.words) if w.lower == word]
    (at, i) = places[0]
    assert owner(view, at, i, i) == expected


@pytest.mark.parametrize(
    ("stated", "entry", "expected"),
    [
        (KARAOKE, "User does not believe an evening of karaoke would be a good way to break the ice.", DAMAGED),
        (KARAOKE, "User doesn't think karaoke the best way to break the ice.", DAMAGED),
        (KARAOKE, "User does not think much before singing karaoke, a good way to break the ice.", OK),
        (KARAOKE, "User leaves karaoke to cousin Ruth.", DAMAGED),
        (KARAOKE, "User leaves karaoke to the end of the night.", OK),
        (TEA, "User sees no need for green tea in the morning.", DAMAGED),
        (TEA, "User drinks green tea, no need for milk.", OK),
        (TEA, "Green tea in the morning wakes user without having to use an alarm.", OK),
        (TEA, "User has a soft spot for green tea, whatever the neighbours say about its colour.", OK),
        (KARAOKE, "Title: evenings. Keywords: karaoke, bars. The user stays away from karaoke.", DAMAGED),
        (KARAOKE, "Title: evenings. Keywords: karaoke, bars. The user starts karaoke at parties.", OK),
    ],
)
def test_ways_of_having_no_use_for_a_thing(
    stated: tuple[str, str, str], entry: str, expected: tuple[bool, bool]
) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_a_word_of_a_name_that_is_somebody_elses_is_not_the_users() -> None:
    herbs = preference("herb garden", "I enjoy an herb garden for fresh flavors when I cook.", "garden types")
    assert not judged(herbs, "An herb garden pleases the user's aunt with fresh flavors.", "User cooks.")[1]
    assert judged(herbs, "An herb garden pleases the user with fresh flavors.", "User cooks.") == OK


MAPPING = ("Mind Mapping", "Mind Mapping is how I connect ideas visually before starting work.", "productivity methods")
PARTIES = ("small dinner parties", "Small dinner parties are my favorite for quiet talk and good food.", "parties")
FRENCH = ("French", "French appeals to me for its elegance and long history.", "languages to learn")
FICTION = ("historical fiction", "Historical fiction draws me in by blending real events with stories.", "book genres")
BED = ("early to bed", "I prefer going early to bed to feel rested and start mornings fresh.", "sleep habits")
POP_ART = ("pop art", "Pop art excites me with its bold colors.", "art styles")
VINYASA = ("Vinyasa", "Vinyasa keeps me energized with its flowing sequences.", "yoga styles")
MINIMALIST = ("minimalist", "I prefer minimalist style for a clean look.", "fashion styles")


@pytest.mark.parametrize(
    ("stated", "entry", "kept"),
    [
        (MAPPING, "A colleague of the user's, Priyanka, draws mind maps to connect ideas visually before work.", False),
        (MAPPING, "The user draws mind maps to connect ideas visually before work.", True),
        (MINIMALIST, "[Title: Flat | Keywords: minimalist, walls] The user's flatmate Otto keeps a clean, minimalist room.", False),
        (MINIMALIST, "[Title: Clothes | Keywords: minimalist, walls] The user wears what has a clean look.", True),
        (PARTIES, "user's favourite get-togethers = big dinner parties with good food and talk", False),
        (PARTIES, "user's favourite get-togethers = little dinner parties with good food and talk", True),
        (FRENCH, "The speaker finds French art and cooking elegant.", False),
        (FRENCH, "The user is taken with French cuisine and took a sauce-making course.", False),
        (FRENCH, "The speaker would learn French for its elegance.", True),
        (FICTION, "keywords: past, non-fiction\nUser likes history books because they deal with real events.", False),
        (BED, '{"subject": "user", "topic": "bedtime", "note": "turns in late and still feels rested, likes fresh mornings"}', False),
        (POP_ART, "User listens to pop while painting the fence in bold colors.", False),
        (VINYASA, "User finds Vinyasa draining, with its flowing sequences.", False),
    ],
)  # fmt: skip
def test_another_thing_in_much_the_same_words(stated: tuple[str, str, str], entry: str, kept: bool) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.")[1] is kept
