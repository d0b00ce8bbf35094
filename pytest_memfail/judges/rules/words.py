"""The small vocabulary that the judge knows: function words, weak words, synonyms, irregular forms, polarity.

Only everyday English; anything peculiar to a row belongs into its curated wordings.
"""

from __future__ import annotations

from typing import Final

STOP: Final = frozenset(
    """
    a an the and or but nor so yet of to in on at by for from with without into onto over under about around as than then
    that this these those there here it its it's itself he she they him her his hers them their theirs himself herself
    themselves i me my mine myself we us our ours you your yours yourself one's someone somebody anyone anybody who whom whose
    which what when where why how while during before after until till since because if unless whether though although even
    is are was were be been being am do does did doing done have has had having will would shall should can could may might
    must ought not no nor never none only just also too very quite rather really still already again ever else
    any some each every either neither both all such own same other others another up down out off upon through
    s t d m ll re ve user users assistant system says said tells told mentions mentioned states stated shares shared
    etc via per let lets get gets got gotten getting become becomes became becoming seem seems seemed
    thing things something anything everything nothing way ways
    now today currently known know knows
    yes ok okay please whenever within among amid amongst instead along across toward towards around unless
    whether despite whatever wherever
    """.split()
)
"""Words that carry no detail of their own (negation, exclusivity and direction are looked for apart from them)."""

WEAK: Final = frozenset(
    """
    like love enjoy prefer favorite favourite want need use make take go come give keep put see look find think feel
    start begin stop continue try work help usually often always sometimes typically generally frequently regularly
    especially particularly mostly normally tend habit ritual routine custom practice
    good great nice new old big small little tiny long short large high low much many more most less few
    time day moment place people person friend friends home room
    appeal appreciate fascinate captivate excite attract ideal perfect best favor rely reach
    lot bit kind sort type set piece
    be allow let because level rate point scale
    play refuse eat write paint read
    session hour minute period season weather stretch feature include involve
    early late daily
    """.split()
)
"""Words that many facts share: they count, but little."""

WEAK_WEIGHT: Final = 0.5

SYNONYMS: Final = tuple(
    tuple(line.split())
    for line in """
    begin start commence initiate
    finish complete end conclude
    large big huge
    small tiny little miniature mini minuscule
    buy purchase
    rain rainy rainstorm rainfall
    snow snowy snowfall
    storm stormy
    thunderstorm thunder thunderstorming
    sun sunny sunshine
    fog foggy mist misty
    wind windy
    dog puppy canine pup
    cat kitten feline
    child kid
    photo photograph
    couch sofa
    secret hidden secretive
    nostalgia nostalgic
    anxiety anxious anxiousness nervous
    stress stressed stressful tension tense
    sad sadness sorrow
    happy happiness joy joyful cheerful
    anger angry
    bored boredom
    tired fatigue exhausted weary
    motivated motivation
    lonely loneliness
    quiet silent hushed quieter quietly
    loud noisy noise
    praise compliment commend
    ask request
    approve approval permission
    visitor guest
    stranger unfamiliar unknown
    alone solo solitary
    toddler baby infant
    doctor physician
    vet veterinarian veterinary
    alcohol alcoholic drunk
    sober sobriety
    candle candlelight candlelit
    dusk twilight
    dawn sunrise daybreak
    sunset sundown
    midnight
    noon midday
    morning
    evening
    poem poetry verse
    riddle puzzle
    tale story
    song tune melody
    hum humming
    doodle sketch draw
    note notes
    e-mail email
    meal dinner supper
    sword blade
    shout yell
    whisper murmur
    gather collect
    repair fix mend
    clean tidy
    arrange organize organise
    rearrange reorganize
    avoid shun
    hike trek
    exercise workout
    bicycle bike cycling cycle biking
    car automobile
    movie film
    sci-fi scifi
    tv television
    technology tech
    job career occupation
    ill sick
    aid help assist
    fast quick
    scared afraid fear fright
    smell scent fragrance
    allergy allergic
    nap snooze
    bed mattress
    celsius centigrade
    decibel db
    percent percentage
    temperature temp
    phone smartphone
    internet online web
    stroll walk
    sharpen hone
    barefoot barefooted
    permit allow
    nearby near
    inside indoors indoor
    outside outdoors outdoor
    accompany accompanied company
    polite politely
    spicy spiciness
    soft softly gently gentle
    calm calmness serene peaceful
    uneasy restless
    creative creativity
    energetic energy energized energise energised
    confident confidence
    productive productivity
    focus focused concentrate concentration
    reflect reflective reflection
    inspire inspiration inspired
    relax relaxation unwind relaxing
    refuse decline reject
    backyard yard
    day daily
    week weekly
    month monthly
    year yearly annually annual
    empty emptied
    previous prior last
    cozy cosy
    colour color
    favour favor
    grandma grandmother gran
    grandpa grandfather
    mom mum mother
    dad father
    kibble
    garden gardening
    """.strip().splitlines()
    if len(line.split()) > 1
)
"""Words that keep a detail when one stands for the other; the first is the one they are folded onto."""

