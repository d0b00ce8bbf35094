"""Where state lives: in the stash of config and items, never in module globals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_memfail.engine import Result
    from pytest_memfail.plugin.gating import Known
    from pytest_memfail.plugin.run import Run
    from pytest_memfail.plugin.runtime import Runtime
    from pytest_memfail.results import QuestionRecord, RunFolder

RUN: pytest.StashKey[Run] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
KNOWN: pytest.StashKey[Known] = pytest.StashKey()
"""What the baseline says of the items."""
BROKEN_OFF: pytest.StashKey[BaseException] = pytest.StashKey()
"""What ended the loop over the items early (Ctrl-C, say); absent where it came to its end."""
FOLDER: pytest.StashKey[RunFolder | None] = pytest.StashKey()
"""Where the process that the user started keeps the run; None if it cannot."""
RESULT: pytest.StashKey[Result] = pytest.StashKey()
FINISHED: pytest.StashKey[QuestionRecord] = pytest.StashKey()
"""The question of an item, once it is finished."""
