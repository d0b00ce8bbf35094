"""The lists of the paper and of our own that rows are drawn from (pools.yaml)."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import yaml

_LISTS: Final[dict[str, list[str]]] = yaml.safe_load(
    files(__package__).joinpath("pools.yaml").read_text(encoding="utf-8")
)
ENTITY_CATEGORIES: Final = _LISTS["entity_categories"]
CONDITION_TYPES: Final = _LISTS["condition_types"]
"""All 32 types of the paper's table 3."""
PET_CONDITION_TYPES: Final = _LISTS["pet_condition_types"]
"""Those that can be observed from outside (appendix B.2)."""
PREFERENCE_CATEGORIES: Final = _LISTS["preference_categories"]
NAMES: Final = _LISTS["names"]
FLAVORS: Final = _LISTS["flavors"]
GIVEN_NAMES: Final = _LISTS["given_names"]
SURNAMES: Final = _LISTS["surnames"]
