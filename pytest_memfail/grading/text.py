"""Normalise texts of any script for comparison, and detect English words of doubt, condition, past and removal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import category, normalize

_QUOTES: Final = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)
_THAI_TO_KHMER: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_KANA_AND_HANZI: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
UNSPACED: Final = _THAI_TO_KHMER + _KANA_AND_HANZI
"""The characters of scripts without spaces between words, for a regular expression. Each counts as a word."""
_MARKS: Final = "".join(chr(code) for code in range(0x300, 0x1E00) if category(chr(code))[0] == "M")
_LETTERS: Final = rf"(?:[^\W_{UNSPACED}]|[{_MARKS}])+"
_NUMBER: Final = r"(?:(?<![^\s(\[])-)?\d+(?:[.:]\d+)*(?:\+(?!\w))?"
"""A number with its sign, decimals and "+": 10:40, -3.5, 50+."""
_WORD: Final = re.compile(rf"[{UNSPACED}]|{_NUMBER}|(?![\d{UNSPACED}]){_LETTERS}(?:'{_LETTERS})*(?:(?:\+\+?|#)(?!\w))?")
"""A number or a word; "C++" is not "C"."""
_SPELLED: Final = re.compile(rf"(?<!\w)[+-]?\d+(?:[.,:/]\d+)*|[{UNSPACED}]|{_LETTERS}|[%‰°<>=]|[€$£¥₹₽₩₺]")
_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？।])|\n+")
_STOP: Final = re.compile(r"[.!?:;|\]\n•。।؟؛]")
_COMMA: Final = re.compile(rf"[.!?:;|\]\n•。।؟؛,،、()—]|(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")
"""Punctuation at the end of a sentence, and at that of a clause; scripts without spaces use one as punctuation."""
_REWRITES: Final = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"%", " percent "),
        (r"\$", " dollar "),
        (r"\u20ac", " euro "),
        (r"&|(?<=\s)\+(?=\s)|(?<=[^\W\d_])\+(?=[^\W\d_])", " and "),
        (r"(?i)\bcan(?:'t|not)\b", "can not"),
        (r"(?i)\bwon't\b", "will not"),
        (r"(?i)n't\b", " not"),
    )
)
"""Spellings of the same, in the order in which they are made alike."""
_REWRITTEN: Final = re.compile(r"[%$\u20ac&+']|\d,\d|cannot", re.I)
"""What a text has that is rewritten: a cheap test first."""
_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS: Final = {word: n for n, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
NEGATIONS: Final = frozenset("not no never without neither nor non none nobody nothing".split())
_TITLES: Final = frozenset("dr mr mrs ms st prof no vs e.g i.e".split())
_CLAUSE: Final = re.compile(r"[;()]|[,:](?!\d)|(?<!\d)[,:]|\s-+\s")
_MARK: Final = re.compile(r"[.,;:!?()\[\]\n]|\s-+\s")

STOP_WORDS: Final = frozenset(
    "a an and any are as at be been but by can do for from had has have he her hers him his i if in into is it its me my "
    "no not of on or our she so than that the their them then there they this to up us user was we were what when which "
    "who will with would you your under over".split()
)


def fold(text: str) -> str:
    """Return a text in lower case, with straight quotes and single blanks.

    >>> fold("  The \u201cSoft\u201d\\n rule")
    'the "soft" rule'
    """
    return " ".join(_lower(text).split())


def _lower(text: str) -> str:
    """Return a text in lower case, with straight quotes and with one code for each character."""
    return _one_code(text).casefold()


def _one_code(text: str) -> str:
    """Return a text with straight quotes and with one code for each character."""
    return text if text.isascii() else normalize("NFKC", text.translate(_QUOTES))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """Return a word without possessive and plural ending, so that "Ormulets" is "ormulet"."""
    word = word.partition("'")[0] if word.endswith(("'s", "s'")) else word.replace("'", "")
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" else word


class Term(NamedTuple):
    """A word of a text, as words are compared."""

    word: str
    is_name: bool
    """Whether the text writes it with a capital letter."""
    starts: bool
    """Whether a mark such as a comma, a colon, a bracket or a dash stands before it."""


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[Term, ...]:
    """Return the words of a text: in lower case, numbers as digits, "&" and "+" as "and", without plural endings."""
    text = _one_code(text)
    for pattern, said in _REWRITES if _REWRITTEN.search(text) else ():
        text = pattern.sub(said, text)
    found: list[Term] = []
    tens = end = 0
    for match in _WORD.finditer(text):
        raw, starts, end = match[0], bool(_MARK.search(text[end : match.start()])), match.end()
        word = _stem(raw.casefold())
        if (number := _NUMBERS.get(word)) is not None:
            joins = bool(tens) and 0 < number < 10 and not starts
            if joins:
                starts = found.pop().starts
            word, tens = str(number + tens if joins else number), number if number > 19 else 0
        else:
            tens = 0
            word = word[1:] if word[0] == "0" and word[1:2].isdigit() and ":" in word else word
        found.append(Term(word, raw[0].isupper(), starts))
    return tuple(found)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without endings of possessives and plurals, and numbers as digits.

    Each character of a script without spaces is a word.

    >>> words("Dorrit's moped, Tuesdays at 10:40, two + 3.5")
    ['dorrit', 'moped', 'tuesday', 'at', '10:40', '2', 'and', '3.5']
    """
    return [term.word for term in terms(text)]


