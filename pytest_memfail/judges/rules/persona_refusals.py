"""How somebody is said to refuse, dislike, avoid or forbid something, or to want it: words and everyday phrases."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.text import fold

REJECTING: Final = frozenset(
    """no not never nor neither cannot without hardly barely scarcely rarely seldom none nothing nobody nowhere
    refuse refuses refused refusing refusal avoid avoids avoided avoiding avoidance hate hates hated hating dislike dislikes
    disliked disliking despise despises despised distrust distrusts distrusted mistrust mistrusts abhor abhors abhorred
    forbid forbids forbade forbidden forbidding ban bans banned banning banish banishes banished prohibit prohibits
    prohibited prohibition reject rejects rejected rejecting decline declines declined declining detest detests detested
    loathe loathes loathed loathing skip skips skipped skipping allergic allergy allergies intolerant intolerance averse
    aversion abandon abandons abandoned quit quits stopped stops stop cease ceases ceased refrain refrains refrained
    forgo forgoes forego foregoes eschew eschews eschewed abstain abstains abstained shun shuns shunned shunning
    spurn spurns spurned boycott boycotts boycotted veto vetoes vetoed exclude excludes excluded excluding omit omits
    omitted oppose opposes opposed object objects objected resent resents scorn scorns disdain disdains disapprove
    disapproves disapproved discourage discourages discouraged disallow disallows disallowed outlaw outlaws outlawed
    ditch ditches ditched dodge dodges evade evades sidestep sidesteps resist resists dismiss dismisses denounce condemns
    instead lacks lack lacking fear fears afraid frighten frightens scared dread dreads phobia minus unable unwilling
    reluctant unwelcome unacceptable intolerable taboo verboten ignores ignore neglects turned against rather less cancel
    cancels cancelled canceled cancelling off-limits insult liars liar nope spared barred barring
    axes axed nixes nixed scraps scrapped waives waived withholds withheld disfavours disfavors unfit unsuitable inappropriate
    hostile squeamish discontinued protests complains grumbles""".split()
)
"""Words that say no, as they are written."""
REFUSALS: Final = frozenset(
    fold(word)
    for word in """refuse avoid forbid prohibit dislike hate detest taboo abstain exclude reject quit stop cease shun ban
    loathe despise abhor eschew spurn boycott veto disallow outlaw refrain forgo oppose""".split()
)
NOBODY: Final = frozenset(fold(word) for word in "nobody none nothing nowhere".split())
"""They deny what they stand with."""
AFFIRMING: Final = frozenset(
    fold(word)
    for word in """insist prefer require like love welcome favour enjoy want demand accept allow permit adore relish
    appreciate embrace encourage invite crave fancy endorse recommend""".split()
)
UNCERTAIN: Final = frozenset(
    fold(word) for word in "autumn fall pass turn drop finish end close complete conclude check block stay".split()
)
"""Words that mean a refusal in few of their senses."""
DISPLEASING: Final = frozenset(
    """annoy annoys annoyed annoying annoyance irritate irritates irritated irritating irk irks bother bothers bothersome
    upset upsets upsetting displease displeases displeased offend offends offended offensive disgust disgusts disgusted
    disgusting revolting revolts repel repels repelled repulsive repulses sicken sickens nauseates appal appals appalls
    appalling awful terrible horrible horrid ghastly vile gross nasty foul dreadful hideous unbearable unpleasant
    insufferable loathsome hateful odious abominable detestable useless worthless pointless nonsense silly wrong bad worse
    worst evil enemy curse cursed nightmare poison sin crime betrayal cringe cringes wince winces shudder shudders recoil
    recoils flinch flinches flee flees escape escapes hide hides hidden conceal conceals overrated distasteful
    intrusive agitate agitates agitated agitating unsettle unsettles unsettled disturb disturbs disturbed distress
    distresses distressed
    alarm alarms alarmed startle startles startled spook spooks spooked rile riles aggravate aggravates aggravated worsen
    worsens inflame inflames inflamed scratch scratches stain stains corrode corrodes contaminate contaminates degrade
    degrades harmful dangerous unsafe unhealthy kills ruins ruin ruined spoils spoil spoiled harms harm damages
    damage replace replaces replaced""".split()
)
"""Words by which what is stored may tell a dislike: of what was told they say no refusal."""
REFUSING: Final = re.compile(
    r"\b(?:off[ -](?:limits|the table|the menu|the list)|out of (?:the question|bounds)|no[ -]gos?|zero tolerance|anything but|all but"
    r"|steer(?:s|ed|ing)? (?:well )?clear|(?:stay|keep|stand)(?:s|ed|ing)? (?:well )?(?:away|off|clear|out)|kept (?:away|off|out)"
    r"|(?:do|does|did|doing|go|goes|went|going|gets?|manages?) without|free (?:of|from)|far from|other than|in (?:place|lieu) of"
    r"|(?:turn|send|wave|push|back|walk|look)(?:s|d|ed|ing)?\b[^.;,]{0,40}\b(?:down|away|back|off|out of)|sent (?:away|back|home)"
    r"|sh(?:y|ies|ied) away|(?:rule|leave|cut|keep|opt|strike|cross|edit)(?:s|d|ed|ting|ing)? (?:\w+ ){0,3}out|left out"
    r"|(?:puts?|swears?|swore|sworn|lays?|holds?|calls?|called|writes?|wrote) off|(?:give|gives|gave|given|giving) (?:\w+ ){0,3}up"
    r"|(?:draws?|drew) the line|sa(?:y|ys|id) no|pass(?:es)? on|(?:fed up|sick|tired|weary) (?:with|of)|turn-?offs?|pet peeves?"
    r"|(?:has|have|had) (?:enough of|a (?:horror|dread|hatred|dislike|phobia|grudge|thing against))|disagrees? with|at odds"
    r"|(?:driv|mak)(?:es?|ing) (?:him|her|them|\w+) (?:mad|crazy|furious|angry|ill|sick|sneeze|wheeze|itch|swell|unwell|dizzy"
    r"|nauseous|queasy|cough)"
    r"|(?:gives?|brings? on|cause[sd]?|triggers?) (?:(?:him|her|them|\w+) )?(?:a |bad )?(?:vertigo|headaches?|migraines?|hives"
    r"|rash(?:es)?|nausea|heartburn|cramps?|bloating|dizziness|reactions?|asthma|itching|swelling)"
    r"|(?:break|breaks|broke|breaking|comes?|came) out in \w+|gets? (?:hives|rash(?:es)?|a rash|welts|migraines?|headaches?) from"
    r"|(?:more|better|sooner) (?:\w+ ){0,2}than(?! (?:\d|ever|an?|one|two|three|four|five|six|half|any|all|just|once|twice)\b)"
    r"|(?:day|days|break|rest|pause|holiday|leave|time|evening|weekend) (?:off|(?:off )?from)|rest(?:s|ed|ing)? from|off from"
    r"|(?:has|have|must|can) (?:to )?wait"
    r"|second (?:choice|best|rate)|where others|(?:leaves?|left) [^.;,]{1,40} at home|(?:not|n't|no) (?:a |much of a )?(?:fan|friend)"
    r"|(?:little|scant|hardly any|limited|zero) (?:\w+ )?(?:time|use|love|patience|interest|taste|need|room|place|liking|sympathy"
    r"|regard|appetite|tolerance|enthusiasm|affection|respect|desire|point|value) (?:for|in)"
    r"|(?:leaves?|left|leaving) (?:[^.;,]{1,30} )?(?:cold|to (?:others|other people|someone else|somebody else)|alone|unused)"
    r"|(?:thinks?|thought|makes?) (?:very )?(?:little|nothing|poorly|ill) of|to (?:a|the) (?:bare )?minimum|prefers? not|would never"
    r"|(?:could|can|lives?|gets? by|manages?|copes?) (?:just )?(?:do |live |cope |manage )?without|looks? down on|frowns? (?:on|upon)"
    r"|turns? (?:his|her|their|up (?:his|her|their)) nose|(?:wary|suspicious|sceptical|skeptical|leery|critical) of|lukewarm"
    r"|as a last resort|gone off|went off|sparingly|infrequently|a rare (?:thing|event|exception|occurrence|treat)|a rarity"
    r"|(?:on|in) (?:very )?rare (?:occasions|cases)|once in a (?:blue moon|while)|few and far between"
    r"|a (?:hard|firm|flat|definite|clear) no"
    r"|(?:is|are|was|were|goes|go|stays?|:) (?:right |strictly |definitely )?out(?=\s*(?:[.;,!)]|$))"
    r"|(?:wipes?|wiped|wash|washes|washed|takes?) off|at (?:the|his|her|their) door|under no circumstances|anathema"
    r"|no go|on (?:his|her|their) blacklist"
    r"|ahead of|at the expense of|deal-?breakers?|red flags?|non-?starters?|hands[- ]off|arm's length|(?:a )?wide berth|cold shoulder"
    r"|gives? [^.;,]{1,30} a (?:miss|pass)|do(?:es|ne)? away with|dispenses? with|pass(?:es|ed)? up"
    r"|against (?:the|his|her|their) rules"
    r"|(?:stays?|sits?|waits?) (?:at )?home|rolls? (?:his|her|their) eyes"
    r"|keep(?:s|ing)? [^.;,]{1,30} (?:from|at bay)"
    r"|closed (?:for|to)|(?:zero|nil) (?!proof|waste|degree|calori)\w+|so (?:are|is|do|does) (?!not|far)\w+"
    r"|gets? on (?:his|her|their) nerves|anti-\w+)\b|\w-free\b|\w{4}less\b",
    re.IGNORECASE,
)
"""What says no in several words."""
ACCEPTING: Final = re.compile(
    r"\b(?:(?:do|does|did)(?:n't| not) mind|never minds?|nothing against|no (?:objections?|problems?|issues?|trouble|qualms|fear)"
    r"|(?:can't|cannot|can not) (?:get enough|resist|do without|live without|go without)|(?:is|are|be|feels?) (?:fine|ok|okay|happy"
    r"|comfortable|cool) (?:with|to)|no longer (?:minds?|avoids?|refuses?|hates?|dislikes?|objects?)|not (?:averse|opposed) to)\b",
    re.IGNORECASE,
)
"""What says yes, though with a no."""
PERMITTING: Final = re.compile(
    r"\b(?:(?:is|are|feels?) (?:free|welcome|allowed|permitted|happy|fine|okay|ok) (?:to|with)|(?-i:may)(?! not\b)|freely"
    r"|(?:welcomes?|permits?|allows?|lets?|tolerates?) (?:the )?\w+)\b",
    re.IGNORECASE,
)
"""What lets somebody do a thing, where nothing says no."""
EXCLUDING: Final = re.compile(
    r"\b(?:only(?! (?:after|before|when|while|during|in|at|on)\b)"
    r"|sole|solely|exclusively|alone|nothing but|no one but|strictly|unless|except|limited to|restricted to"
    r"|reserved for|one and only|nothing else|nobody else)\b",
    re.IGNORECASE,
)
"""Who has one thing only has none of the others."""

NEEDLESS: Final = re.compile(
    r"\b(?:need(?:s|ed)?(?:n't| not)|needs? (?:to )?(?:\w+ )?nothing|no need"
    r"|(?:don't|do not|doesn't|does not|not) (?:have|need) to|optional"
    r"|not (?:required|necessary|mandatory|obligatory|needed|compulsory)|unnecessary|voluntary|no (?:requirement|obligation)"
    r"|(?:doesn't|does not) (?:mind|care|require|insist)|relaxed about|easy-going about|indifferent to)\b",
    re.IGNORECASE,
)
"""What leaves a thing to whoever likes it: of a rule it says the contrary."""

ANSWERED: Final = re.compile(
    r"(?:(?:he|she|they) )?(?:(?:simply|just|really|absolutely|strictly|flatly|always|also|definitely|completely) )?"
    r"(?:(?:can't|cannot|can not|couldn't|could not|won't|will not|doesn't|does not|don't|do not|wouldn't|would not)(?: even)?"
    r" (?:stand|bear|abide|tolerate|take|use|like|want|have|allow|touch|suffer|do|eat|wear|drink|accept|go near|care for|hear of)"
    r"|(?:hates|hated|loathes|detests|despises|dislikes|avoids|refuses|rejects|bans|forbids|shuns|declines|skips"
    r"|(?:does|goes|can do) without))"
    r"(?: (?:them|it|that|those|these|any|either|all))?(?=\s*(?:[.;,!)]|$))"
    r"|(?:(?:is|are|strictly|absolutely|simply|firmly|always) )*(?:never(?: ever)?|no (?:way|thanks|go|chance)|no-go|out|hated"
    r"|loathed|detested|disliked|avoided|not (?:allowed|welcome|wanted|permitted|accepted|tolerated|at all|ok|okay|an option|on"
    r"|for (?:him|her|them)|liked|used|done|any)|banned|forbidden|prohibited|off[ -]limits|refused|declined|rejected|unwelcome"
    r"|nope|taboo|a no-go|barred)"
    r"(?=\s*(?:[.;,!)]|$))",
    re.IGNORECASE,
)
"""What says no to that before it, and nothing else."""


def says_no(lower: str) -> bool:
    """Whether the word refuses, forbids, dislikes or negates."""
    return lower in REJECTING or lower.endswith("n't") or (lower.startswith("un") and len(lower) > 12)
