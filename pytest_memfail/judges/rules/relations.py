"""Which of two places in a sentence leads to the other, and on which side of a relation one place stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.actors import is_name
from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.link_sequence import (
    ADJUNCT,
    AND_THERE,
    DOING_SO,
    WAITING,
    are_listed,
    arrives,
    but_having,
    is_awaited,
    is_met,
    order_told,
    refers_back,
    starts_anew,
)
from pytest_memfail.judges.rules.words import STOP

_VERBS: Final = (
    r"(?:mak(?:es?|ing)|made|lead(?:s|ing)?|led|giv(?:es?|ing)|gave|caus(?:es?|ing)|trigger(?:s|ing)?|put(?:s|ting)?|"
    r"lea(?:ves?|ving)|left|inspir(?:es?|ing)|prompt(?:s|ing)?|spark(?:s|ing)?|motivat(?:es?|ing)|push(?:es|ing)?|"
    r"send(?:s|ing)?|sent|bring(?:s|ing)?|brought|driv(?:es?|ing)|drove|lets?|letting|"
    r"(?:gets?|getting|got)(?! (?:\w+ly )?\w+(?:ed|en) by\b)|turn(?:s|ing)?|"
    r"encourag(?:es?|ing)|result(?:s|ing)?|help(?:s|ing)?|"
    r"(?:has|have)(?! (?:been|had|\w+ed|\w+en)\b)|allow(?:s|ing)?|enabl(?:es?|ing)|mov(?:es?|ing)|"
    r"end(?:s|ing)?|relax(?:es|ing)?|induc(?:es?|ing)|provok(?:es?|ing)|evok(?:es?|ing)|creat(?:es?|ing)|produc(?:es?|ing)|"
    r"urg(?:es?|ing)|nudg(?:es?|ing)|compel(?:s|ling)?|forc(?:es?|ing)|mean(?:s|ing)?|set(?:s|ting)?|stir(?:s|ring)?|"
    r"spur(?:s|ring)?|remind(?:s|ing)?|fuel(?:s|ling)?|start(?:s|ing)?(?! with)|"
    r"usher(?:s|ing)?|culminat(?:es?|ing)|fill(?:s|ing)?|follow(?:ed|s) up)"
)
_REASONS: Final = "because|since|due to|thanks to|owing to"
_TIMES: Final = "when|whenever|wherever|as soon as|if|upon|following|(?<!a )while"
FORWARD: Final = re.compile(
    rf"->|=>|→|⇒|>>|»|^\s*>\s*$|\b{_VERBS}\b|\bwhich is why\b|\bthat(?:'s| is) why\b|\b(?:followed|succeeded|accompanied) by\b"
    r"|\b(?:rewarded|met|answered|greeted|repaid|celebrated|marked|honou?red|crowned|topped off|rounded off) (?:with|by)\b"
    r"|\bcomes? with\b|\bbefore\b|\buntil\b"
    r"|\btill\b|\b(?:so|hence|therefore|thus|consequently|then|afterwards?|subsequently|thereby|whereupon|ahead of|prior to)\b"
    r"|\b(?:find|found|finding)s? (?:its|their|his|her|an?) (?:way|voice|vent)(?: out)? (?:as|in|into)\b"
    r"|\b(?:comes?|spills?|pours?|flows?|bursts?|breaks?) (?:out|over) (?:as|in|into)\b|\btak\w+ the (?:form|shape) of\b"
    r"|\b(?:channel|pour|direct|translat|transform)\w* into\b"
    r"|\b(?:outlet|expression|relief|refuge|comfort|solace|release|vent|distraction) (?:in|through)\b"
    r"|\bwinds? up\b|\b(?:cue|signal|prompt|invitation|excuse|occasion|incentive|sign) (?:to|for)\b"
    r"|\bcalls? for\b|\b(?:opens?|paves?|clears?) the (?:door|way) (?:to|for)\b"
    r"|\bfollowed,[^,]*, by\b|\benough (?:to|for)\b"
    r"|\b(?:pass|passes|ends|goes by) without\b"
    r"|\bas a (?:result|consequence)\b(?! of)|\bin turn\b|\b(?:after|upon|at) which\b|\breason (?:for|why)\b|\bcause of\b"
    r"|\b(?:effect|result|outcome|consequence|leads? to|response|reaction|remedy|cure|solution|antidote|treatment)\s*[:=]"
    r"|\b(?:in order|so as) to\b|\b(?:affect|chang|alter|influenc|impact)(?:e?s|ing)\b"
    r"|\bdo(?:es|ing)? (?:\w+ )?(?:something|things|wonders|nothing|good|harm|a lot|a great deal)(?: \w+)? (?:to|for)\b"
)
BACK: Final = re.compile(
    rf"\b(?:{_REASONS}|b/c|on account of|out of|after|(?<!at )once|{_TIMES}|"
    r"whilst|courtesy of|(?:each|every|any) time(?!,)|in response to|preceded by|provided|given|"
    r"the (?:very )?(?:moment|minute|instant|second)(?! of)|"
    r"as (?:he|she|they|i|we|user)|(?:up)?on (?!morning|evening|\w+thing)\w+ing|"
    r"(?:on|in|at|during) (?:the |those |these |all |any |most |many |some )?(?:days?|nights?|evenings?|mornings?|afternoons?|"
    r"weekends?|weeks?|months?|occasions?|times?|moments?|hours?|cases?|situations?|instances?|periods?)"
    r"(?: (?:that|when|where|which|of|with|after|in which|on which))?"
    r"(?= (?:user|he|she|they|i|we|of|with|after|that|when|where|which)\b)|"
    r"at the (?:sight|sound|smell|scent|thought|mention|prospect|end|start|beginning|feel|touch|taste|arrival|onset|first sign|"
    r"hint|appearance|idea|news|conclusion|completion) of|"
    r"(?:in|under) the (?:course|wake|aftermath|event|presence|face|grip|influence|throes|spell|midst) of|"
    r"on the (?:heels|back|strength) of|in (?:view|light|case|consequence|return|reply|answer|reaction) (?:of|to|for)|"
    r"by (?:virtue|dint|way|reason) of|for (?:fear|want|lack) of|(?:so|as) long as|given that|now that|seeing (?:that|as)|"
    r"in the event (?:of|that)|no sooner than|straight after|right after|just after|subsequent to|"
    r"(?:(?:is|are|was|were|all|comes?|boils?|mostly|largely|partly|simply) down|traceable|attributable) to|"
    r"rooted in|because of|owes? \w+ to|springs? from|flows? from|grows? (?:out of|from)|"
    r"follows|stem(?:s|ming)? from|com(?:es?|ing) from|result(?:s|ing)? from|aris(?:es?|ing) from|deriv(?:es?|ing) from|"
    r"with (?:the |some )?(?:help|aid|assistance) (?:of|from)|by means of|com(?:es?|ing) (?:of|after)|born (?:out )?of|from|"
    r"(?<!ha[sd] the )(?<!have the )(?:effects?|results?|consequences?|products?|outcome|upshot|fruits?|by-?products?|fallout)"
    r" of|having|(?:saved|reserved|kept) for|"
    r"(?:starts?|begins?|starting|beginning|started|began) with|originat\w+ (?:in|from|with)|origins? in|"
    r"trac(?:ed?|es|ing) (?:back )?to|owed to|(?:goes|go|going|went|dates?) back to|requires?|depends? (?:up)?on|"
    r"off the back of|"
    r"(?:caused|triggered|prompted|brought on|brought about|driven|inspired|sparked|induced|set off|motivated|encouraged|"
    r"provoked|helped|produced|created|fuelled|fueled|pushed|led|made|moved|spurred|evoked|urged|started|relaxed|aided|"
    r"nudged|kicked off|kindled|elicited|stirred|boosted|supported)(?: \w+)* (?:by|on by|in \w+ by)|"
    r"(?:reward|treat|prize|remedy|cure|celebration|punishment) (?:for|of)|(?:outlet|vent|valve) for|"
    r"(?:refuge|escape|distraction|relief|shelter|way out) (?:from|of)|"
    r"(?:course|wake|sight|face|presence) of|"
    r"(?:reaction|response|reply|answer) to|reason being|is what happens (?:when|after|if))\b"
    r"|\b(?:trigger|cause|reason)(?: (?:for|of) (?:this|that|it))? (?:is|was|being)\b"
    r"|\b(?:sequel|follow-up|aftermath|epilogue) (?:to|of)\b|\b(?:rounds? off|crowns?|tops? off)(?! (?:with|by)\b)"
    r"|\bas (?:the|his|her|their|my)\b(?! (?:result|consequence|reason|cause|trigger))"
    r"|\b(?:trigger|cause|reason|because|when|after|due to|triggered by|caused by|prompted by|source|why)\s*[:=]|<-|<=|←"
)
NOT_BACK: Final = re.compile(
    r"\b(?:because|since|as) (?:it|they|this|that|these|those|doing so|which|the latter|the former)?\s*"
    rf"(?:then |always |often |usually |tend to )?{_VERBS}\b|\bafter(?:wards?| which)\b|\bfollows?\s*$"
    r"|(?:\band|[,;])(?: only| not until| right| just| soon| straight| shortly)* (?:after|once) (?:that|this|it)\b"
    r"|\b(?:that|this)(?:'s| is| was) when\b"
)
"""Their order is the order of things though they hold a word that turns it: "because it makes me …"."""
ACTS_ON: Final = re.compile(
    r"^(?:(?:\w+ ){0,3}(?!(?:for|to|in|on|of|with|that|than|when|and|or|but|by|from|over|at|after|because|if|the|a|an|"
    r"through|via|during|using|into|without|as|upon|under|about|around|towards?|what|how|where|why)\b)\w+) "
    r"(?:the )?(?:user|me|him|her|them|us)\b(?!'s)"
)
"""What stands before does something to somebody …"""
TIMED: Final = re.compile(
    rf"\b(?:{_REASONS}|after|(?<!at )once|{_TIMES}|by|"
    r"(?:each|every|any) time(?!,)|(?:result|stem|com|aris)\w* (?:from|of)|in response to|follows)\b"
)
"""… and not at the time or for the sake of what comes after."""
DONE: Final = re.compile(
    r"^(?:(?!after |before )\w+ ){1,3}?(?:the )?(?:user|i|he|she|they|we) (?:(?!user|i|he|she|they|we|and|it|that|this)\b\w+ ?){1,3}$"
)
"""A conjunction with somebody who does what follows: "whenever he puts on"."""
DOING: Final = re.compile(
    r"\b(?:because|since|as) (?:it|this|that|these|those|which|doing so)(?: \w+ly| often| always| usually)?$"
)
"""What it does, the doing named first does: "sings because it settles the nerves", and not "because it rains"."""
STACKED: Final = re.compile(
    r"\b(?:to|for) (?:with|on|during|at|upon|after|in)(?: (?:a|an|the|his|her|their|my|these|those))?$"
)
"""What somebody turns to with it, it leads to."""
CLOSED: Final = re.compile(r"\w+ \w[^,]*,")
"""A clause that ends before the second place begins: what it says is not said of that."""
OWED: Final = re.compile(r"\b(?:owe|attribut|trac|ascrib|chalk|credit|put|assign)(?:e?s|ed?|ing)?\b[^,|]*$")
OWED_TO: Final = re.compile(r"(?:^|\s)(?:down |back |up )?to(?: (?:the|a|an|his|her|their|my|\w+ing))?$")
PLACING: Final = frozenset(
    "as on with during in at upon over using by while amid under through via from along across past inside within beside".split()
)
PASSIVE: Final = frozenset("is are gets get being".split())
RECEIVING: Final = re.compile(
    r"\b(?:is|are|gets?|was|were|being) (?:\w+ )?(?:told|shown|handed|given|sent|offered|served|read|passed|lent|fed|informed|"
    r"presented|treated|introduced|invited)(?: (?:about|of|with|to))?"
    r"(?: (?:the|a|an|his|her|their|my|any|each|every|some|user's))?(?: \w+ly)?(?: (?:whole|very|entire|latest|newest))?$"
)
"""Whoever stands first gets what comes next, which was there before: "his father is shown the finished puzzle"."""
BEING: Final = frozenset("is are get gets was were being".split())
SUBJECTS: Final = frozenset("user i he she they we".split())
ARTICLES: Final = frozenset("a an the his her their my its user's some such of being those these that this".split())
FRONTED: Final = re.compile(
    rf"\b(?:{_REASONS}|out of|after|once|{_TIMES}|"
    r"the (?:very )?(?:moment|minute|instant|second)|given|provided|"
    r"(?:so|as) long as|now that|whilst|through|amid|having|without|against|on|with|during|by|from|"
    r"(?:each|every|any) time|in(?! order to\b)|at|over|along|across|under|"
    r"as(?= (?:the|a|an|his|her|their|my|user|i|he|she|they|we)\b))\b(?! (?:which|why))[^,|]*$"
)
NAMED: Final = re.compile(
    r"\b(?:reason|cause|trigger|source|inspiration|motive|motivation) (?:for|of|behind|why)\b[^,|:]*$"
    r"|\breason (?:that )?(?:the )?(?:user|i|he|she|they|we)\b[^,|:]*$"
    r"|(?:^|[|,] ?)why (?:the )?(?:user|i|he|she|they|we)\b[^,|:]*$"
    rf"|\b(?:what|whatever)(?: \w+)? (?:{_VERBS}|precedes)\b[^,|:]*$"
    r"|^(?:helps|makes|leads|triggers|causes|gets|lets|prompts|brings)\b[^,|:]*$"
    r"|\ball it (?:takes|needs) (?:for|to)\b[^,|:]*$|\bbehind(?: (?:the|a|an|his|her|their|my|this|user's)){0,2}$"
)
"""What comes next is told to be led to by what follows."""
IS: Final = re.compile(r"[:=]|\b(?:is|are|was|being|lies?|stands?|sits?)\b")
UNMATCHED: Final = re.compile(r"\bnothing\b[^,|]*$")
LIKE: Final = re.compile(r"\b(?:like|as|so \w+ as)(?: (?:a|an|the|his|her|their|my))?$")
"""Nothing leads to the one as the other does."""
GERUND: Final = re.compile(r" \w+ing\b(?=[^,|]*$)")
FOLLOWING: Final = re.compile(
    r"^(?:(?:usually|often|always|typically|generally|tends? to|will) )?follows?(?: (?:the|a|an|his|her|their|my|any))?$"
)
"""What stands before comes after what stands behind."""
MEANS: Final = re.compile(r"\bby \w+ing$")
WITHOUT: Final = re.compile(r"\b(?:until|till|unless|before|without)\b")
PREVENTING: Final = re.compile(
    r"\b(?:keep|kept|stop|prevent|hinder|discourag|deter|bar|held|hold|scar|block|inhibit|ban|dissuad|restrain|distract)\w*"
    r"(?: (?!and|or|so|then)\w+){0,3} from\b|\b(?:prevent|discourag|hinder|imped|inhibit|thwart|preclud|foil)(?:e?s|e?d|ing|e)?\b"
    r"|\b(?:kill|los|tak|rob|sap|dampen|spoil|ruin|lack)\w*\b[^,|]{0,30}"
    r"\b(?:urge|desire|appetite|wish|mood|energy|motivation) (?:to|for|of)\b"
    r"|\bstop(?:s|ped)? (?:the )?(?:user|him|her|them|me|us)\b"
    r"|\b(?:puts?|putting|turns?|scares?) (?:the )?(?:user|him|her|them|me) off\b"
    r"|\b(?:talks?|argues?) (?:the )?(?:user|him|her|them|me) out of\b"
    r"|\brul(?:es?|ed|ing) out\b|\b(?:spoil|ruin|stop|halt|interrupt)(?:s|p?ed|t)?(?: (?:the|any|all|his|her|their))?$"
    r"|\b(?:instead of|rather than|in the way of|out of the question)\b"
    r"|\b(?:puts?|putting) off\b|\b(?:postpon(?:es?|ing)|procrastinat\w+)\b"
    r"|\bpostponed(?= (?:the|a|an|any|all|his|her|their|my|it|user|until|till|by|because|when)\b|$)"
    r"|\bmak(?:es?|ing) it (?:\w+ )?(?:hard|harder|difficult|impossible)\b|\b(?:unable|incapable|reluctant|less likely|too \w+) to\b"
)
"""What comes before it does not lead to what comes after."""
FRONTED_BEFORE: Final = re.compile(r"\b(?:before|prior to|ahead of)\b[^,|]*$")
PURPOSE: Final = re.compile(
    r"(?:^|\b|\|)\s*(?:in order )?(?:to|so as to|for)\s*(?:\w+ ){0,2}$"
    r"|(?:^|[,;|] ?)for(?: (?:the sake of))?(?: (?:a|an|the|his|her|their|more|some|extra|better|that))?$"
)
SUBJECT: Final = re.compile(r"^\s*(?:the )?(?:user|i|he|she|they|we)\b")
BEHIND: Final = re.compile(
    r"^[\s,]*(?:being |is |are |was |as )?(?:the |a |an |its |his |her |their )?(?:usual )?"
    r"(?:trigger|cause|reason|culprit|source)\b(?! (?:of|for))"
    r"|^[\s,]*(?:does|did) (?:it|that)\b|^[\s,]*(?:is|are) (?:behind|to blame|to thank)\b"
)
"""Behind the second place these say that it is what leads to the first."""
WHAT: Final = re.compile(r"\b(?:is|are|being|was) (?:what|where|how|something|the thing)\b|,? ?(?:which|that)\s*$")
WHAT_BEHIND: Final = re.compile(
    rf"^\s*(?:always |usually |often )?(?:{_VERBS}|does|do|calls? for|asks? for|demands?|takes)\b"
    r"(?:\s+(?:the )?(?:user|to|in|on|about))?"
)
BROUGHT: Final = re.compile(
    rf"^(?:(?:that|which) )?(?:it|they|this|these) (?:\w+ly |always |often |can |will )?{_VERBS}"
)
"""Behind the second place these say that the first leads to it: "because of the headaches it brings"."""
WALLS: Final = re.compile(r"->|=>|→|⇒|\|")
OBJECTS: Final = frozenset("user user's me him her them us my his their".split())
MARKING: Final = frozenset(
    """due thanks following result effect consequence caused triggered prompted time user's user once upon owing account courtesy
    response preceded provided given help aid as soon reward treat prize celebration getting being having""".split()
)
LISTING: Final = frozenset("and or also plus both as well too & i user he she they".split())
APART: Final = re.compile(
    r"\b(?:apart from|separately|independent(?:ly)?|unrelated(?:ly)?|besides|in addition|not because|no connection|"
    r"regardless(?! of)|nothing to do with|mention(?:s|ed)|likewise)\b"
)
AND_SOMEBODY: Final = re.compile(
    r"(?:\band|&|^,) (?:then |so |the |usually |always )?(?:user|i|he|she|they|we|it|[a-z]+s)(?:'s)? "
)


def told_back(tokens: Sequence[Token], one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether a conjunction between two places says that the second leads to the first."""
    left, right = (one, two) if one[0] <= two[0] else (two, one)
    return re.search(r"\b(?:because|since)\b", said(tokens, left[1] + 1, right[0])) is not None


