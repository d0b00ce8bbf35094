"""Tokens of English text: function words, abbreviations, numbers and names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import combining, normalize

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.texts import NUMBER_WORDS

CHARACTERS: Final = str.maketrans("’‘ʼ`“”–‑\u00a0º", "''''\"\"-- °") | {ord("—"): " - "}
TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[%°£€$]")
JOINED: Final = re.compile(r"\b[a-z]{2,}(?:[A-Z][a-z]+)+\b")
"""Words in the manner of keys: gameLocks."""
CAMEL: Final = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")
"""A capital at which the next word begins."""
HALF_OF_DAY: Final = re.compile(r"\b([ap])\. ?m\b\.?", re.IGNORECASE)
STOP: Final = frozenset(
    """a an the this that these those there here it its itself he him his himself she her hers herself they them their
    theirs themselves i me my mine myself we us our ours ourselves you your yours yourself who whom whose which what
    and or but nor so yet if then than as of in on at by for with without from to into onto out off up down over under
    about after before while when whenever until till since during through across between among against within upon
    is am are was were be been being do does did doing done have has had having will would shall should can could may
    might must ought not no nor never only just also too very quite rather really still even ever already again once
    always often usually sometimes because though although unless whether however where why how all any some each every
    both either neither such same other another else own more most less least much many few s t d m ll re ve etc via per
    user users let lets get gets got getting one ones thing things something anything everything nothing way someone
    somebody anyone anybody everyone everybody nobody none
    say says said tell tells told mention mentions mentioned note notes noted""".split()
)
"""Words without content of their own; negation, order and frequency have features of their own."""
ABBREVIATIONS: Final = {
    short: full
    for full, shorts in {
        "monday": "mon mons", "tuesday": "tue tues", "wednesday": "wed weds", "thursday": "thu thur thurs", "friday": "fri",
        "saturday": "sat", "sunday": "sun", "january": "jan", "february": "feb", "april": "apr", "august": "aug",
        "september": "sep sept", "october": "oct", "november": "nov", "december": "dec", "hour": "hr hrs", "minute": "min mins",
        "second": "sec secs", "week": "wk wks", "month": "mth mths", "year": "yr yrs", "kilometre": "km kms", "metre": "mtr",
        "kilogram": "kg kgs kilo kilos", "gram": "g gr", "litre": "ltr", "millilitre": "ml", "centimetre": "cm", "millimetre": "mm",
        "appointment": "appt", "department": "dept", "manager": "mgr", "temperature": "temp", "morning": "am", "afternoon": "pm",
        "maximum": "max", "minimum": "min.", "telephone": "tel", "phone": "ph", "information": "info", "apartment": "apt",
        "weekend": "wkend", "breakfast": "bkfst", "birthday": "bday", "degree": "deg", "percent": "pct", "number": "no.",
        "favourite": "fave fav", "colleague": "coworker", "mother": "mum mom mummy",
        "father": "dad daddy", "grandmother": "gran grandma nan",
        "grandfather": "grandpa grandad granddad", "television": "tv telly", "photograph": "photo pic", "bicycle": "bike bikes",
    }.items()
    for short in shorts.split()
}  # fmt: skip
"""Common abbreviations."""
NUMBERS: Final = {
    **NUMBER_WORDS,
    "twice": 2, "thrice": 3, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000,
    **{w: n for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1)},
}  # fmt: skip
"""Number words. `numbers` decides from the word before whether "second" is a unit of time."""
DAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)


class Token(NamedTuple):
    """One token, with its position in a text."""

    surface: str
    lower: str
    key: str
    """Base form; digits for numbers, "@name" for names; empty for words without content."""
    start: int
    end: int
    is_name: bool = False


def plain(text: str) -> str:
    """Return the text with plain instead of typographic characters, words apart, and one spelling of a.m. and p.m.

    >>> plain("gameLocks: \u201cdirectionalPadlocks\u201d at 4 p.m.")
    'game locks: "directional padlocks" at 4 pm'
    """
    text = JOINED.sub(lambda match: apart(match[0]), text.translate(CHARACTERS))
    return HALF_OF_DAY.sub(r"\1m", text) if ".m" in text or ". m" in text else text


def apart(joined: str) -> str:
    """Return joined words with spaces between them: gameLocks are game locks."""
    return CAMEL.sub(lambda match: f" {match[0].lower()}", joined)


def unaccented(word: str) -> str:
    """Return a word without accents."""
    return word if word.isascii() else "".join(c for c in normalize("NFKD", word) if not combining(c)) or word


@lru_cache(maxsize=65536)
def key_of(lower: str) -> str:
    """Return the key of a lower-case word that is not a name; empty for words without content.

    >>> key_of("writes") == key_of("wrote") == key_of("writing")
    True
    >>> key_of("eleven"), key_of("the")
    ('11', '')
    """
    lower = unaccented(lower)
    if lower[0].isdigit():
        return _digits(lower)
    if lower in NUMBERS and lower != "second":
        return str(NUMBERS[lower])
    bare = lower.split("'")[0] if "'" in lower else lower
    if not bare or bare in STOP or lower.endswith("n't") or (len(bare) == 1 and bare.isalpha()):
        return ""
    bare = ABBREVIATIONS.get(bare, bare)
    key = lexicon.base_form(bare, lexicon.counts(), lexicon.forms())
    return "" if key in STOP else key


def _digits(word: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word):
        word = word.replace(",", "")
    if word.count(".") == 1:
        word = word.rstrip("0").rstrip(".")
    return word


def tokens_of(text: str, names: frozenset[str] = frozenset()) -> tuple[Token, ...]:
    """Return the tokens of plain text.

    Args:
        text: one sentence or field.
        names: lower-case words that are names here, in any position and capitalisation.
    """
    found = []
    first = True
    for match in TOKEN.finditer(text):
        surface = match[0]
        lower = surface.casefold()
        start, end = match.span()
        if surface[0].isalpha():
            bare = lower.removesuffix("'s").rstrip("'")
            is_name = bare in names or (
                surface[0].isupper()
                and surface.upper() != surface
                and bare.partition("'")[0] not in STOP
                and bare.rstrip("s") not in DAYS
                and bare not in MONTHS
                and bare not in ABBREVIATIONS
                and bare not in NUMBERS
                and (not lexicon.is_common(bare) if first else not _opens(text, start) or not lexicon.is_common(bare))
            )
            key = "@" + bare if is_name else _key(lower)
            found.append(Token(surface, lower, key, start, end, is_name))
        else:
            found.append(Token(surface, lower, _key(lower), start, end))
        first = False
    return tuple(found)


@lru_cache(maxsize=65536)
def _key(lower: str) -> str:
    return key_of(lower) if lower[0].isalnum() else lower


def _opens(text: str, start: int) -> bool:
    """Return whether a word at this position starts a sentence, a field or a quotation."""
    before = text[max(0, start - 3) : start].rstrip()
    return not before or before[-1] in ".!?:;\"'([|-*#>=/"
