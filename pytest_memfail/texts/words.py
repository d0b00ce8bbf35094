"""Split texts into words, and make spellings of the same alike, for comparison."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import category, normalize

QUOTES: Final = str.maketrans(
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
_RUN: Final = re.compile(r"\w+")
_PLAIN: Final = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_PLAIN_RUN: Final = re.compile(r"[a-z0-9]+")
_LETTER_RUN: Final = re.compile(r"[^\W\d_]+")
_SEARCHED: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
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
NUMBER_WORDS: Final = {
    word: number
    for number, word in [
        *enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
            "eighteen nineteen".split()
        ),
        *zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True),
    ]
}
"""The words of single numbers."""
NEGATIONS: Final = frozenset("not no never without neither nor non none nobody nothing".split())
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
    return text if text.isascii() else normalize("NFKC", text.translate(QUOTES))


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
        if (number := NUMBER_WORDS.get(word)) is not None:
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


def spellings(text: str) -> tuple[str, list[re.Match[str]]]:
    """Return a text in lower case, with its words, numbers and signs in any script."""
    text = _lower(text)
    return text, list(_SPELLED.finditer(text))


def spelled(text: str) -> str:
    """Return the words, numbers and signs of a text in any script, each with a space around, and nothing else.

    >>> spelled("Ｔｅａ，at 4.30!") == spelled("tea at  4.30"), spelled("朝の茶") in spelled("毎日、朝の 茶。")
    (True, True)
    """
    return f" {' '.join(_SPELLED.findall(_lower(text)))} "


def content(text: str) -> frozenset[str]:
    """Return the distinct words of a text that carry meaning; all its words if none does."""
    found = words(text)
    return frozenset(word for word in found if word not in STOP_WORDS) or frozenset(found)


def runs(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores of a text, in any script.

    >>> runs("Dorrit's moped_2")
    ['Dorrit', 's', 'moped_2']
    """
    return _RUN.findall(text)


def word_set(text: str) -> set[str]:
    """Return the different words and numbers of a text, in lower case."""
    return set(runs(text.casefold()))


def plain_words(text: str) -> list[str]:
    """Return the English words and numbers of a text in lower case, without punctuation; an apostrophe is part of a word.

    >>> plain_words("Dorrit’s café")
    ["dorrit's", 'caf']
    """
    return _PLAIN.findall(text.casefold().replace("\u2019", "'"))


def in_plain_words(phrase: str, text: str) -> bool:
    """Return whether the plain words of a phrase occur in a text consecutively.

    >>> in_plain_words("jasmine tea", "Jasmine tea, please.")
    True
    """
    return _in_a_line(phrase) in _in_a_line(text)


@lru_cache(maxsize=4096)  # many phrases are looked for in the same texts
def _in_a_line(text: str) -> str:
    """Return the plain words of a text with a space before and after each."""
    return " ".join(["", *plain_words(text), ""])


def plain_runs(text: str) -> list[str]:
    """Return the runs of English letters and digits of a text in lower case, as ids have them."""
    return _PLAIN_RUN.findall(text.casefold())


def letters(text: str, least: int) -> list[str]:
    """Return the words of a text with at least this many letters, without digits."""
    return [word for word in _LETTER_RUN.findall(text) if len(word) >= least]


def searched(text: str) -> list[str]:
    """Return the words of a text as a search has them: in lower case, each character of a script without spaces alone."""
    return _SEARCHED.findall(text.casefold())