def relate(tokens: Sequence[Token], one: tuple[int, int], two: tuple[int, int]) -> int:
    """1 where the first place leads to the second, -1 the other way round, 0 where they are but named together."""
    left, right, order = (one, two, 1) if one[0] <= two[0] else (two, one, -1)
    ahead, between, behind = (
        said(tokens, 0, left[0]),
        said(tokens, left[1] + 1, right[0]),
        said(tokens, right[1] + 1, len(tokens)),
    )
    if tokens[left[0]].lower == "without":
        ahead += " without"
    done = right[1] > right[0] or any(t.lower in OBJECTS for t in tokens[right[1] + 1 : right[1] + 2])
    if done and DOING.search(between):
        return order
    opening = f"{ahead} {tokens[left[0]].lower}".strip()
    between = but_having(between, tokens[right[0]].lower)
    if between in (",", ", user") and DOING_SO.search(opening) and not tokens[right[0]].lower.endswith("ing"):
        return order  # "feeling brave, sings"
    if AND_THERE.match(between) and any(tokens[i].lower in PASSIVE for i in range(right[0] + 1, right[1])):
        return order  # "mom gets called, and a trip gets planned"
    if not between and tokens[right[0]].lower.endswith("ed") and not tokens[right[0]].gap:
        return -order  # "dozes wrapped in a blanket"
    passive = any(tokens[i].lower in BEING for i in range(left[0] + 1, right[0]))
    if passive and RECEIVING.search(said(tokens, left[0], right[0])):
        return -order
    return order * _turn(ahead, between, behind)


