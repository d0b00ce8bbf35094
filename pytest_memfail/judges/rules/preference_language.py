"""Whether a word like "Japanese" means the language that somebody wants to learn, or only what comes from there."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.text import Sentence, fold

LANGUAGE: Final = fold("language")
LEARNING: Final = frozenset(
    fold(word)
    for word in """learn learner study speak speaker spoken fluent fluency fluently language languages lesson class course tutor
    tutoring teacher practise practice practising vocabulary vocab grammar conversation flashcard master mastering tongue translate
    translation exam beginner level bilingual pronunciation pronounce dictionary accent word words verb
    subtitle duolingo babbel textbook school immersion original originals lingo speech""".split()
)
"""What shows a language to be meant."""
BEFORE: Final = 6
BEHIND: Final = 3
"""So many words before and behind the name tell what it is of."""
PEOPLE: Final = frozenset("the these".split())
OF_A_COUNTRY: Final = ("ish", "ese", "an", "ch", "ic", "sh", "ek", "ai")
"""How words end that say where something comes from."""
NO_NOUN: Final = ("ly", "ing", "ed", "st")


def is_origin(topic: frozenset[str], sentence: Sentence, at: int) -> bool:
    """Whether the name of a language only says where something comes from, or who: "Japanese food", "the French"."""
    words = sentence.words
    if LANGUAGE not in topic or not words[at].lower.endswith(OF_A_COUNTRY):
        return False
    # A course elsewhere in the sentence may be one in cooking.
    near = words[max(0, at - BEFORE) : at + 1 + BEHIND]
    if not LEARNING.isdisjoint(w.key for w in near if w.lower != "speaker" or words[0] is w):
        return False
    if at and words[at - 1].lower in PEOPLE:
        return True
    if at + 1 >= len(words) or sentence.text[words[at].end : words[at + 1].start] != " ":
        return False
    following = words[at + 1]
    opens = at == 0 or sentence.text[words[at - 1].end : words[at].start] != " "
    if (opens and following.lower.endswith("s")) or following.lower.endswith(NO_NOUN):
        return False  # "Japanese attracts her"
    return bool(following.key) and following.surface.islower()
