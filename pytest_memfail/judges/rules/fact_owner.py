"""Whether a sentence is about somebody else than the one whose state is looked for."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.view import AFTER_NAME, FIRST_PERSON, View
from pytest_memfail.judges.rules.whose_words import DID, DOING, LIKING_VERBS, RELATIONS
from pytest_memfail.judges.rules.words import OPENERS, STOP

KIN: Final = RELATIONS | frozenset("godson goddaughter godchild uncle relative fiance widow in-law girl boy".split())
WHOSE: Final = frozenset("user user's users my our his her their the a an".split())
PASTS: Final = frozenset(
    """beat began bit blew broke brought built burnt came caught chose cut dealt dreamt drew fell felt flew forgot fought found
    froze grew heard held hid hit hung hurt kept knew learnt led left lent let lit lost meant met paid put quit rang read rose
    sat sent set shook shot shut slept sold sought spent spoke stole stood stuck swam swept swung taught thought threw tore
    woke wore wound wrote""".split()
)
"""Past forms that no ending tells."""
KIN_WITHIN: Final = 3
"""Words between "user's" and the relation: "user's old choir friend"."""
OPENING: Final = 7
CLEFT: Final = 3
OWN: Final = frozenset("user's users my our".split())
VERBS: Final = AFTER_NAME | DID | DOING | LIKING_VERBS | PASTS
HE: Final = frozenset("he she his her".split())


def strange(view: View, at: int, name: Name) -> bool:
    """Whether the sentence is plainly about another than the name's: by its own subject, or by the pronoun it opens with."""
    if view.named(at, name):
        return _leads(view.sentences[at], name)
    start = view.first[view.entry[at]]
    for i in range(at, start - 1, -1):
        sentence = view.sentences[i]
        if i < at and name.parts and view.named(i, name):
            return False
        if _leads(sentence, name) or view.other_subject(i, name):
            return True
        if not (sentence.words and sentence.words[0].lower in HE):
            return False
    return False


def _leads(sentence: Sentence, name: Name) -> bool:
    """Whether the sentence's own subject is somebody else."""
    words = sentence.words
    if len(words) > CLEFT and words[0].lower == "it" and words[1].lower in ("is", "was"):
        return any(_bare(w) in KIN for w in words[3:5]) and words[2].lower in WHOSE
    at = next((i for i, word in enumerate(words) if word.lower not in WHOSE), len(words))
    if at + 1 >= len(words):
        return False
    if not at:
        return _is_stranger(words[0], words[1], name)
    for i in range(at, min(at + KIN_WITHIN, len(words))):
        if words[i].lower in VERBS or words[i].lower in STOP:
            return False
        if _is_kin(words[i], name):
            # "User's uncle Wilfred" is Wilfred.
            return not any(_bare(w) in name.parts for w in words[i + 1 : i + 3])
    return False


def other_thing(sentence: Sentence, known: frozenset[str]) -> bool:
    """Whether the sentence is about a thing of the user's that nothing was said of: "User's chess club"."""
    words = [w for w in sentence.words[:OPENING] if w.lower != "the"]
    for i, word in enumerate(words):
        if word.lower not in OWN or (i and words[i - 1].lower not in ("of", "for")):
            continue
        keys: list[str] = []
        for following in words[i + 1 : i + 3]:
            if following.lower in VERBS or following.lower in STOP:
                break
            keys.extend(keys_of(following.surface.replace("-", " ")) or {following.key})
        return bool(keys) and not any(key in known for key in keys if key)
    return False


def _is_kin(word: Word, name: Name) -> bool:
    bare = _bare(word)
    return bare in KIN and bare not in name.parts and not name.known & {bare, f"{bare}'s", f"{bare}s"}


def _is_stranger(word: Word, following: Word, name: Name) -> bool:
    bare = _bare(word)
    if not word.surface[0].isupper() or len(bare) < 2 or bare in name.parts or bare in name.known:
        return False
    if (
        bare in OPENERS
        or bare in STOP
        or bare in FIRST_PERSON
        or f"{bare}'s" in name.known
        or lookup(fold(bare)) is not EMPTY
    ):
        return False
    verb = following.lower
    return word.lower.endswith("'s") or verb in VERBS or (verb.endswith(("s", "ed")) and verb not in STOP)


def _bare(word: Word) -> str:
    return word.lower.removesuffix("'s").removesuffix("'")
