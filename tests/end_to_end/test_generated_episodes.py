"""Episodes of `memfail generate meme` run as the suite's own variant, and say something about a memory system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.cli import main
from pytest_memfail.testing import LocalEndpoint, answer_by_rule


@pytest.fixture
def episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of generated episodes."""
    folder = tmp_path / "episodes"
    with LocalEndpoint(answer_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert main(["generate", "meme", "-n", "4", "--model", "gpt-5-mini", "-o", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("system", ["full-context", "bm25"])
def test_generated_episodes_run(run_pytest: Callable[..., Any], episodes: Path, system: str) -> None:
    ran = run_pytest(f"--memfail-system={system}", "--memfail-suite=meme:ours", f"--memfail-data={episodes}")
    assert "meme (your own: 4 stores, 52 questions; not the published rows" in ran.output
    verdicts = Counter(ran.verdicts.values())
    assert sum(verdicts.values()) == 52
    if system == "full-context":
        assert set(verdicts) == {"no_answer"}, verdicts
    else:
        # what follows from a change is found worse than what is only asked for
        lost = Counter(q["part"] for q in ran.questions.values() if q["verdict"] == "not_retrieved")
        assert lost["cascade"] > 0
        assert lost["before"] == lost["recall"] == 0
