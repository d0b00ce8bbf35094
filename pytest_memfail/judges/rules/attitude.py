"""How a memory speaks of something: as liked, as disliked or avoided, or as a thing of the past."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.attitude_denied import denied
from pytest_memfail.judges.rules.attitude_noted import STANCE, TOO, VERDICT, marked_down, noted_against
from pytest_memfail.judges.rules.preference_aversion import AVERSE
from pytest_memfail.judges.rules.preference_unmissed import untwisted
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.whose_words import RELATIONS

LIKED: Final = re.compile(
    r"\b(?:lov(?:e|es|ed|ing)|lik(?:e|es|ed|ing)|enjoy\w*|prefer\w*|favou?r\w*|ador\w+|cherish\w*|treasur\w+|crav\w+"
    r"|fond|fan|keen|passion\w*|delight\w*|swears? by|go-to|goes (?:to|for)|opts? for|partial to|hooked"
    r"|happy|happiest|appreciat\w+|fascinat\w+|ideal|perfect"
    r"|excit\w+|enthusias\w+|appeal\w*"
    r"|(?:is|are|am|was|be|been|'m|'s|'re|got|gets?|really|very|so) into"
    r"|interested|relax\w*|chooses?|picks?|reach(?:es)? for|drawn to|looks? forward"
    r"|f(?:inds?|ound|inding) (?:peace|calm|comfort|solace|serenity) in"
    r"|pleas(?:es?|ed|ing|ure)|joy|thrill\w*|captivat\w+|soft spot|weakness for|a blast"
    r"|(?:lots?|loads|tons|heaps) of fun|so much fun|wants?|cheer\w*)\b",
    re.IGNORECASE,
)
PURELY_LIKED: Final = re.compile(
    r"(?:lov|lik|enjoy|prefer|favou?r|ador|cherish|treasur|appreciat|appeal|fond|fan|keen|delight|go|pick|choice|ideal"
    r"|perfect)(?:e|es|ed|s|ing|ite|ites|able)?"
)
NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|no longer|hardly|rarely|seldom|neither|without|cannot|isn't|aren't|wasn't|nobody|none of)\b|n't\b)"
    r"(?:\W+\w+){0,2}?\W+(?:lov\w+|lik\w+|enjoy\w*|prefer\w*|favou?r\w*|fond|fan|keen|ador\w+|appreciat\w+|car(?:e|es) for"
    r"|into|interested|crav\w+|stand|bear|tolerat\w+|touch|want\w*|drink\w*|eat\w*|wear\w*|us(?:e|es|ing)|play\w*|(?:go|do)\b|watch\w*"
    r"|listen\w*|read\w*|bother|see the point|appeal\w*|for (?:me|him|her|them|the user))",
    re.IGNORECASE,
)
FEELING: Final = (
    r"(?:uncomfortable|uneasy|anxious|nervous|miserable|scared|afraid|embarrassed|frustrated|overwhelmed|stressed|bored|tired"
    r"|weary|wary|s[ck]eptical|suspicious|sick|fed up|put off|turned off|unimpressed|annoyed|irritated|disgusted)"
)
DISLIKED: Final = re.compile(
    r"\b(?:hat(?:e|es|ed|ing)|dislik\w+|detest\w*|loath\w+|dread\w*|avoid\w*|despis\w+|resent\w*|abhor\w*|shun\w*|annoy\w*"
    r"|irritat\w+|bores?|stays? away|steers? clear|keeps? away|turned off|put off|off-putting"
    r"|(?:puts?|turns?) (?:the user|user|them|him|her|me) off"
    r"|(?:cring|winc|shudder|groan|frown|scowl)(?:e?s|ed|ing) (?:at|on|upon)|distaste|(?:nightmare|horror|torment|ordeal) (?:for|to)"
    r"|fed up|(?:gone|went)(?: right| clean| completely| totally)? off|averse|aversion|allergic|intoleran\w+|overrated|pointless"
    r"|disgust\w*"
    r"|soured on|(?:gone|went|goes) cold on|indifferent to|(?:has|have|had) had it with|through with|fail(?:s|ed)? to see(?: the \w+)?"
    r"|(?:no|little|less|hardly any|zero|scant) (?:great |big |real |much )?(?:lover|patience|enthusiasm"
    r"|interest|joy|pleasure|fun|appeal|time|love|taste|appetite|fan|friend|use|value) ?(?:in|for|of|from|to|with)?"
    r"|(?:keeps?|stays?|kept|stayed) (?:well )?(?:clear|away) (?:of|from)|(?:keeps?|kept) (?:\w+ )?distance from"
    r"|rul(?:es|ed) out|(?:says?|said) no to|(?<!sound )(?<!volume )(?<!lights )(?<!music )turn(?:s|ed) down"
    r"|nothing to do with|grumbl\w+ (?:about|at)|moan\w* about|rants? about"
    r"|disappoint\w*|let down by|regret\w*|mixed feelings (?:about|on|over|toward\w*)"
    r"|nothing out of|unmoved|underwhelm\w*|roll(?:s|ed) (?:\w+ )?eyes"
    r"|sh(?:ies|ied) away|turn(?:s|ed) up (?:\w+ )?nose|wean\w+ (?:\w+ )?off|tolerat\w+|endur(?:es|ed)|suffers? through"
    r"|struggl\w+ to (?:enjoy|like|see)|(?:hard|difficult|impossible) to (?:enjoy|like|stomach|sit through)|cannot stomach"
    r"|skips?|refus\w+|rejects?|declin\w+|leaves? (?:them|him|her|me|the user|user) cold|gives? up on"
    r"|on (?:\w+ |\w+'s ){1,2}nerves|upsets?|ruins?"
    # Before a noun it is said of that: "with terrible coffee".
    r"|(?:undrinkable|inedible|unbearable|awful|terrible|boring|dull)(?! (?!to|in|for|when|on|at|and|or|but|as|by|if)\w)"
    r"|finds? (?:[\w'-]+ ){1,4}(?:draining|exhausting|tiring|tiresome|tedious|dreary|unpleasant|annoying|irritating|off-putting)"
    r"|(?:makes?|made) (?:\w+ ){0,4}worse|trouble with"
    # Of a state it is only said what it is about: "nervous about exams".
    rf"|{FEELING} (?:about|of|with|by|around|at)"
    r"|frustrat\w+|grates|can do without|(?:no|not) (?:good|suited|suitable|ideal|right) for"
    r"|an? (?:real )?(?:nuisance|chore|hassle|burden|drag|torture|waste)|(?:had|has|have) (?:quite )?enough of|no fan of|not one for"
    r"|(?:sees?|finds?|gets?|got) (?:nothing|little) (?:in|from|out of)|the last (?:thing|place) (?:the )?\w+ (?:would|wants?|needs?)"
    r"|(?:never|not|n't) (?:\w+ ){0,2}(?:see|get|got|gets|saw|understand|understood) (?:the )?(?:hype|fuss|appeal|attraction|charm)"
    r"|steers? (?:around|away)|turns? (?:\w+ |\w+'s )(?:\w+'s )?stomach"
    r"|no (?:point|interest|use|time|love|appetite|taste) (?:in|for)|thinks? (?:very )?little of|complain\w* about"
    r"|would rather not|puts? up with|feels? nothing for"
    r"|bad (?:experience|memor)\w* (?:with|of|from)"
    r"|(?:likes?|loves?|enjoys?)(?: \w+)? least|least (?:favou?rite|liked|loved)|if there(?:'s| is) nothing else"
    r"|sw(?:orn|ears|ore) off|done with"
    r"|too (?:\w+ )?(?:loud|sweet|slow|long|boring"
    r"|dull|bland|heavy|crowded|stressful|bitter|expensive|tedious|tiring|spicy|salty))\b",
    re.IGNORECASE,
)
PAST: Final = re.compile(
    r"\b(?:used to|no longer|stopped|quit|g(?:ave|ive|iven|iving|ives) (?:it |them |that |this )?up"
    r"|former(?:ly)?|previously|any ?more|not any longer"
    r"|lost interest|grew out|grown out|outgrew|grew tired"
    # "Abandoned" before a noun is said of that.
    r"|abandoned(?<!for abandoned)(?<!of abandoned)(?<!the abandoned)(?<!an abandoned)"
    r"(?<!in abandoned)(?<!with abandoned)(?<!to abandoned)(?<!ing abandoned)|dropped"
    r"|has moved on|moved away from|moved on from|in the past"
    r"|until (?:recently|last)|as a (?:child|kid|teen\w*|student|boy|girl)|years ago|back then|gone off"
    r"|cut out|cut down|(?:has|have) cut"
    r"|lost (?:all |the |\w+ )?(?:interest|taste) (?:in|for)"
    r"|last (?:played|went|did|used|wore|drank|ate|watched|read|visited|tried)|traded"
    r"|swapped|replaced|retired from|sold(?! on\b)|got rid|was once|once (?:\w+ )?(?:keen|fond|loved|liked|enjoyed"
    r"|favou?rite|into)"
    r"|(?:should|would) stop"
    r"|(?:is|are) over(?! (?:in|within|by|before|at|a|an|the|\d+)\b))\b",
    re.IGNORECASE,
)
SET_ASIDE: Final = re.compile(
    r"\b(?:unlike|except|(?<!word )(?<!nothing )against|anything but|apart from|rather than|instead of|in place of"
    r"|far from"
    r"|(?<!nothing )(?<!nothing else )(?<!things )(?<!else )(?<!to )(?<!can )(?<!none )(?<!nobody )(?<!no one )(?:beats|trumps)"
    r"|(?:switch|chang|mov|convert)\w* from|(?:prefer\w*|favou?r(?:s|ed|ing)?)\b[^,.;:]* (?:over(?! for\b)|to)"
    r"|(?:picks?|chooses?|would take)\b[^,.;:]* over|less than|(?:likes?|loves?|enjoys?) (?!nothing\b)[^,.;:]+ (?:more|better) than"
    r"|(?:rather|sooner)\b[^,.;]* than(?: \w+)?)"
    r" (?:(?:the|a|an|any|to|go|going|of|for) )*$",
    re.IGNORECASE,
)
"""What stands directly before something that is set against what is liked."""
GAVE_UP: Final = re.compile(r"\bg(?:ives?|ave|iving|iven) (?:\w+ )?$", re.IGNORECASE)
UP: Final = re.compile(r" up\b(?! (?:\w+ )?to\b)", re.IGNORECASE)
"""A thing given up, between the two words."""
NEVER: Final = re.compile(
    r"(?:\b(?:never|not|without|hardly|rarely|seldom|nor|cannot)|n't)(?: (?!but\b)[\w']+){0,2} (?:(?:a|an|the|any) )?$"
    r"|\b(?:no|no more|(?:is|went|gone) off) $",
    re.I,
)
"""A negation that governs what stands next."""
TURN: Final = re.compile(
    r"\b(?:but|though|although|however|yet|whereas|while|instead|now|prefers?|rather)\b|[;]", re.IGNORECASE
)
FOUND: Final = re.compile(
    r"\b(?:finds?|found|considers?|calls?|thinks?|makes?|regards?|sees|views?|dismiss(?:es)?)\b[^,.;:]*$", re.IGNORECASE
)
ILL: Final = (
    r"(?:(?:too|so|very|rather|just|really|quite|a bit) )?(?:(?:stress|dread|pain|aw|waste)ful|exhausting|tiring|draining|tedious"
    r"|overwhelming|distracting|confusing|unpleasant|uncomfortable|boring|dull|bland|terrible|horrible|annoying|irritating"
    r"|frustrating|unbearable|disgusting|depressing|dreary|monotonous|pointless|useless|overrated|off-putting|gross|filthy"
    r"|(?:smell|dirt|mess|nois|greas|creep|scar|fuss|risk)y|ugly|tasteless|stale|cruel|impractical|inconvenient|unsafe"
    r"|too (?:much|many) \w+|(?:tire|weari|irk|loath|trouble|cumber|burden)some|wearying|grating|heavy going|hard going"
    r"|embarrassing|awkward|silly|childish|cheesy|ridiculous|worthless|overpriced|overhyped|preachy|pretentious|corny"
    r"|cringeworthy|gimmicky"
    r"|dumb|stupid|idiotic|inane|infantile|juvenile|lowbrow|unfunny|foolish|mindless|brainless|witless|lousy|mediocre"
    r"|dreadful|appalling"
    r"|atrocious|horrid|vile|nasty|hideous|repulsive|revolting|sickening|nauseating|insipid|unappealing|unappetising|unappetizing"
    r"|soulless|smug|tacky|lame|trite|clich[eé]d|stuffy|snobbish|shallow|phon[e]?y|sappy|soppy|mawkish|miserable"
    r"|a bit much|a (?:bit of a )?(?:let-?down|disappointment|rip-?off|bust|flop|bore)"
    r"|a (?:poor|bad) \w+)"
    r"\b(?! (?:fun|pleasure|joy)\b)"
)
"""What is bad, and not said of what follows: "silly", but not "silly fun"."""
FOUND_ILL: Final = re.compile(
    rf"(?:(?!\b(?:when|if|after|before|during|because|since|than|for)\b)[^,.;:])*?\b(?:{ILL}|too \w+\b)", re.IGNORECASE
)
"""What is found of a thing: "finds meditation in the evening stressful"."""
BYGONE: Final = re.compile(
    r"\b(?:as a (?:child|kid|teen\w*|student|boy|girl)|until (?:recently|last)|years ago|back then|in the past|not any ?more"
    r"|(?:has|have) (?:faded|waned|cooled|worn off|ended)"
    r"|lost (?:its|their) (?:charm|appeal|magic|attraction|shine|sparkle|lustre)|phase (?:ended|passed|is over"
    r"|did not last)|(?:is|are) not what \w+ (?:was|were))\b",
    re.IGNORECASE,
)
"""What makes past whatever was said of a thing before."""
WITHIN: Final = r"(?:(?!\b(?:when|whenever|if|while|after)\b)[^,.;:])"
"""What still belongs to the clause of a thing just named."""
WOE: Final = (
    "stress|anxiety|tension|worry|worries|pains?|aches?|fatigue|tiredness|irritation|frustration|boredom|restlessness|unease|dread"
    "|headaches?|anger|sadness|insomnia|exhaustion|confusion"
)
ILL_DONE: Final = re.compile(
    rf"{WITHIN}{{0,20}}? (?:is|are|was|were|feels?|seems?|got|gets?|became|becomes?|proved|looks?|sounds?|tastes?|smells?|remains?"
    r"|stays?|(?:comes?|came) (?:across|over) as|turns? out(?: to be)?|(?:strikes?|struck) (?:the )?\w+ as) "
    rf"(?:(?:like )?(?:an? )?(?:bit )?{ILL}|{TOO}|like (?:an? )?(?:mere |sheer )?(?:noise|chore|punishment|torture|work|waste)\b)"
    rf"|{WITHIN}{{0,30}}? (?:stress|tir|drain|exhaust|overwhelm|annoy|bor|frustrat|irritat|bother|disgust|depress|scar)(?:e?s|ed)?"
    r" (?:the )?(?:user|them|him|her|me)\b"
    rf"|{WITHIN}{{0,30}}? makes? (?:the )?(?:user|them|him|her|me) (?:\w+ )?(?:cringe|shudder|wince|yawn|sneeze|gag|retch"
    r"|grimace|groan|flinch|recoil|squirm|ill|queasy|nauseous"
    rf"|cough|itch|restless|tense|jittery|drowsy|dizzy|irritable|sick|sad|nervous|anxious"
    r"|uneasy|miserable|uncomfortable|angry)\b"
    rf"|(?: \w+)? (?:add(?:s|ed) to|increas(?:es|ed)|rais(?:es|ed)|heighten(?:s|ed)|feeds?|fed|fuel(?:s|led)|caus(?:es|ed)"
    rf"|br(?:ings?|ought) on|aggravat(?:es|ed)) (?:(?:the|user's|their|his|her|my) )*(?:{WOE})\b"
    rf"|{WITHIN}{{0,20}}? (?:(?:spoils?|ruins?|upsets?) |do(?:es)? nothing for|(?:rank|come|finish)s? (?:dead )?last"
    rf"|(?:is|are) (?:now )?(?:a thing of the past|history)|(?:gives?|gave) (?:the )?(?:user|them|him|her|me) (?:an? "
    rf"|the |\w+ )?(?:headaches?"
    rf"|migraines?|nightmares|heartburn|indigestion|creeps|jitters|shakes|rash|hives|cramps)\b"
    rf"|(?:leaves?|left) (?:the )?(?:user|them|him|her|me) (?:feeling )?(?:\w+ )?(?:dizzy|tense|nauseous|jittery"
    rf"|shaky|anxious|irritable|groggy"
    rf"|bloated|sluggish|drained|miserable|on edge)\b|(?:brings?|drags?|gets?) (?:the )?(?:user|them|him|her|me) down\b"
    rf"|(?:(?:wears?|(?:has|have) worn) thin|never (?:caught on|took off|clicked|appealed|grew on))\b|holds? (?:no"
    rf"|little) (?:charm|appeal|interest|attraction|magic)\b"
    rf"|(?:does|did|do)(?: not|n't) (?:work ?out|work for|agree with|suit|sit (?:well|right)|click|cut it)\b)"
    rf"|\W*(?:\w+\W+){{0,3}}?(?:never again|no thanks|no way|not any ?more)\b"
    r"|[\s:=-]*(?:no|never)\s*(?:[.,;!)]|$)"
    rf"|{WITHIN}{{0,20}}?,? (?:but|and|then) (?:\w+ ){{0,2}}(?:quit|stopped|gave (?:it )?up|dropped (?:it|out)|lost interest)"
    r"\s*(?:[.,;:!)]|$|\b(?:after|because|since|when|as)\b)"
    rf"|{WITHIN}{{0,20}}? (?:(?:is|are) (?:out|lost on|wasted on|not on)\b|gathers? dust|(?:a miss|a wide berth)\b|drives? (?:the )?"
    r"(?:user|them|him|her|me) (?:mad|crazy|nuts|up the wall|to distraction)|wears? (?:the )?(?:user|them|him|her|me) (?:out|down))"
    r"| (?:(?:slide|lapse|drop|go)\b\s*(?:[.,;!)]|$)|grudgingly|reluctantly|under protest|last\s*(?:[.,;!)]|$)"
    r"|only because (?:\w+ ){0,2}(?:(?:has|have|had) to\b|insists?\b|makes? (?:the user|them|him|her|me)\b|nags?\b"
    r"|drags?\b)|(?:was|were) (?:\w+ ){0,3}once\s*(?:[.,;!)]|$))",
    re.IGNORECASE,
)
"""What a thing is, or does to the user."""
THANKED: Final = re.compile(r"^\W*(?:(?:thanks|thank you|nice|sorry)\W+)?(?:but|well|um|hm+)\W+", re.IGNORECASE)
"""What comes before a refusal: "Thanks, but no."."""
ANEW: Final = re.compile(
    r"[,;:]\s*(?:(?:so|and|but|then|yet|hence)\s+)?(?:the )?(?:user|she|he|they|it|i)\b|[,;]\s*(?:so|hence|only|just)\b"
    r"|\b(?:and|so|then|instead) (?:\w+ly )?(?:(?:has |have )?(?:took|taken|started|begun|began|turned|moved|switched|gone|went) "
    r"|likes?|loves?|enjoys?|prefers?|starts?|goes|gets?|turns?|heads?|picks?|uses?|brings?"
    r"|puts?|takes?|chooses?|opts?|plays?|drinks?|eats?|makes?|wears?|has|keeps?)\b",
    re.IGNORECASE,
)
"""Where what was said against something else ends, and something new is told."""
IN_PLACE: Final = re.compile(
    r"^(?:(?:replaced|swapped|traded|dropped|g(?:ave|ive|iven|ives) up)\b[^,.;]*\b(?:with|for|in favou?r of)"
    r"|no longer\b[^,.;]*\bbut) (?:\w+ )?$",
    re.IGNORECASE,
)
"""What took the place of something given up."""
OF_IT: Final = re.compile(
    r"\b(?:it|they|them|those|these|that|either|the (?:stuff|thing|game|sport|drink|dish|food|place|hobby))\b",
    re.IGNORECASE,
)


FOUND_IT_ILL: Final = re.compile(
    rf"\b(?:finds?|found|considers?|calls?|thinks?) (?:it|them|those|these) (?:to be )?{ILL}", re.IGNORECASE
)
"""What is found of a thing that was just named."""
OF_OTHERS: Final = RELATIONS | {"family", "people", "others", "everyone", "some"}
NOT_DONE: Final = re.compile(
    r"[^.!?]*?\b(?:never|no longer|hardly|rarely|seldom|(?:do(?:es)?|did|wo|would|ca|could)(?: not|n't)|cannot) (?:\w+ )?\w+ "
    r"(?:it|them)\b|[^.!?]*?\b(?:(?:switch|click|shut|turn)(?:es|s)? (?:it|them) off|(?:push|send|put)(?:es|s)? (?:it|them) "
    r"(?:away|back|aside)|pass(?:es)? (?:it|them) (?:up|over)|pass(?:es)? on (?:it|them)"
    r"|leaves? (?:it|them) (?:alone|out|aside|untouched)"
    r"|gives? (?:it|them) a (?:miss|wide berth))\b",
    re.IGNORECASE,
)
"""What is never done with a thing just named; what speaks for it all the same is taken out before."""


def attitude(sentence: Sentence, first: int, last: int, following: Sentence | None = None) -> int:
    """1 where the words from first to last name something liked, -1 disliked or past, 0 where neither is said."""
    start, end = sentence.words[first].start, sentence.words[last].end
    # Of a name whose words stand apart any may be what is set aside: "lined notebooks rather than dot-grid ones".
    if any(SET_ASIDE.search(sentence.text[: word.start]) for word in sentence.words[first : last + 1]):
        return -1
    text = untwisted(sentence.text).replace("_", " ")
    before, after = text[:start], text[end:]
    if (
        NEVER.search(before)
        or ILL_DONE.match(after)
        or VERDICT.match(after)
        or marked_down(before, after)
        or (GAVE_UP.search(before) and UP.match(after))
    ):
        return -1
    if FOUND.search(before) and FOUND_ILL.match(after):
        return -1
    if denied(before, after):
        return -1
    said = _afterwards(after)
    if said:
        return said
    if following is not None:
        stance = STANCE.match(following.text)
        if stance and (noted_against(following.text) or [sign for _, sign in _cues(stance["said"])][:1] == [-1]):
            return -1
        cues = _cues(untwisted(following.text[:60]))
        if cues and cues[0][1] < 0 and after.strip() == "?":
            return -1  # "Tennis? Not the user's thing."
        if after.strip() == "?" and VERDICT.match(f": {THANKED.sub('', following.text)}"):
            return -1  # "Tennis? No thanks."
        if (cues and cues[0][1] < 0 and OF_IT.search(following.text[:60])) or _is_found_ill(following.text[:60]):
            return -1
    before_cues = _cues(before)
    if BYGONE.search(_clause(after)):
        return -1
    if before_cues:
        at, sign = before_cues[-1]
        since = before[at:].split(" ", 1)[-1]
        if sign < 0 and IN_PLACE.search(before[at:]):
            return 1
        return 0 if sign < 0 and (TURN.search(since) or ANEW.search(since)) else sign
    after_cues = _cues(_clause(after))
    return after_cues[0][1] if after_cues else 0


def against(text: str) -> frozenset[str]:
    """The words that speak against something."""
    text = untwisted(text)
    return frozenset(m[0].casefold() for pattern in (PAST, NEGATED, DISLIKED, AVERSE) for m in pattern.finditer(text))


_CUES: Final = tuple(
    (re.compile(pattern.pattern), sign, reach)
    for pattern, sign, reach in ((PAST, -1, 12), (NEGATED, -1, 0), (AVERSE, -1, 0), (DISLIKED, -1, 0), (LIKED, 1, 0))
)
"""The cues for lower case alone, which are found several times as fast; "used to love": what one governs says nothing itself."""


@lru_cache(maxsize=4096)
def _cues(text: str) -> tuple[tuple[int, int], ...]:
    """Where the text speaks for or against something: place and sign, in order."""
    found: dict[int, tuple[int, int]] = {}
    covered: list[tuple[int, int]] = []
    lower = text.lower()
    text = lower if len(lower) == len(text) else text  # places must stay what they are
    for pattern, sign, reach in _CUES:
        for match in pattern.finditer(text):
            if not any(a <= match.start() < b for a, b in covered):
                found[match.start()] = (match.start(), sign)
                covered.append((match.start(), match.end() + reach))
    return tuple([found[at] for at in sorted(found)])


def _is_found_ill(text: str) -> bool:
    """Whether a thing just named is found bad, and not by others."""
    found = FOUND_IT_ILL.search(text)
    return found is not None and OF_OTHERS.isdisjoint(text[: found.start()].casefold().split())


def _clause(after: str) -> str:
    """What follows the mention within its own clause."""
    stop = re.search(
        r"[;.!?]|\b(?:but|though|although|whereas|while|because|since|instead|when|whenever|if|after)\b"
        r"|, (?:and )?(?:\w+ ){0,2}(?:likes?|loves?|enjoys?|prefers?)\b",
        after,
    )
    return after[: stop.start()] if stop else after


def _afterwards(after: str) -> int:
    """What is said of it later by a pronoun: "but now can't stand it", "user never swims it"."""
    if NOT_DONE.match(after) or _is_found_ill(after):
        return -1
    for match in re.finditer(r"(?:\b(?:but|though|and|now|since)\b|,|;)([^,;.]*)", after):
        cues = _cues(match[1])
        if cues and OF_IT.search(match[1]) and not OF_OTHERS.intersection(match[1].casefold().split()):
            return cues[0][1]
    return 0


def liked(sentence: Sentence) -> bool:
    """Whether anything is said to be liked, or chosen."""
    return LIKED.search(sentence.text) is not None


def is_liking(lower: str) -> bool:
    """Whether the word says liking and nothing else."""
    return PURELY_LIKED.fullmatch(lower) is not None
