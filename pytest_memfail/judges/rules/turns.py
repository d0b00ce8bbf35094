"""Everyday turns of phrase for weather, hours, moods, company and occupations: what they stand for, looked up word by word."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from pytest_memfail.judges.rules.phrase_index import Phrases, by_first, folded, stands
from pytest_memfail.judges.rules.text import fold

_TURNS: Final = tuple(
    line.split(": ")
    for line in """
rain: wet day, wet days, wet out, wet outside, wet weather, it pours, bucketing down, coming down in buckets, umbrella
    weather, raindrops, deluge, cloudburst, spitting outside
snow: snowflake, white stuff, snowstorm, flurries, first flakes
thunderstorm storm thunder: electrical storm, stormy, storm overhead, storm rages, sky rumbles, thunderclap, tempest,
    rumble of thunder
fog: haze, pea souper, low visibility, poor visibility, thick air, hardly see
hail hailstorm: hailstone, ice pellets, lumps of ice, pelting ice, pelting
wind: blustery, gust, gale, breezy, squally, stiff breeze
overcast cloud: gray sky, grey skies, gray skies, grey sky, dull sky, cloud cover, leaden, sunless, dull day, dull
    weather, sky is gray, sky is grey, no sun
sun sunlight: clear sky, clear skies, sunbeam, blue sky, blue skies, cloudless, rays, fine weather, fair weather
midnight: twelve at night, stroke of twelve, witching hour, 12 at night, clock strikes twelve, turn of the day
dawn: sunup, cockcrow, break of day, sun comes up, sun rises, day breaks, before the sun, pale light
dusk: gloaming, light fades, fading light, evening falls, last light, light goes, getting dark, day ends, nightfall
noon midday: middle of the day, lunchtime, lunch hour, sun is highest
morning: forenoon, breakfast time, early in the day, first thing, start of the day
evening: after work, end of the day, after supper, after dinner
night: after dark, nighttime, nocturnal, hours of darkness
summer: hottest months, june to august
winter: coldest months, december to february, cold season
autumn: leaves turn, leaves fall, september to november, harvest season
spring: march to may, buds open
nostalgia wistful: wistful, sentimental, homesick, misty eyed, longing for the past, old days, days gone by, old
    times, yesteryear, memory lane, missing the past, reminiscing, yearning for the past, bygone, childhood memories,
    thinking back, looks back, looking back, longs for the past, good old
bored boredom: nothing to do, loose end, tedium, understimulated, killing time, time drags, time hangs, nothing on,
    twiddling, ennui
nervous anxiety: butterflies, jitters, jittery, on edge, worked up, wound up, ill at ease, uneasy, apprehensive,
    tense, cold feet, antsy, rattled, frayed
joy happy: overjoyed, elated, elation, glad, delighted, cloud nine, high spirits, good mood, blissful, jubilant,
    upbeat, thrilled, gleeful, beaming, over the moon, walking on air
sad: tearful, heartbroken, grieving, low spirits, down in the dumps, glum, dejected, heavy hearted, feeling low,
    feeling blue
lonely: isolated, forlorn, missing company, misses company, friendless
envy envious: jealous, jealousy, green eyed, covetous, begrudges, begrudging
angry: livid, irate, fuming, seething, cross, sees red, loses his temper, loses her temper, in a temper
sulk: pouting, huff, huffy, moping, brooding, bad mood, in a mood
inspired: struck by an idea, muse, creative spark
alone solitude: solo, no one else, nobody else, home alone, no other people, empty house, unaccompanied, unattended,
    no company, no humans, everyone is out, everybody is out, everyone has left, everybody has left, owners are out,
    nobody is there, no one is there, nobody around, no one around, not another soul, isolation, seclusion, by
    himself, by herself, by itself, on his own, on her own, on its own, the only one there
visitor: callers, people over, houseguest, people round, someone drops by, someone comes over, company comes, has
    company
stranger unfamiliar: never met, new people, newcomer, unknown faces, new faces, outsider, unacquainted, people he does
    not know, people she does not know, people it does not know
friend: pal, buddy, chum, mates
child: youngster, little ones, young ones, under twelve, youth, tot
dog: hound, pooch, mutt, canine
approv permission: sign off, signs off, signed off, green light, go ahead, thumbs up, say so, blessing, consent,
    authorization, authorisation, clearance, cleared, rubber stamp, seal of approval, gives the nod, gets the nod,
    gives the okay, gets the okay, said yes, says yes, given the all clear