def spelled(text: str) -> str:
    """Return the words, numbers and signs of a text in any script, each with a space around, and nothing else.

    >>> spelled("Ｔｅａ，at 4.30!") == spelled("tea at  4.30"), spelled("朝の茶") in spelled("毎日、朝の 茶。")
    (True, True)
    """
    return f" {' '.join(_SPELLED.findall(_lower(text)))} "


def states(entry: str, text: str, *, within: bool = False) -> bool:
    """Return whether an entry has a text word for word, in any script, as whole sentences of its own.

    With `within`, commas may bound it too: a text that other words follow at once may mean something else.

    >>> states("Note: he rows. He reads, too.", "He rows"), states("He rows on Mars.", "He rows")
    (True, False)
    >>> states("He reads, too.", "he reads"), states("He reads, too.", "he reads", within=True)
    (False, True)
    """
    wanted = _SPELLED.findall(_lower(text))
    held = _lower(entry)
    found = list(_SPELLED.finditer(held))
    words_held = [match[0] for match in found]
    bound, size = _COMMA if within else _STOP, len(wanted)
    for at in range(len(found) - size + 1 if wanted else 0):
        if words_held[at : at + size] == wanted:
            last = at + size - 1
            if (not at or bound.search(held, found[at - 1].end(), found[at].start() + 1)) and (
                last + 1 == len(found) or bound.search(held, found[last].end(), found[last + 1].start() + 1)
            ):
                return True
    return False


def content(text: str) -> frozenset[str]:
    """Return the distinct words of a text that carry meaning; all its words if none does."""
    found = words(text)
    return frozenset(word for word in found if word not in STOP_WORDS) or frozenset(found)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a line ends a sentence, and a title such as "Dr." does not."""
    parts: list[str] = []
    for part in _BREAK.split(text):
        last = (
            parts[-1].rstrip(".").rpartition(" ")[2].lstrip("([\"'").casefold()
            if parts and parts[-1].endswith(".")
            else ""
        )
        if last in _TITLES:
            parts[-1] += f" {part}"
        elif part.strip():
            parts.append(part)
    return [part.strip() for part in parts]


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence, split at commas, colons, dashes and brackets."""
    return [part for part in _CLAUSE.split(sentence.translate(_QUOTES)) if part.strip()]


def _marker(phrases: Iterable[str]) -> Callable[[str], bool]:
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)")
    return lambda text: pattern.search(fold(text)) is not None


_HEDGES: Final = (
    "may (?:be|have|now|still|not|no)",
    "might|maybe|perhaps|possibl[ey]|probabl[ey]|presumably|likely|unlikely|could be|could have|seems?|appears?|i guess",
    "uncertain|unsure|unclear|unknown|undetermined|unspecified|not (?:sure|certain|clear|known|specified|stated|confirmed)",
    "(?:do not|don't|doesn't|does not|cannot|can't|can not|couldn't|unable to) "
    "(?:know|say|tell|confirm|determine|be sure|recall|remember|find|have)",
    "no (?:information|record|memory|details?|longer (?:clear|certain|sure|known))|if|unless|assuming|depends",
)
_PAST: Final = (
    "was|were|used to|previously|formerly|before|earlier|once had|no longer|any ?more|instead of|replaced|stopped|ended|"
    "left|until|outdated|changed|old|initially|originally|first|not valid",
)