@lru_cache(maxsize=16384)
def _turn(ahead: str, between: str, behind: str) -> int:
    """1 if what comes first in the sentence comes first in life."""
    clause = ADJUNCT.sub("", WALLS.split(ahead)[-1])
    between = ADJUNCT.sub("", between).strip()
    forward, back = last_of(FORWARD, between), last_of(BACK, between)
    if APART.search(between) or are_listed(ahead, between):
        return 0
    anew = starts_anew(between)
    if (anew >= 0 and not _governs(between[anew:])) or arrives(between, behind) or is_met(clause, between):
        return 1
    if (FRONTED_BEFORE.search(clause) or (NAMED.search(clause) and IS.search(between))) and forward < 0:
        return -1
    if FOLLOWING.search(between) and not FRONTED.search(clause):
        return -1
    means = MEANS.search(between)
    if between == "by" or (means is not None and FORWARD.search(between[: means.start()]) is None):
        return -1
    if is_awaited(clause, between):
        return -1
    if NOT_BACK.search(between) or refers_back(between) or BROUGHT.match(behind):
        return 1
    placed = order_told(clause, between, behind)
    if placed:
        return placed
    if UNMATCHED.search(clause) and LIKE.search(between):
        return -1
    if STACKED.search(between):
        return -1
    if "," not in between and OWED.search(clause) and OWED_TO.search(between):
        return -1
    if ACTS_ON.search(between) and not TIMED.search(between) and not FRONTED.search(clause):
        return 1
    if back >= 0 and CLOSED.search(between[back:]):
        back = -1
    if back >= 0 and (back >= forward or _governs(between[back:])):
        return -1
    if forward >= 0:
        return 1
    if BEHIND.search(behind) or (WHAT.search(between) and WHAT_BEHIND.search(behind)):
        return -1
    if FRONTED.search(clause):
        return 1
    if PURPOSE.search(clause) and ("," in between or SUBJECT.match(between)):
        return -1
    if between == "user":
        return 1  # "a restless user bakes"
    return _by_order(between, alone=not ahead and not behind)


