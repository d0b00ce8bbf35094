"""Turns of phrase that stand for one word of a habit or a condition, and kinds of values that exclude one another."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, fold
from pytest_memfail.judges.rules.turns import turn_keys

DAYS: Final = tuple(f"{day}day" for day in "mon tues wednes thurs fri satur sun".split())
MONTHS: Final = tuple("january february april august september october november december".split())
OPENS, CLOSES = r"\b(?:", r")\b"
_PHRASES: Final = tuple(
    (re.compile(OPENS + pattern + CLOSES), frozenset(fold(word) for word in words.split()))
    for words, pattern in (
        *((day, rf"{day[:3]}s?|{day[:4]}s?") for day in DAYS),
        *((month, rf"{month[:3]}|{month[:4]}") for month in MONTHS),
        ("eve", r"(?:night|evening|day) before"),
        ("overnight", r"sleep(?:s|ing)? over|stay(?:s|ing)? the night|spend(?:s|ing)? the night|stay(?:s|ing)? till morning"),
        ("alone", r"by (?:him|her|it|my|your|them)sel(?:f|ves)|on (?:his|her|its|their|my) own"
         r"|(?:nobody|no one|no-one|none) (?:else )?(?:is |are )?(?:else|at home|home|around|in|there|about|present|near|nearby|with)"
         r"|home alone|unsupervised|unattended|left to (?:him|her|it|them)sel(?:f|ves)|empty (?:house|apartment|flat|home|room|place)"
         r"|without (?:company|anyone|anybody)|audience of one|unaccompanied|in private"),
        ("quiet", r"(?:not|without|never) (?:utter(?:s|ing)? )?(?:a|one|any|a single) (?:word|syllable|sound|peep)|say(?:s"
         r"|ing)? nothing"
         r"|(?:not|n't) (?:talk|speak|utter|say)|mouth shut|clams? up|falls? mute"),
        ("battery", r"out of (?:power|juice|charge)|uncharged|flat|dead"),
        ("run", r"out of|flat|dead|empt(?:y|ied)"),
        ("greyscale grayscale", r"black[- ]and[- ]white|shades of gr[ea]y"),
        ("barefoot", r"(?:without|no) (?:shoes|footwear|socks)|bare feet|shoes off|shoeless"),
        ("indoors", r"(?:in|inside) the house|under a roof"),
        ("outdoors", r"(?:in the )?open air|in the open|out of doors"),
        ("hometown", r"(?:town|city|village|place) (?:(?:where|in which|that) )?(?:s?he|they) (?:grew up|was born|was raised"
         r"|comes? from)"),
        ("march", "mar"), ("june", "jun"), ("july", "jul"),
        ("weekend", r"saturdays?|sundays?"),
        ("weekday", r"working days?|mondays? to fridays?"),
        ("daily", r"every day|each day|once a day"),
        ("weekly", r"every week|each week|once a week"),
        ("fasting hungry", r"empty stomach|not eaten|n't eaten|nothing to eat|before eating"),
        ("angry", r"loses? (?:his|her|their) temper|in a (?:rage|temper)|seeing red|furious|mad at"),
        ("sad", r"feeling (?:low|down|blue)|down in the dumps|in tears|low spirits"),
        ("happy", r"good (?:mood|spirits)|high spirits|over the moon"),
        ("anxious stress", r"on edge|under (?:pressure|strain)|worked up|keyed up|wound up"),
        ("motivated motivation", r"fired up|raring to go|full of drive|psyched|in the zone"),
        ("tired exhaust", r"worn out|burnt? out|run down|low on energy|drained|wiped out|out of steam|spent"),
        ("sleep insomnia", r"lying awake|awake at night|cannot sleep|can't sleep|sleepless"),
        ("ill", r"under the weather|unwell|off colou?r"),
        ("birthday", r"turns? (?:a year older|another year)"),
        ("rain", r"pouring|downpour|drizzl\w+|wet weather|showers?|bucketing"),
        ("snow", r"flurr(?:y|ies)|flakes?|white outside|blizzard"),
        ("fog", r"hazy?|murk"),
        ("overcast cloud", r"gr[ea]y sk(?:y|ies)|clouded[- ]over|no sun"),
        ("thunderstorm storm", r"lightning|thunder"),
        ("wind", r"gusts?|gal(?:e|es)|breez(?:e|y)|blowing"),
        ("hot", r"heat ?wave|sweltering|scorching|boiling"),
        ("cold", r"freez(?:es|ing)|frost|below zero|icy|chilly"),
        ("dusk", r"light is (?:going|fading)|(?:day)?light (?:fades|wanes|dwindles)|as it gets dark|nightfall"),
        ("dusk", r"sun ?(?:is )?(?:sets|setting|goes down)"),
        ("dawn", r"first light|sun ?(?:comes up|rises)|crack of dawn|daybreak"),
        ("late", r"small hours|wee hours|dead of night"),
        ("visitor", r"company|people over|callers?|houseguests?"),
        ("stranger unfamiliar", r"new faces?|people (?:he|she|they|it) (?:does not|doesn't|do not|don't) know|never met"
         r"|hasn't met|not met"),
        ("familiar", r"(?:he|she|it|they) (?:already )?knows?"),
        ("approve", r"sign(?:s|ed)? off|okay(?:s|ed)?|passed|thumbs[- ]up|green[- ]?light"),
        ("ask permission", r"goes? ahead|green light|say[- ]so|nod from"),
        ("pay", r"foots? the bill|picks? up the (?:bill|tab|check)|covers? the (?:bill|tab)|settles? up|(?:his|her|their) treat"
         r"|stands? everyone"),
        ("whole all", r"every(?:body|one)|all of them|entire"),
        ("cook", r"makes? (?:dinner|lunch|supper|meals)|at the stove"),
        ("swim", r"go(?:es)? for a dip|in the water"),
        ("refuse", r"won't|will not|turns? down|says? no to|declines?"),
        ("win", r"victor(?:y|ies|ious)|comes? out on top|prevails?"),
        ("lose", r"defeat(?:ed|s)?|beaten|loss(?:es)?"),
        ("odd", r"uneven|not even"),
        ("finish complet", r"wrap(?:s|ped) up|w(?:inds|ound) up|is (?:over|done)(?= ?(?:[,.;:]|$))|through with"),
        ("coffee shop café cafe", r"caf[eé]s?|coffee ?(?:shop|house|bar|place|spot)s?|espresso bar|tea ?room"),
        ("beach", r"shore(?:line|front)?|seaside|seafront|seashore|waterfront|strand|on the sand|by the (?:sea|ocean|water)|coast"),
        ("ocean sea", r"surf|open water|the (?:atlantic|pacific|deep)"),
        ("backyard garden yard", r"back ?garden|behind the house|out back|(?:back|rear) ?yards?|lawn|patio"),
        ("live room", r"lounge|sitting room|front room|parlou?r|family room|den"),
        ("bedroom", r"bed ?chamber|where (?:s?he|they|it) sleeps"),
        ("balcony", r"terrace|verandah?|loggia"),
        ("porch", r"verandah?|stoop|front steps"),
        ("cliff", r"precipice|bluff|headland|clifftop|cliff ?side|crag|escarpment"),
        ("cabin", r"log (?:house|cabin)|hut|lodge|chalet"),
        ("station", r"depot|platform|train (?:stop|hall)|terminal"),
        ("office", r"workplace|at work|(?:his|her|their) desk"),
        ("vet", r"animal (?:clinic|hospital|doctor)|veterinar\w+"),
        ("park", r"green space|public gardens"),
        ("study", r"home office|reading room|library"),
        ("kitchen", r"galley|by the stove|at the stove"),
        ("workshop", r"studio|shed"),
        ("bridge", r"overpass|footbridge|viaduct"),
        ("corridor hall", r"hallway|passage(?:way)?|aisle"),
        ("forest", r"woods?|woodland|among the trees"),
        ("mountain", r"peaks?|hills?|alpine|highlands?"),
        ("nearby", r"close by|close at hand|within (?:reach|sight|earshot)|in the (?:room|vicinity)|next to|at hand"),
        ("consecut streak row", r"in a row|days running|straight|unbroken|uninterrupted|back[- ]to[- ]back"
         r"|without a (?:gap|break|miss)|without (?:missing|skipping|a day off)|day after day|successive"),
        ("threshold", r"doorsteps?|door ?sills?"),
        ("home", r"(?:his|her|their) (?:flat|apartment|house|place)"),
    )
)  # fmt: skip
"""Everyday English only."""

_KINDS: Final = tuple(
    tuple(re.compile(OPENS + pattern + CLOSES) for pattern in kind)
    for kind in (
        tuple(rf"{day}(?:days?)?\.?" for day in ("mon", "tue(?:s)?", "wed(?:nes)?", "thu(?:rs?)?", "fri", "sat(?:ur)?(?! )",
         "sun(?! )")),
        ("januar(?:y|ies)", "februar(?:y"
         r"|ies)", "march", "april", "june", "july", "august", "september", "october", "november", "december"),
        ("spring(?:time)?", "summers?(?:time)?", "autumns?|fall (?:months?|season)", "winters?(?:time)?"),
        ("mornings?|dawn|daybreak|sunrise|breakfast", "noon|midday|lunch(?:time)?", "afternoons?", "sunset|dusk|nightfall"
         r"|twilight|evenings?|supper|dinner",
         "nights?|midnight|nocturnal|overnight|small hours|eve"),
        (r"rain\w*|drizzl\w+|downpours?|pouring", r"snow\w*|flurr\w+|flakes?|blizzards?", r"fog\w*"
         r"|mist\w*", r"hail\w*", r"thunder\w*|lightning|storms?|stormy",
         r"sunny|sunshine|cloudless|clear (?:sk\w+|weather|days?)"
         r"|dry (?:days?|weather|spells?|evenings?|mornings?|afternoons?|nights?)"
         r"|(?:is|it's|stays?|remains?) dry (?:out|outside|outdoors)", r"overcast|cloud(?:s|y|ed)\w*|clouded[- ]over|gr[ea]y sk\w+"),
        ("odd|uneven", r"even (?:number|count|tally|total|amount|head|date|day|floor|page|hour|sum)s?\w*"),
        ("full moon", "new moon|moonless"),
        (r"late(?! (?:in|at|evening|night|afternoon|morning|summer|spring|autumn|winter))|overdue|delayed|belated|behind schedule",
         r"(?:on|in good) time|on schedule|punctual(?:ly)?"),
        (r"alone|by (?:him|her|it)self|on (?:his|her|its) own|solitary|in private|unaccompanied|nobody else",
         r"with (?:guests|company|friends|others|visitors)|in company|people over|accompanied"),
        (r"locked|bolted|latched|shut|closed", r"ajar|unlocked|unlatched|unbolted|wide open|(?:is|stands|are|left) open"),
        ("(?:switched|turned|is|are|put) on|lit|alight|with the .{1,30} on", "(?:switched|turned|is|are) off|unlit"),
        (r"happ\w+|joy\w*|cheer\w+|delighted|elated|overjoyed|gleeful\w*|jubilant", r"sad\w*|sorrow\w*|melanchol\w+|gloomy|downcast"
         r"|dejected|tearful|blue mood",
         "ang(?:ry|er)|furious|rage", r"bored\w*", r"lonel\w+", r"nostalg\w+|wistful\w*|sentimental", r"jealous\w*|envious\w*|envy"),
        ("kitchen|galley", "bed ?rooms?", r"living[- ]?room|lounge|sitting room|front room|parlou?r|family room|den", "bath ?rooms?",
         "dining[- ]?room", "basement|cellar", "attic|loft", "garage", "laundry room", "nursery"),
        (r"front[- ](?:yard|garden|lawn)", r"back ?yards?|(?:back|rear) ?gardens?|behind the house|out back"),
        (r"dogs?|pup(?:s|py|pies)?|canines?|hounds?|pooch(?:es)?|corgis?|\w*terriers?|spaniels?|poodles?|beagles?|labradors?"
         r"|retrievers?|bulldogs?|dachshunds?|collies?|husk(?:y|ies)|whippets?|greyhounds?|pugs?",
         r"cats?|kitten\w*|kitt(?:y|ies)|felines?|tabb(?:y|ies)", "squirrels?", r"rabbits?|bunn(?:y|ies)", r"horses?|pon(?:y|ies)",
         "pigeons?|parrots?|crows?|ducks?|gulls?|seagulls?", "fox(?:es)?",
         r"(?:mail|post)(?:[- ]?(?:carrier|man|woman|person))s?|couriers?|deliver(?:y|ies)(?: \w+)?|doorbell"),
        (r"(?:brother|sister|sibling)s?(?:[- ]in[- ]law)?", "mothers?|mum|mom|fathers?|dad|parents?",
         "wife|wives|husbands?|spouses?|girlfriends?|boyfriends?|fianc[eé]e?s?",
         "sons?|daughters?|child(?:ren)?|kids?|toddlers?|youngsters?|little ones?", "neighbou?rs?", "landlord|landlady",
         "boss|bosses|supervisors?|managers?", "mentors?|teachers?|professors?|tutors?|instructors?",
         "colleagues?|co-?workers?|collaborators?", "councils?|councillors?",
         "audiences?|spectators?|the (?:crowd|public)", "sailors?|crew|deckhands?|shipmates?",
         "doctors?|physicians?", "customers?|clients?"),
        (r"parks?", r"caf[eé]s?|coffee ?(?:shop|house|bar|place|spot)s?|tea ?room", "library|libraries",
         "beach(?:es)?|seaside|seashore", "lakes?|lakeside",
         r"(?:train|railway|railroad|rail|metro|subway) (?:station|stop|hall)s?", r"bus (?:stop|station)s?",
         "airports?", r"gyms?|fitness cent\w+", "school|classroom", "hospital",
         "church|chapel", "supermarket|mall", "museum", "pub|tavern"),
        ("classical", "jazz", "rock|metal", "pop", "folk", "hip[- ]?hop|rap", "techno|electronic", "podcasts?", "audiobooks?"),
        ("tea", "coffee|espresso", "wine", "beer|ale", "milk", "lemonade|juice|soda"),
        ("tuna", "chicken", "beef|steak", "salmon", "turkey", "ham|bacon", "cheese"),
        (r"set(?:s|ting)? (?:\w+ ){0,4}up|set-?up|assembl\w+",
         r"pack(?:s|ing|ed)? (?:\w+ ){0,4}(?:up|away)|(?:tak(?:es?|ing|en)|tear(?:s|ing)?) (?:\w+ ){0,4}down|dismantl\w+"
         r"|take-?down|teardown"),
        ("left(?:-hand)?", "right(?:-hand)?(?= (?:hand|side|foot|shoe|sleeve|ear|paw|leg|eye|arm|pocket))"),
    )
)  # fmt: skip
"""Where one value of a kind is meant, another is a change."""


def _any_of(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    """All of them in one, which looks at each beginning of a word once."""
    return re.compile(OPENS + "|".join(p.pattern.removeprefix(OPENS).removesuffix(CLOSES) for p in patterns) + CLOSES)


_ANY_PHRASE: Final = _any_of(pattern for pattern, _ in _PHRASES)
FEW: Final = 12
_FEW_PHRASES: Final = tuple(
    (_any_of(pattern for pattern, _ in some), some)
    for some in (_PHRASES[at : at + FEW] for at in range(0, len(_PHRASES), FEW))
)
"""The phrases, a few at a time, with one look for all of these."""
_ANY_VALUE: Final = _any_of(pattern for kind in _KINDS for pattern in kind)
_NOT_ON_TIME: Final = re.compile(
    r"\b(?:not|never|\w+n't|fail\w*) (?:\w+ ){0,4}(?:on time|on schedule|punctual(?:ly)?)\b"
)
NONE: Final = frozenset[int]()
_NO_VALUE: Final = (NONE,) * len(_KINDS)
_WITH_ANY: Final = tuple((_any_of(kind), kind) for kind in _KINDS)


@lru_cache(maxsize=65536)
def phrase_keys(text: str) -> frozenset[str]:
    """The keys that the turns of phrase of a sentence stand for.

    >>> sorted(phrase_keys("the night before a wedding"))
    ['eve']
    """
    found: set[str] = set()
    text = text.lower()  # patterns that look for either case take many times as long
    found |= turn_keys(text)
    if not _ANY_PHRASE.search(text):  # one look spares most sentences all the others
        return frozenset(found)
    for any_of_them, some in _FEW_PHRASES:
        if any_of_them.search(text):
            found = found.union(*(keys for pattern, keys in some if pattern.search(text)))
    return frozenset(found)


@lru_cache(maxsize=65536)
def values(text: str) -> tuple[frozenset[int], ...]:
    """Which values of each kind (weekday, season, weather ...) a text names."""
    text = text.lower()
    if not _ANY_VALUE.search(text):
        return _NO_VALUE
    text = _NOT_ON_TIME.sub("overdue", text)
    return tuple(
        frozenset(i for i, pattern in enumerate(kind) if pattern.search(text)) if any_of_kind.search(text) else NONE
        for any_of_kind, kind in _WITH_ANY
    )


def values_of(texts: Iterable[str]) -> tuple[frozenset[int], ...]:
    """The same of several texts together, each read once."""
    named = [values(text) for text in texts]
    return tuple(frozenset().union(*kind) for kind in zip(*named, strict=True)) if named else _NO_VALUE


def clashes(wanted: str, stored: Iterable[str], source: str) -> bool:
    """Whether the stored text names another value of a kind of which the wanted text names one.

    A value that the source names in the same breath is no clash.

    >>> clashes("on Thursdays", ["every Monday"], "on Thursdays"), clashes("on Thursdays", ["Thu at noon"], "on Thursdays")
    (True, False)
    """
    wants = values(wanted)
    if wants is _NO_VALUE:
        return False
    for want, have, said in zip(wants, values_of(stored), values(source), strict=True):
        if want and have and not want & have and have - said:
            return True
    return False


def without(sentence: Sentence, keys: Collection[str]) -> str:
    """The text without the words of these keys, where it names a value at all."""
    text = sentence.text
    if values(text) is _NO_VALUE:
        return text
    done = [word for word in sentence.words if word.key in keys]
    for word in reversed([word for word in done if values(f"the {word.lower}") is not _NO_VALUE]):
        text = text[: word.start] + text[word.end :]
    return text
