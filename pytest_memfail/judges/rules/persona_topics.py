"""What an everyday question is after though it has no word of it: what a guest must not eat, at what hours somebody works."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.persona_essay import Essay
from pytest_memfail.judges.rules.text import Sentence, fold

AILING: Final = frozenset(
    fold(word)
    for word in """allergic allergy allergies intolerant intolerance sensitivity asthma asthmatic hives epipen anaphylaxis celiac
    coeliac diabetic diabetes migraine migraines antihistamine inhaler""".split()
)
"""Words for what somebody does not bear."""
TOPICS: Final = tuple(
    (
        frozenset(fold(word) for word in asked.split()) | frozenset(asked.split()),
        AILING | frozenset(fold(word) for word in told.split())
        if ailing
        else frozenset(fold(word) for word in told.split()),
    )
    for asked, told, ailing in (
        (
            """food eat eats eating snack snacks dessert desserts meal meals dish dishes menu dinner lunch breakfast brunch supper
            pastry pastries cake cakes treat treats bake baked baking picnic potluck candy chocolate cookie cookies sweets
            catering caterer buffet appetizer ingredient ingredients diet dietary""",
            "gluten lactose vegan vegetarian",
            True,
        ),
        (
            """medical health allergy allergies allergen allergens allergic medicine medication medications intolerance intolerances
            sensitivities reaction reactions ailment illness doctor hospital paramedic""",
            "gluten lactose medication",
            True,
        ),
        ("hours", "am pm", False),
        ("where spot", "kilometer kilometre mile", False),
    )
)
"""What is asked about, and what tells something of it."""


def topical(essay: Essay, question: tuple[Sentence, ...]) -> list[int]:
    """To how much of what the question is after each sentence of the essay has an answer."""
    words = frozenset().union(*(s.keys | s.lowers for s in question))
    wanted = [told for asked, told in TOPICS if not asked.isdisjoint(words)]
    if not wanted:
        return [0] * len(essay.stated)
    return [sum(not told.isdisjoint(s.sentence.keys | s.sentence.lowers) for told in wanted) for s in essay.stated]
