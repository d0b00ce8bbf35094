"""Rows of MemFail's tasks that a model writes."""

from __future__ import annotations

from typing import Final

from pytest_memfail.authoring import Recipe
from pytest_memfail.suites.memfail.recipes.coexisting import coexisting_facts
from pytest_memfail.suites.memfail.recipes.conditional import EASY, HARD, ConditionalFacts
from pytest_memfail.suites.memfail.recipes.long_hop import LongHop
from pytest_memfail.suites.memfail.recipes.persona import persona_retrieval

RECIPES: Final = {
    "conditional_facts": Recipe(ConditionalFacts, (EASY, HARD)),
    "coexisting_facts": Recipe(coexisting_facts, ("coexisting_facts.csv",)),
    "persona_retrieval": Recipe(persona_retrieval, ("persona_retrieval.csv",)),
    "long_hop": Recipe(LongHop, ("long_hop.csv",)),
}
"""By task; the rows of `updated_facts` are written by hand."""
