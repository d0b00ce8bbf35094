"""What is kept in the stash of pytest's config and items, never in module globals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_memfail.core import QuestionRecord
    from pytest_memfail.engine import Result
    from pytest_memfail.running import Run, Runtime

RUN: pytest.StashKey[Run] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
BROKEN_OFF: pytest.StashKey[BaseException] = pytest.StashKey()
"""The exception that ended the loop over the items early (Ctrl-C, say); absent if the loop went to its end."""
RESULT: pytest.StashKey[Result] = pytest.StashKey()
FINISHED: pytest.StashKey[QuestionRecord] = pytest.StashKey()
"""The question of an item, once it is finished."""


def is_planned(config: pytest.Config) -> bool:
    """Return whether pytest only lists items or their fixtures."""
    return any(getattr(config.option, name, False) for name in ("collectonly", "setupplan", "setuponly"))
