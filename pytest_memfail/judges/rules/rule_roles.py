"""Who does it: whether a sentence that mentions the entity gives the behaviour to somebody else."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_people import PRONOUNS, RELATIVES
from pytest_memfail.judges.rules.rule_sides import verbs
from pytest_memfail.judges.rules.text import Sentence, Word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import OPENERS, STOP

SUBJECTS: Final = frozenset(("he", "she"))
POSSESSIVES: Final = frozenset(("his", "her", "their", "its"))
NEAR: Final = 2
AFTER_RELATIVE: Final = 4
OPENING: Final = 4
USERS: Final = frozenset(("user", "user's", "users"))
LONG: Final = 5
AROUND: Final = 4
GETTING: Final = frozenset(("gets", "get", "receives", "receive", "is", "are"))
CALENDAR: Final = frozenset(
    "feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun".split()
)
DOERS: Final = (
    "er",
    "or",
    "ist",
    "man",
    "woman",
    "mate",
    "ian",
    "ee",
    "eer",
    "ess",
    "kid",
    "child",
    "children",
    "people",
)
"""Endings of words for people: what is Ana's and none of these is hers, and she does it."""
WHEN: Final = frozenset("when whenever if once while after".split())
FEELING: Final = frozenset("is gets feels grows becomes was got felt turns".split())
LEAST_BEFORE: Final = 5
INDEFINITE: Final = frozenset(("a", "an", "one", "some", "another", "someone", "somebody"))
NEAR_NOUN: Final = 4
APPOSED: Final = frozenset("a an the who one".split())
INTRODUCED: Final = 2
"""Somebody's name and an article at least stand before the name by which they are introduced."""
NAMESAKE: Final = 0.3
"""Share of a long account's words that the source has, below which it is another one's of that name."""
FROM_SOURCE: Final = 0.6
"""Share of a sentence's words that are the source's, that shows it was taken from there."""


def given_to_another(sentence: Sentence, rule: Rule) -> bool:
    """Whether the sentence says that another one does it: a relative, somebody named, or the wrong pronoun."""
    if rule.name is None:
        return False
    words = sentence.words
    does = next((i for i, word in enumerate(words) if word.key and rule.does(word.key)), None)
    if does is None:
        return False
    named = _named_at(words, rule.name)
    return (
        _by_a_relative(words, named, does, rule)
        or _by_one_introduced(sentence, named, does, rule)
        or _by_somebody_named(words, named, does, rule)
        or _by_one_of_the_others(words, named, rule)
        or _by_the_wrong_pronoun(words, named, does, rule.pronoun)
        or (not named and _by_the_one_before(words, does, rule))
    )


def about_another(sentence: Sentence, rule: Rule) -> bool:
    """Whether the sentence is about one whom the source does not know, and names the entity only to say whose: "Bo's aunt hums".

    What holds of the aunt is no condition of Bo's.
    """
    words = sentence.words
    if rule.name is None or not words:
        return False
    named = _named_at(words, rule.name)
    whom = next((i for i, word in enumerate(words[:AFTER_RELATIVE]) if i and word.key and is_person(word.key)), 0)
    if not named and words[0].lower in POSSESSIVES:
        return bool(whom) and _names_new(words, whom, rule)  # "his apprentice Livia"
    if not named or any(not words[i].lower.endswith("'s") for i in named):
        return False
    if any(PRONOUNS.get(word.lower) == rule.pronoun for word in words) and rule.pronoun:
        return False  # Bo's aunt hums when he does
    if named[0] == 0:
        if whom == 1 and _does_next(words, rule):
            return True  # "Bo's aunt hums": though she is known, it is she
        return bool(whom) and (words[whom].key not in rule.stated | rule.asked or _names_new(words, whom, rule))
    return _introduces(sentence, rule) and named[0] <= AFTER_RELATIVE


def _does_next(words: tuple[Word, ...], rule: Rule) -> bool:
    """Whether the behaviour follows at once whom the sentence is about, with no more than an adverb between."""
    verb = next((w for w in words[2:4] if w.key and not w.lower.endswith("ly")), None)
    return verb is not None and verb.lower.endswith("s") and verb.key in rule.behavior


def _named_at(words: tuple[Word, ...], name: Name) -> list[int]:
    """Where the words are the entity's name."""
    return [i for i, word in enumerate(words) if _bare(word) in name.parts and word.surface[0].isupper()]