hedged: Final = _marker(_HEDGES)
"""`hedged(text)`: whether an answer hedges or says that it does not know."""
marks_past: Final = _marker(_PAST)
"""`marks_past(text)`: whether a text describes a past state."""
marks_present: Final = _marker(
    ["now|current(?:ly)?|at present|presently|latest|newest|today|these days|since|as of|became"]
)
"""`marks_present(text)`: whether a text describes a current state."""
marks_removal: Final = _marker(
    [
        "forget|forgotten|forgot|delet(?:e|ed|es|ing|ion)|remov(?:e|ed|es|ing|al)|eras(?:e|ed|es|ing|ure)|wip(?:e|ed|es|ing)",
        "scrub(?:bed|bing)?|str(?:ike|uck)|discard(?:ed)?|redact(?:ed)?|retract(?:ed)?|withdr(?:aw|awn|ew)|purged?|cross out",
        "take (?:it|that|this|him|her|them) out|drop (?:it|that|this|the)|"
        "(?:not|don't|no longer) (?:to )?(?:keep|stored?|mention|retain|repeat)",
        "want(?:s|ed)? [\\w ]{1,40} (?:gone|forgotten|deleted|removed)",
    ]
)
"""`marks_removal(text)`: whether a text asks to forget something, or records such a request."""
marks_condition: Final = _marker(
    [
        "if|should|ever|when|whenever|once|the day|as long as|so long as|long as|only|solely|purely|while|because|until|"
        "unless|depends?|dependent|depending|tied|linked|requires?|provided|otherwise|except|since|due to|means|becomes?|"
        "contingent|conditional|in case|in the event|thanks to|exists|comes with|for as long|must|whoever|within|reserved"
    ]
)
"""`marks_condition(text)`: whether a text makes one thing depend on another."""
is_hypothetical: Final = _marker(
    [
        "if|should|ever|whenever|once|unless|would|were to|in case|suppose|in the event|could|might|will|becomes?|the day|"
        "(?:changes|switches|moves|turns) (?:in)?to"
    ]
)
"""`is_hypothetical(text)`: whether a clause describes a possibility."""

marks_applied: Final = _marker(
    [
        "per (?:the |user's |the user's )?rule|rule applied|derived|(?:auto-?)?updated|supersed(?:es|ed|ing)|triggered|previous|"
        "consequen(?:ce|tly)|because|therefore|hence|(?:changed|switched|moved) (?:to|from)"
    ]
)
"""`marks_applied(text)`: whether a text says that something follows from what has happened."""
marks_idea: Final = _marker(
    [
        "mention(?:ed|s)?|consider(?:ed|s|ing)?|suggest(?:ed|s|ing|ion)?|recommend(?:ed|s|ing|ation)?|discuss(?:ed|es|ing)?",
        "propos(?:ed|es|ing|al)|planned|planning|look(?:ed|s|ing)? (?:at|into)|prefer(?:s|red)?|likes?|wants?|hopes?|exists as",
        "candidate|option|alternative|for sale|somebody|someone",
    ]
)
"""`marks_idea(text)`: whether a text names something only as an idea, a plan or a wish."""
marks_other: Final = _marker(
    [
        "(?:sister|brother|mother|father|mom|mum|dad|aunt|uncle|cousin|grand(?:mother|father|ma|pa|parents)|gran|son|daughter|"
        "parents|in-laws?|friend|neighbou?r|roommate|flatmate|boss|manager|colleague|coworker|co-worker|classmate|competitor|"
        "vendor|supplier|client|customer|rival|assistant|landlord|stranger|ex|wife|husband|partner)(?:'s|s')?"
    ]
)
"""`marks_other(text)`: whether a text speaks of somebody besides the user."""


def is_doubtful(text: str) -> bool:
    """Return whether an answer states a value as uncertain, or as a past state."""
    return hedged(text) or marks_past(text)