PHRASES: Final = (
    ("sc", r"\bsci-?fi\b", "science fiction"),
    # By itself "fall" is what leaves and prices do.
    (
        "fall",
        r"\b(in|every|each|this|last|next|late|early|during|until|of) (the )?fall\b(?! (?:of|from|on|to)\b)",
        r"\1 \2autumn",
    ),
    (
        "fall",
        r"\bfall(?= (?:foliage|colou?rs?|leaf|leaves|season|weather|months?|days?|mornings?|afternoons?|evenings?|nights?|air"
        r"|harvest|semester|festivals?)\b)",
        "autumn",
    ),
    # As a verb the word says nothing: "shares that", "shares a flat".
    (
        "shares",
        r"(?<!user )(?<!\bhe )(?<!she )(?<!they )(?<!who )\bshares"
        r"(?=\s*(?:[,;:.)&]|$|(?:for|as|because|since|and|or|are|were|suit|which)\b))",
        "equities",
    ),
    ("to ", r"\bgo(?:es|ing)? to (?:bed|sleep)\b", "sleep"),
    ("went", r"\bwent to (?:bed|sleep)\b", "sleep"),
    ("asleep", r"\bfalls? asleep\b", "sleep"),
    ("-mail", r"\be-mail", "email"),
    ("quarters", r"\bthree[- ]quarters of an hour\b", "45 minutes"),
    ("and a half", r"\b(?:an|one) hour and a half\b", "90 minutes"),
    ("fortn", r"\bfortnight\b", "2 weeks"),
    ("fortn", r"\bfortnightly\b", "every 2 weeks"),
    ("week", r"\b(?:bi-?weekly|(?:every|each) (?:other|second) week)\b", "every 2 weeks"),
    ("day", r"\b(?:every|each) (?:other|second) day\b", "every 2 days"),
    ("month", r"\b(?:every|each) (?:other|second) month\b", "every 2 months"),
    ("half", r"\bhalf a day\b|\bhalf-day\b", "12 hours"),
    ("half", r"\b(?:a|one) day and a half\b", "36 hours"),
    ("half", r"\bhalf a (?:year|dozen months)\b", "6 months"),
    (
        "night",
        r"\b(?:an?|one) (?:full |whole |entire )?day and (?:an? |one )?(?:full |whole |entire )?night\b",
        "24 hours",
    ),
    ("clock", r"\b(?:once )?(?:a)?round the clock\b", "24 hours"),
    ("quarter", r"\b(?:quarter (?:of an )?hour)\b", "15 minutes"),
    ("half", r"\bhalf an hour\b|\bhalf-hour\b", "30 minutes"),
    ("-sh", r"\bt-shirt", "tshirt"),
    ("up", r"\bget(?:s|ting)? up\b|\bgot up\b", "wake"),
    ("out", r"\bwork(?:s|ing|ed)? out\b", "workout"),
    ("first light", r"\bfirst light\b", "dawn"),
    ("crack", r"\bcrack of dawn\b", "dawn"),
    ("dark of", r"\bdark of the moon\b", "new moon"),
    ("sun ", r"\b(?:the )?sun (?:is |comes |goes )?up\b|\bthe sun rises\b", "sunrise"),
    ("sun ", r"\b(?:the )?sun (?:is |goes |has gone )?down\b|\bthe sun sets\b", "sunset"),
)
"""Turns of phrase that stand for one word: what every such turn has in it in lower case, its pattern, the word."""

COMPARING: Final = frozenset(
    """above below over under more less fewer least most than higher lower high low level scale point rate rating exceed
    reach drop rise fall hit spike minimum maximum degree percent cent hour minute day week decibel temperature scale""".split()
)
"""What is said around a number: the number with its unit and side tells it."""

NUMBERS: Final = {
    **{
        word: n
        for n, word in enumerate(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
            seventeen eighteen nineteen twenty""".split()
        )
    },
    **{word: 10 * n for n, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)},
    "twice": 2,
    "thrice": 3,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}

EXCLUSIVE: Final = frozenset(
    """only solely exclusively unless except strictly reserved restricted limited alone requires required require must
    nowhere merely specifically""".split()
)
"""Words that say: then, and at no other time. `never` and `no` count as well where something is excepted from them."""

LIKING: Final = frozenset(
    """love like enjoy prefer favor favour favorite favourite crave treasure adore cherish fan fond appreciate
    passionate keen delight""".split()
)

UP: Final = frozenset(
    "above over exceed exceeds exceeding exceeded higher more greater warmer louder longer beyond hotter surpass surpasses".split()
)
DOWN: Final = frozenset("below under beneath lower less fewer colder cooler quieter dimmer shorter sub".split())
OPENERS: Final = frozenset(
    """
    friends friend neighbors neighbours neighbor colleagues colleague coworkers coworker visitors visitor guests guest
    children kids people everyone everybody folks strangers companions family owner owners afterward afterwards later
    besides outside inside however despite once sometimes often usually most many some few several although though even
    instead meanwhile still yet then thus also another other others always never interestingly during whenever whether
    when while after before because since if on in at by for with without from to as it its it's he she they his her
    their i my we our you your this that these those there here one two three no not only around early late mornings
    weekends evenings old older new long every each all both either contracts guests spring summer autumn winter
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december locals villagers students teachers clients customers passersby humans human
    user users assistant person speaker
    """.split()
)
"""Words that often open a sentence with a capital and name nobody."""