def belongs(at: int, view: View, rule: Rule) -> bool:
    """Whether a sentence near the entity's name is about the entity indeed.

    Where the name stands in another entry, the sentence has to be the source's own, or to say "he" or "she", and to name nobody new.
    """
    name = rule.name
    if name is None:
        return True
    if view.named(at, name):
        return not _is_namesake(at, view, rule)
    if _is_namesake(at, view, rule):
        return False
    sentence = view.sentences[at]
    if _of_user(sentence):
        return False
    stranger = any(_is_stranger(sentence.words, i, rule) for i in range(min(OPENING, len(sentence.words))))
    if stranger:
        return False
    entry = view.entry[at]
    if _opens_with_somebody(view.sentences[view.first[entry]].words):
        return False
    if any(view.named(i, name) for i in range(view.first[entry], view.first[entry + 1])):
        return True
    pronouns = {PRONOUNS[w] for w in sentence.lowers if w in PRONOUNS}
    if pronouns and (not rule.pronoun or rule.pronoun in pronouns):
        return True
    return view.own_share((at,), rule.stated) >= FROM_SOURCE


def _of_user(sentence: Sentence) -> bool:
    """Whether it is about the user, or somebody of theirs: "the user's uncle carves"."""
    opening = [word for word in sentence.words[:OPENING] if word.lower != "the"]
    if not opening or opening[0].lower not in USERS:
        return False
    return opening[0].lower == "user" or any(word.key and is_person(word.key) for word in opening[1:])


def _is_namesake(at: int, view: View, rule: Rule) -> bool:
    """Whether it stands in a long account of which the source knows next to nothing."""
    entry = view.entry[at]
    first, last = at, at + 1
    while first > max(view.first[entry], at - AROUND) and not view.sentences[first].starts_turn:
        first -= 1
    while last < min(view.first[entry + 1], at + AROUND + 1) and not view.sentences[last].starts_turn:
        last += 1
    return last - first >= LONG and view.own_share(range(first, last), rule.stated, rule.name) < NAMESAKE


def _is_stranger(words: tuple[Word, ...], at: int, rule: Rule) -> bool:
    """Whether the word is a name that the source does not know."""
    word = words[at]
    bare = _bare(word)
    assert rule.name is not None
    return (
        word.surface[0].isupper()
        and len(bare) > 1
        and not (word.surface.isupper() and len(words) > 1)
        and bare not in OPENERS
        and bare not in STOP
        and bare not in CALENDAR
        and bare not in rule.name.known
        and bare not in rule.name.parts
        and word.key not in rule.stated
        and (at > 0 or not _is_common(words, at))
    )


def _opens_with_somebody(words: tuple[Word, ...]) -> bool:
    """ "A conductor told the user": the entry is about one whom it does not name."""
    if not words or words[0].lower not in INDEFINITE:
        return False
    return any(word.key and is_person(word.key) for word in words[1:NEAR_NOUN])


def _is_common(words: tuple[Word, ...], at: int) -> bool:
    """Whether the first word of a sentence is an ordinary one: the lexicon knows it, and no name's verb follows."""
    entry = lookup(words[at].key)
    following = words[at + 1].lower if at + 1 < len(words) else ""
    return bool(entry.same or entry.general) and following not in ("the", "has", "is", "likes")


def _bare(word: Word) -> str:
    return word.lower.removesuffix("'s").removesuffix("s'")


def _by_a_relative(words: tuple[Word, ...], named: list[int], does: int, rule: Rule) -> bool:
    """ "Rafiq's flatmate sets his phone": the name is there, but only to say whose flatmate it is."""
    if not named or named[0] > does:
        return False
    if any(not words[i].lower.endswith("'s") for i in named if i < does):
        return False
    following = words[named[0] + 1 : min(does, named[0] + AFTER_RELATIVE)]
    if any(word.lower == rule.pronoun for word in words[named[0] + 1 : does]):
        return False  # her friends know that she does it
    return any(
        word.lower in RELATIVES
        or (is_person(word.key) and (word.lower.removesuffix("s").endswith(DOERS) or _names_new(words, i, rule)))
        for i, word in enumerate(following, named[0] + 1)
    )