def _governs(clause: str) -> bool:
    """Whether nothing of weight stands between a marker and what follows: "if the user has …"."""
    words = re.findall(r"[\w']+", clause)
    if DONE.match(clause):
        return True
    marker = BACK.match(clause)
    doing = GERUND.match(clause, marker.end()) if marker else None
    if doing is not None and FORWARD.search(clause, doing.end()) is None:
        return True  # "after putting her thoughts into"
    return "," not in clause and all(w in STOP or w in MARKING or w.endswith("ing") for w in words)


def _by_order(between: str, *, alone: bool) -> int:
    """What the words between two places say where none of them marks a cause."""
    words = [w for w in re.findall(r"[\w']+", between) if w not in ARTICLES]
    if words and words[-1] in PLACING:
        return -1
    if any(w not in LISTING for w in words) or AND_SOMEBODY.search(f"{between} ") or {":", "="} & set(between):
        return 1
    # "Mint tea calms" and "finds dancing exhilarating": nothing stands between.
    return int(not between.strip(" (") or (alone and not between.strip(" ,")))


def last_of(pattern: re.Pattern[str], text: str) -> int:
    """Where the last of what the pattern finds begins, or -1."""
    return max((m.start() for m in pattern.finditer(text)), default=-1)


def said(tokens: Sequence[Token], first: int, last: int) -> str:
    """The words with what stands between them, in lower case; whoever is named is "user"."""
    parts = []
    for i in range(first, min(last + 1, len(tokens))):
        parts.append(tokens[i].gap.replace("_", " ").replace('"', "") or " ")
        if i < last:
            parts.append("user" if is_name(tokens, i) else tokens[i].lower)
    return "".join(parts).strip(" ")


def prevented(tokens: Sequence[Token], one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether what stands between two places says that the one keeps somebody from the other."""
    left, right = (one, two) if one[0] <= two[0] else (two, one)
    between = said(tokens, left[1] + 1, right[0])
    found = PREVENTING.search(between)
    return found is not None and WAITING.search(between[: found.start()]) is None
