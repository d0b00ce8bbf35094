"""Generate more rows with any model: draw the subject of each row first, and check everything the model writes."""

from __future__ import annotations

from pytest_memfail.authoring.facts import TASK as FORGETTING, numbered_facts, write_facts
from pytest_memfail.authoring.made import Made, Request, file_of
from pytest_memfail.authoring.pipeline import GENERATED, Estimate, Generation, Report
from pytest_memfail.authoring.samplers import (
    PersonSpec,
    PreferenceSpec,
    RuleSpec,
    apart,
    person_specs,
    preference_specs,
    rule_specs,
)
from pytest_memfail.suites import near_duplicates

__all__ = [
    "FORGETTING",
    "GENERATED",
    "Estimate",
    "Generation",
    "Made",
    "PersonSpec",
    "PreferenceSpec",
    "Report",
    "Request",
    "RuleSpec",
    "apart",
    "file_of",
    "near_duplicates",
    "numbered_facts",
    "person_specs",
    "preference_specs",
    "rule_specs",
    "write_facts",
]
