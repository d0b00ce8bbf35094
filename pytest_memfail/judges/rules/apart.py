"""Which words exclude each other, and how far one is associated with another that it does not exclude."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup, nearness
from pytest_memfail.judges.rules.measures import MEASURES
from pytest_memfail.judges.rules.text import fold

EXCLUDING: Final = """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
spring summer autumn winter
weekday weekend
morning afternoon evening
morning night
afternoon night
noon midnight
noon morning evening night
morning midnight afternoon
sunrise sunset
sunrise midnight
dawn midnight
dawn dusk
dawn noon
dusk noon
weekday saturday
weekday sunday
early late
daily weekly monthly yearly
nightly weekly monthly yearly
nightly daily
hourly daily
north south east west
left right
indoors outdoors
alone together
solo group
always never rarely
often rarely never
peacefully badly poorly
soundly badly poorly
well badly poorly
breakfast lunch dinner
sweet bitter sour salty spicy
rain snow fog hail
rainy snowy foggy sunny
beginning end
first last
before after
sister brother cousin aunt uncle mother father grandmother grandfather niece nephew daughter son wife husband
friend sister brother mother father
sister family
brother family
neighbour colleague friend boss
walk run swim
"""
"""Of what one line names, no two can be the same."""
POLES: Final = """
start begin launch commence open / finish complete end stop quit conclude abandon close cease
write compose pen / read
light ignite kindle / extinguish blow snuff
cancel scrap / schedule arrange book organise organize plan
skip miss forgo / eat attend
share publish post / hide conceal delete withhold
invite welcome / avoid shun exclude
show / hide conceal
give hand send share write offer lend mail / receive
organise organize host run stage / attend visit join avoid
fill / empty burn
lose / gain win
remember / forget
love adore crave like enjoy / hate dislike detest loathe despise avoid
laugh smile grin / cry weep frown scowl
calm soothe settle / fray upset agitate irritate
relax unwind / tense worry
tune repair fix / smash break
wear don / remove doff shed
knit make build / unravel destroy
pull / delete burn
calm peaceful quiet tranquil serene / busy agitated hectic frantic anxious racing chaotic
early / evening night midnight dusk
long lengthy extended / short quick brief hurried
big large huge hearty / small little tiny meagre modest
loud noisy rowdy blaring / quiet silent soft hushed
fast quick rapid swift hurried brisk / slow leisurely unhurried
hot warm / cold icy chilly cool frosty
new fresh brand-new / old worn stale ancient used
bright vivid colourful colorful / dark dull drab grey black
strong potent robust / weak mild watery feeble
spicy fiery / mild bland sweet
happy cheerful joyful merry joyous / sad gloomy glum sombre miserable angry
deep / shallow
thick heavy / thin light
crowded packed / empty deserted uncrowded
steady / shaky trembling
acoustic unplugged / electric electronic
solo alone lone / group team together shared joint
handwritten / typed printed electronic
formal planned / spontaneous impromptu
encouraging supportive positive / harsh discouraging critical negative
proud / ashamed embarrassed
confident assured / insecure unsure shy doubtful hesitant
productive efficient / lazy idle unproductive
motivated driven / unmotivated lazy sluggish
energized energised lively energetic / tired exhausted drained weary sleepy sluggish
relaxed relaxing easy / tense nervous strained forced
restless fidgety / calm still
rainy wet drizzly / sunny dry
foggy misty / clear sunny
more / less fewer
gently softly lightly / wildly roughly violently
energetically vigorously / slowly lazily listlessly
deeply fully / barely shallowly
peacefully soundly / restlessly badly poorly fitfully
loudly / softly quietly silently
freshly newly recently / long
inspired / bored uninspired
curious interested / bored indifferent
focused concentrated attentive / distracted scattered unfocused
talkative chatty / quiet silent taciturn withdrawn
satisfied content pleased / dissatisfied discontent unhappy disappointed
cozy cosy snug / noisy grim bare
awkward stilted / easy pleasant deep fluent
nostalgic / futuristic
reflective thoughtful / thoughtless careless
tender affectionate loving / angry cold harsh hostile
celebratory festive / sombre gloomy mournful
surprising unexpected / boring expected dull
free / paid
heartfelt sincere / business formal insincere
public / private
cheap / expensive costly dear
full / empty half
first / second third last
exhilarated thrilled elated energized energised / worn exhausted drained weary deflated listless
uplifted elated cheerful joyful / downcast dejected deflated gloomy miserable low
energized energised refreshed / sluggish lethargic listless flat
confident assured / nervous timid self-conscious
satisfied content / frustrated
playful / serious solemn stern
organized organised / chaotic disorganized disorganised muddled
productive / useless idle unproductive
alert / drowsy sleepy
alertness / drowsiness sleepiness grogginess
inspired / uninspired discouraged
serene peaceful / rattled jittery frazzled
clarity / confusion muddle
laugh laughing / tears sob sobbing weep
informed / uninformed
"""
"""What one side of a line names is not what the other names."""
ASSOCIATED: Final = 0.5
_SIZES: Final = {fold(word): size for word, size in MEASURES.items() if len(word) > 2}


_CLASSES: Final[dict[str, frozenset[int]]] = {}
for _number, _line in enumerate(EXCLUDING.strip().splitlines()):
    for _side in _line.split():
        _CLASSES[fold(_side)] = _CLASSES.get(fold(_side), frozenset()) | {_number}

_POLES: Final[dict[str, frozenset[str]]] = {}
for _line in POLES.strip().splitlines():
    _one, _other = ([fold(word) for word in side.split()] for side in _line.split("/"))
    for _sides in (_one, _other), (_other, _one):
        for _word in _sides[0]:
            _POLES[_word] = _POLES.get(_word, frozenset()) | frozenset(_sides[1])


@lru_cache(maxsize=65536)
def poles(one: str, other: str) -> bool:
    """Whether two words are known as opposites of everyday life.

    >>> poles(fold("start"), fold("finish")), poles(fold("start"), fold("begin"))
    (True, False)
    """
    return other in _POLES.get(one, frozenset())


@lru_cache(maxsize=65536)
def apart(one: str, other: str) -> bool:
    """Whether what is the one cannot be the other.

    >>> apart("tea", "coffe"), apart("cold", "warm"), apart("red", "blue"), apart("cold", "freez")
    (True, True, True, False)
    """
    mine, theirs = lookup(one), lookup(other)
    if _CLASSES.get(one, frozenset()) & _CLASSES.get(other, frozenset()):
        return one != other
    if other in mine.general or one in theirs.general:
        return False  # a hike is a walk
    if contrast(one, other) or poles(one, other) or other in mine.opposite or one in theirs.opposite:
        return True
    if mine.opposite & theirs.same or theirs.opposite & mine.same:
        return True
    return "colour" in kinds_of(one) and "colour" in kinds_of(other)


@lru_cache(maxsize=65536)
def alternatives(one: str, other: str) -> bool:
    """Whether the two are different kinds of the same: ginger and mint.

    >>> alternatives("ginger", "mint"), alternatives("ginger", "spic")
    (True, False)
    """
    return bool(kinds_of(one) & kinds_of(other)) and not (
        other in kinds_of(one) or one in kinds_of(other) or nearness(one, other) or association(one, other)
    )


@lru_cache(maxsize=65536)
def associated(wanted: str, held: str) -> bool:
    """Whether the held word may well be said for the wanted one.

    >>> associated("freez", "cold"), associated("cold", "warm")
    (True, False)
    """
    return association(wanted, held) >= ASSOCIATED and not apart(wanted, held)


def another_size(one: str, other: str) -> bool:
    """Whether two words measure the same in different sizes: synonyms they may be called, but none is the other.

    >>> another_size("hour", "minut"), another_size("hour", "hour")
    (True, False)
    """
    mine, theirs = _SIZES.get(one), _SIZES.get(other)
    return mine is not None and theirs is not None and mine != theirs