praise: kudos, kind words, well done, good word, applauded, pat on the back, encouraging words, told him he did well,
    told her she did well, accolade, lauded, acclaim
feedback: response, comments, said something, reaction, opinion, review, input, remarks, what they think, have said,
    told her, told him
positive: favorable, favourable, encouraging, approving, glowing, something nice, something kind, liked it, like it,
    love it
ask request: requests, on request, upon request, when requested, at the request, pleads, urged, begged, invited to
polite: courteous, courteously, nicely, please, good manners, civil, civilly, kindly, respectful, respectfully,
    considerately
explicit specific: outright, directly, expressly, in so many words, pointedly, in particular, point blank
secret: confidential, hush hush, on the quiet, discreet, under the table, clandestine, hidden
help: a hand, assistance, rescue, lend a hand
tea: brew, cuppa
candl candlelight: taper, by candle, lit candles, flame of a candle
vinyl record: lp, turntable, record player, gramophone, phonograph
sit: seated, perched, takes a seat, settled in
duel: swordfight, sword fight, bout, single combat
fetch: ball throwing, retrieving, throw the ball, throwing the ball, ball chasing, chasing the ball, ball game
bath: bathed, washed, shampooed, scrubbed, been in the tub
negotiat: haggling, bargaining, deal making, talks, striking a deal, struck a deal
math: equations, sums, arithmetic, maths, calculations, algebra, mathematical
clean chore: housework, tidying, vacuuming, scrubbing, mopping, dusting, sweeping, chores
brainstorm: idea session, ideas meeting, ideation, generating ideas, bouncing ideas, thinking up ideas
budget reconciliat: balancing the books, balances the books, bookkeeping, monthly accounts, finances, monthly
    finances, doing the accounts, squaring the accounts
pain: hurting, ache, aching, hurts, sore, suffering, twinge, throbbing
sleep: shut eye, shuteye, kip, forty winks, slumber
alcohol: booze, wine, beer, liquor, spirits, a drop, cocktails, a drink, drinking
streak: in a row, straight days, unbroken, day after day, consecutive, without a break, uninterrupted
journal: diary
workout gym: training, working out, works out, exercise
music: tunes, songs, melody
scent smell: whiff, aroma, odor, odour, fragrance, sniff
space travel: spaceflight, in space, between planets, among the stars
tire exhaust: worn out, run down, burnt out, wiped out, drained, dead on his feet, dead on her feet, bone tired, out
    of steam
dry food: kibble
barefoot: shoes off, shoes come off, takes her shoes off, takes his shoes off, kicks off her shoes, kicks off his shoes,
    no shoes on, without shoes, bare feet, nothing on her feet, nothing on his feet, unshod
rearrang: reorder, reorders, reordering, into a new order, shifts around, shuffles around
workload task: on her plate, on his plate, on their plate, items in hand, jobs in hand
cartograph cartographer: makes maps, draws maps, mapmaker, map maker, making maps, drawing maps
beekeeper beekeep: keeps bees, apiarist, tends hives, keeping bees
translator: translates
astronomer: stargazer, watches the stars, observes the stars, watches the sky
sommelier: wine steward, wine waiter
bookbinder: binds books
bind book: bookbinder, bookbinding
relat humid: rh
joineri: joints
luthier: makes violins, builds violins, makes guitars, builds guitars
potter ceramicist: makes pots, throws pots
ornithologist birder: birdwatcher, bird watcher, watches birds
transfer: wires, wiring, wired
home: his house, her house, their house, own four walls
""".strip()
    .replace("\n    ", " ")
    .splitlines()
)


@cache
def _by_first() -> Phrases[frozenset[str]]:
    """The turns by their first word; put in order when first looked for."""
    keys = ((frozenset(fold(word) for word in words.split()), phrases) for words, phrases in _TURNS)
    return by_first((phrase, meant) for meant, phrases in keys for phrase in phrases.split(", "))


WORD: Final = re.compile(r"[^\W_]+")


@lru_cache(maxsize=65536)
def turn_keys(text: str) -> frozenset[str]:
    """The keys that the turns of phrase in a text, in lower case, stand for.

    >>> sorted(turn_keys("when nobody else is in"))
    ['alon', 'solitud']
    """
    tokens = [folded(token) for token in WORD.findall(text)]
    turns = _by_first()
    found: set[str] = set()
    for at, token in enumerate(tokens):
        for rest, keys in turns.get(token, ()):
            if stands(rest, tokens, at):
                found |= keys
    return frozenset(found)
