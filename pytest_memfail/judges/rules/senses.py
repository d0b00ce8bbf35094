"""States that exclude one another, each in its everyday wordings: dim and bright, calm and tense, sober and drunk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from pytest_memfail.judges.rules.phrase_index import Phrases, by_first, folded, stands
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.text import fold

POLES: Final = (
    (
        "dim, dark, darkness, gloom, gloomy, murky, shadowy, unlit, candlelit, candlelight, low light, low lighting, poor light"
        ", poor lighting, poorly lit, badly lit, barely lit, faintly lit, softly lit, half lit, half light, half dark"
        ", faint light"
        ", little light, lights off, lights out, light off, lamps off, lamp off, lights low, lights down, weak light",
        "bright, brightly, brightness, glare, glaring, dazzling, floodlit, sunlit, broad daylight, full daylight"
        ", well lit, full light, lights on"
        ", strong light, harsh light, lots of light, plenty of light, lit up, blazing light, lights blazing",
    ),
    (
        "cold, colder, cool, cooler, coolness, chilly, chill, chillier, frigid, freezing, freeze, frost, frosty, icy"
        ", nippy, wintry"
        ", brisk, crisp, frozen, frosted, bitterly cold, low temperature, drop in temperature, cold snap",
        "hot, hotter, heat, heatwave, warm, warmer, warmth, sweltering, scorching, boiling, baking, muggy, stifling, balmy"
        ", roasting, sultry, torrid, swelter, scorcher, hot spell, warm spell, high temperature",
    ),
    (
        "calm, calmer, calmness, serene, serenity, placid, tranquil, tranquility, tranquillity, relaxed, untroubled, unworried"
        ", composed, collected, mellow, peaceful, at ease, at peace, carefree, stress free, low anxiety, low stress"
        ", little stress"
        ", hardly stressed, barely anxious, not worried, peace of mind, unruffled, unstressed",
        "anxious, anxiety, tense, tension, nervous, nerves, nervousness, worried, worry, stress, stressed, stressful, on edge"
        ", rattled, frayed, agitated, agitation, panicky, panic, panicked, uneasy, unease, jittery, jitters, fretful, fraught"
        ", strained, under strain, under pressure, overwhelmed, frazzled, keyed up, worked up, wound up, stormy, turbulent"
        ", distressed, high anxiety, unsettled, apprehensive, restless, jumpy, dread, troubled",
    ),
    (
        "tired, tiredness, exhausted, exhaustion, drained, weary, weariness, worn out, run down, sluggish, lethargic, lethargy"
        ", fatigued, fatigue, listless, low energy, low on energy, out of steam, wiped out, burnt out, burned out"
        ", running on empty"
        ", worn down, knackered, little energy, weak, depleted, running low",
        "energetic, energized, energised, full of energy, lively, well rested, perky, bursting with energy, wide awake"
        ", high energy"
        ", plenty of energy, lots of energy, brimming with energy, refreshed, vigorous, peppy, full of beans, alert",
    ),
    (
        "unmotivated, demotivated, apathetic, apathy, uninspired, low motivation, little motivation, lack of motivation, no drive"
        ", low drive, disheartened, discouraged",
        "motivated, motivation, driven, fired up, psyched, raring, determined, enthusiastic, full of drive"
        ", highly motivated, gung ho"
        ", ambitious, high motivation, high drive, pumped",
    ),
    (
        "hungry, hunger, starving, famished, ravenous, peckish, empty stomach, growling stomach, stomach growls, stomach rumbles"
        ", stomach is empty, unfed, fasting, nothing to eat, has not eaten, belly is empty, empty belly",
        "sated, satiated, well fed, full belly, full stomach, full up, replete, just eaten, has eaten, eaten well, stuffed",
    ),
    (
        "sober, sobriety, teetotal, abstinent, abstinence, clear headed, clear head, alcohol free, dry spell"
        ", on the wagon, unintoxicated",
        "drunk, tipsy, intoxicated, intoxication, inebriated, boozy, boozed, booze, alcohol, drunken, buzzed, merry"
        ", sloshed, plastered"
        ", drink in, few drinks, had a drink, had drinks, had a few, been drinking, under the influence, in his cups"
        ", in her cups, liquor",
    ),
    (
        "quiet, hush, hushed, silent, silence, still, stillness, soundless, noiseless, no noise, low noise, pin drop",
        "loud, louder, noisy, noise, din, racket, clamor, clamour, rowdy, raucous, deafening, hubbub, commotion, uproar, blaring"
        ", bustling, cacophony, high noise",
    ),
    (
        "sparse, idle, unscheduled, uncluttered, empty calendar, blank calendar, clear calendar, free day, free days, light day"
        ", light days, quiet day, quiet days, slow day, slow days, few meetings, few tasks, few appointments, hardly any meetings"
        ", nothing scheduled, nothing planned, light workload, light load, light schedule, little to do, little on, day is free"
        ", days are free, calendar is empty, calendar is clear, easy day, easy days, lightly scheduled, hardly anything",
        "busy, busier, busiest, packed, jam packed, crammed, hectic, overloaded, overworked, swamped, crowded"
        ", booked solid, heavy load"
        ", heavy workload, full schedule, full calendar, full plate, piling up, pile up, snowed under, back to back"
        ", many meetings"
        ", many tasks, many projects, several projects, multiple projects, rushed, frantic, fully booked, meeting heavy, lot on",
    ),
    (
        "own yard, own garden, own kitchen, own home, own house, own flat, own apartment, own room, own place"
        ", own backyard, own bed"
        ", at home, home kitchen, home garden",
        "neighbor's, neighbour's, neighbors, next door, off the property, community, public, communal, municipal, shared",
    ),
    (
        "stranger, strangers, unfamiliar, unknown, newcomer, newcomers, new faces, new people, never met, not met, new guests",
        "familiar, family, household, well known, known, acquainted, regulars, old friends, relatives, loved ones",
    ),
    (
        "alone, by himself, by herself, by itself, by themselves, to himself, to herself, on his own, on her own, on its own"
        ", on their own, left alone, unattended, unaccompanied, solitary, solitude, solo, nobody around, no one around"
        ", nobody else, no one else, nobody home, no one home, no company, no guests, no visitors, no one is around"
        ", nobody is around, nobody about, no one about, nobody is about",
        "company, guests, guest, visitors, visitor, people around, people about, others around, others present, accompanied"
        ", companions, onlookers, someone around, someone is around, surrounded by people"
        ", somebody around, someone home, someone is home, in front of others",
    ),
    (
        "sad, sadness, saddened, unhappy, unhappiness, joyless, low spirits, low in spirits, low mood, low moods, bad mood, bad moods"
        ", feeling down, feeling low, feels down, feels low, feeling blue, feels blue, down in the dumps, downcast, downhearted"
        ", dejected, despondent, dispirited, glum, miserable, misery, melancholy, melancholic, sorrow, sorrowful, mournful, mourning"
        ", grief, grieving, heartbroken, heartache, heavy heart, heavy hearted, heart is heavy, crestfallen, forlorn, disconsolate"
        ", tearful, in tears, weepy",
        "happy, happier, happiness, joy, joyful, joyous, joyfully, cheerful, cheery, cheerfulness, glad, gladness, gleeful, glee"
        ", delighted, elated, elation, jubilant, overjoyed, ecstatic, exuberant, blissful, bliss, upbeat, high spirits, good spirits"
        ", good mood, good moods, over the moon, on cloud nine, lighthearted, light hearted",
    ),
    (
        "often, frequently, constantly, all the time, every time, regularly, many times, again and again, repeatedly",
        "rarely, seldom, infrequently, hardly ever, once in a while, now and then, few times, occasionally",
    ),
)
"""Two states of a kind each: what is not the one is the other."""
FREQUENCY: Final = len(POLES) - 1
EXCEEDING: Final = frozenset("more over above beyond exceeds exceed exceeding past".split())
"""Seldom more than twice is a limit, and does not tell how often."""
MEASURED: Final[Mapping[int, re.Pattern[str]]] = {
    1: re.compile(r"\btemperature|\d ?°|\bdegrees?\b", re.IGNORECASE),
    2: re.compile(r"\b(?:anxiety|stress|tension|nerves?)\b", re.IGNORECASE),
    3: re.compile(r"\benergy\b", re.IGNORECASE),
    4: re.compile(r"\b(?:motivation|morale)\b", re.IGNORECASE),
    5: re.compile(r"\bhunger\b", re.IGNORECASE),
    7: re.compile(r"\b(?:noise|decibels?|db)\b", re.IGNORECASE),
    8: re.compile(r"\b(?:tasks?|meetings?|appointments?|projects?|workload)\b", re.IGNORECASE),
    0: re.compile(r"\b(?:lux|illuminance|brightness)\b", re.IGNORECASE),
}
"""By kind, what is measured; below a number it is the first state, above it the second."""
FALLING: Final = frozenset((5,))
"""Kinds of which the first state is that of the higher numbers."""
REACH: Final = 4
MEASURES: Final = {
    fold(word): kind
    for kind, words in (
        (1, "temperature thermometer mercury"),
        (2, "anxiety stress tension nerves worry"),
        (3, "energy battery stamina"),
        (4, "motivation morale drive"),
        (5, "hunger appetite"),
        (7, "noise volume decibel"),
        (8, "workload load"),
        (0, "illuminance lux"),
    )
    for word in words.split()
}
LOW: Final = frozenset(
    """low lower lowest minimal small reduced dip dips dipping dipped drop drops dropped dropping fall falls falling fallen sink
    sinks sinking sunk ebb ebbs ebbing down little least slight mild negligible subsides eases faint modest light lacking lacks
    bottom below under wanes dwindles decreases declines lessens""".split()
)
HIGH: Final = frozenset(
    """high higher highest elevated peak peaks peaking spike spikes spiking spiked soar soars soaring climb climbs climbing rise
    rises rising risen mounting mounts strong intense heightened up above over great heavy severe extreme surges surging increases
    exceeds top tops acute maximum raised runs boiling full lots plenty""".split()
)
COLOUR: Final = re.compile(r"\bcolou?r temperature\b", re.IGNORECASE)
"""It is the lower the warmer the light is."""
NEAR: Final = 4
"""So many words from what is measured, its height is told."""
TURNS: Final = frozenset(("him", "her", "them", "himself", "herself", "themselves", "itself", "down"))
PURPOSE: Final = frozenset(("to", "which", "that", "helps", "help", "so"))
WORD: Final = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")
State = tuple[int, int]


@cache
def _wordings() -> Phrases[State]:
    """The wordings by their first word, the longest first; put in order when first looked for."""
    every = (
        (p, (kind, pole))
        for kind, poles in enumerate(POLES)
        for pole, told in enumerate(poles)
        for p in told.split(",")
    )
    return {first: sorted(some, key=lambda wording: -len(wording[0])) for first, some in by_first(every).items()}


@cache
def _keys() -> Mapping[State, frozenset[str]]:
    """The single words of each state."""
    return {
        (kind, pole): frozenset(folded(phrase.strip()) for phrase in phrases.split(",") if " " not in phrase.strip())
        for kind, poles in enumerate(POLES)
        for pole, phrases in enumerate(poles)
    }


@lru_cache(maxsize=65536)
def states(text: str) -> frozenset[State]:
    """The states that a text tells; what is negated is the other one.

    >>> states("when it is not bright") == states("in poor light"), states("to calm herself")
    (True, frozenset())
    """
    lowers = WORD.findall(text.lower().replace("’", "'"))
    tokens = [folded(token) for token in lowers]
    found: set[State] = set()
    for at, token in enumerate(tokens):
        measured = MEASURES.get(token)
        if measured is not None:
            around = lowers[max(0, at - NEAR) : at + NEAR + 1]
            low, high = not LOW.isdisjoint(around), not HIGH.isdisjoint(around)
            if low != high:
                negative = any(is_negator(word) for word in around)
                found.add((measured, int((high != negative) != (measured in FALLING))))
                continue
        for rest, (kind, pole) in _wordings().get(token, ()):
            if not stands(rest, tokens, at):
                continue
            after = lowers[at + 1 + len(rest) : at + 2 + len(rest)]
            if not rest and (not TURNS.isdisjoint(after) or (at and lowers[at - 1] in PURPOSE)):
                break
            if kind == FREQUENCY and (lowers[max(0, at - 1) : at] == ["how"] or _limits(lowers, at)):
                break
            negative = any(is_negator(word) for word in lowers[max(0, at - REACH) : at])
            found.add((kind, 1 - pole if negative else pole))
            break
    return frozenset(found)


def _limits(lowers: list[str], at: int) -> bool:
    return not EXCEEDING.isdisjoint(lowers[at + 1 : at + 1 + REACH])


def is_contrary(text: str, state: State) -> bool:
    """Whether the text names the other state of the kind, be it negated or not."""
    kind, pole = state
    words = {folded(token) for token in WORD.findall(text.lower())}
    return (kind, 1 - pole) in states(text) or not words.isdisjoint(_keys()[kind, 1 - pole])


@lru_cache(maxsize=4096)
def states_meant(when: str, direction: int, numbered: bool) -> frozenset[State]:
    """The states that a condition asks for: by its words, or by the side of its number."""
    meant = {state for state in states(when) if not (numbered and state[0] in MEASURED)}
    if numbered and direction:
        for kind, measure in MEASURED.items():
            if measure.search(when):
                above = (direction > 0) != bool(COLOUR.search(when))
                meant.add((kind, int(not above) if kind in FALLING else int(above)))
    return frozenset(meant)
