"""Host a memory system: call its code within limits, open it, fill it, list it, retrieve from it, and keep its store."""

from __future__ import annotations

from pytest_memfail.hosting.calls import (
    CURRENT,
    GRACE_SECONDS,
    Captured,
    DaemonPool,
    Lane,
    Limits,
    ModelCalls,
    Outcomes,
    called,
    described,
    raised_as,
)
from pytest_memfail.hosting.listing import StoredTexts, changes, late_entries, memories_from
from pytest_memfail.hosting.resources import Journal, Resources, TokenRules
from pytest_memfail.hosting.shelf import OtherSettingsError, Shelf, check_reusable, is_ours, kept_in
from pytest_memfail.hosting.system import (
    HostedStore,
    OpenSystem,
    Retrieved,
    StoreReport,
    check_factory,
    described_by,
    open_system,
)

__all__ = [
    "CURRENT",
    "GRACE_SECONDS",
    "Captured",
    "DaemonPool",
    "HostedStore",
    "Journal",
    "Lane",
    "Limits",
    "ModelCalls",
    "OpenSystem",
    "OtherSettingsError",
    "Outcomes",
    "Resources",
    "Retrieved",
    "Shelf",
    "StoreReport",
    "StoredTexts",
    "TokenRules",
    "called",
    "changes",
    "check_factory",
    "check_reusable",
    "described",
    "described_by",
    "is_ours",
    "kept_in",
    "late_entries",
    "memories_from",
    "open_system",
    "raised_as",
]