def _by_one_introduced(sentence: Sentence, named: list[int], does: int, rule: Rule) -> bool:
    """ "Lena, a regular at Dana's salon, reads aloud": the name is there, but only to say who the other one is."""
    assert rule.name is not None
    before = [i for i in named if i < does]
    if (
        not before
        or before[0] < INTRODUCED
        or sentence.words[1].lower not in APPOSED
        or not _introduces(sentence, rule)
    ):
        return False
    # All between two commas: "Lena, who lives next to Dana, reads aloud".
    end = sentence.text.find(",", sentence.words[1].start)
    aside = 0 <= end < sentence.words[does].start and sentence.words[before[-1]].end <= end
    return aside or all(sentence.words[i].lower.endswith("'s") for i in before)


def _introduces(sentence: Sentence, rule: Rule) -> bool:
    """Whether it opens with the name of somebody whom the source does not know, and says who that is."""
    assert rule.name is not None
    first, second = sentence.words[:2]
    known = first.lower in OPENERS | STOP or first.lower in rule.name.known or first.key in rule.stated
    return first.surface[0].isupper() and not known and sentence.text[first.end : second.start].strip() == ","


def _names_new(words: tuple[Word, ...], at: int, rule: Rule) -> bool:
    """Whether the name of somebody whom the source does not know follows: "Ana's acquaintance Tess"."""
    following = words[at + 1 : at + 2]
    return bool(following) and _is_stranger(words, at + 1, rule)


def _by_somebody_named(words: tuple[Word, ...], named: list[int], does: int, rule: Rule) -> bool:
    """Another's name before the behaviour, the entity's only after it or not at all."""
    assert rule.name is not None
    if (named and named[0] < does) or any(word.lower == "by" for word in words[does:]):
        return False
    if any(words[i - 1].lower == "from" for i in named if i) and any(
        word.lower in GETTING for word in words[: named[-1]]
    ):
        return False  # the one named first gets it
    others = [i for i in range(does) if _is_name(words, i, rule.name) or (not i and _opens(words, rule))]
    if not others:
        return False
    return bool(named) or (does - others[-1] <= NEAR and not words[others[-1]].lower.endswith("'s"))


def _by_one_of_the_others(words: tuple[Word, ...], named: list[int], rule: Rule) -> bool:
    """ "Wit reads his sister's letters": what the entity does in the source, right after the name of another one there."""
    if any(not words[i].lower.endswith("'s") and not _is_object(words, i) for i in named):
        return False
    doers = verbs(rule, rule.source)
    for i, word in enumerate(words[:-1]):
        if word.lower in rule.others and word.surface[0].isupper():
            following = next((w for w in words[i + 1 : i + 3] if w.key and not w.lower.endswith("ly")), None)
            if following is not None and doers.get(following.key) == "entity":
                return True
    return False


def _opens(words: tuple[Word, ...], rule: Rule) -> bool:
    """Whether the sentence opens with another name of the source's."""
    return words[0].surface[0].isupper() and words[0].lower in rule.others


def _is_object(words: tuple[Word, ...], at: int) -> bool:
    return at > 0 and words[at - 1].lower in ("for", "to", "by", "with", "from", "of")


def _is_name(words: tuple[Word, ...], at: int, name: Name) -> bool:
    word = words[at]
    bare = _bare(word)
    if not word.surface[0].isupper() or bare in name.parts or bare in STOP or bare in OPENERS or len(bare) < 2:
        return False
    return at > 0 or word.lower.endswith("'s")


def _by_the_wrong_pronoun(words: tuple[Word, ...], named: list[int], does: int, pronoun: str) -> bool:
    if pronoun not in SUBJECTS:
        return False
    if named and named[0] > does and any(word.lower == "they" for word in words[max(0, does - NEAR) : does]):
        return True  # they do it to the entity
    for word in reversed(words[max(0, does - NEAR) : does]):
        if word.lower in SUBJECTS:
            return PRONOUNS[word.lower] != pronoun
        if not word.lower.endswith("ly") and word.key:
            return False
    return False


def _by_the_one_before(words: tuple[Word, ...], does: int, rule: Rule) -> bool:
    """ "When the first mate gets hungry he insists on it": somebody whom the rule does not know is in that state, and so does it."""
    if does < LEAST_BEFORE or words[does - 1].lower not in SUBJECTS or words[0].lower not in WHEN:
        return False
    known = rule.spoken | keys_of(rule.told)
    for at, word in enumerate(words[2 : does - 2], 2):
        if word.lower in ("the", "a", "an") or not is_person(word.key):
            continue
        return (
            words[1].lower in ("the", "a", "an")
            and words[at + 1].lower in FEELING
            and word.key not in known
            and not word.lower.endswith("s")
        )
    return False
