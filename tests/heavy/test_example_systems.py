"""The examples of systems call what their packages have: every call of a client is held against the real signature."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.heavy
EXAMPLES = Path(__file__).parents[2] / "examples" / "systems"


def letta() -> dict[str, Any]:
    return {"self._client": pytest.importorskip("letta_client").Letta(api_key="none", base_url="http://127.0.0.1:9")}


def supermemory() -> dict[str, Any]:
    return {"self._client": pytest.importorskip("supermemory").Supermemory(api_key="none")}


def zep() -> dict[str, Any]:
    return {"self._client": pytest.importorskip("zep_cloud.client").Zep(api_key="none")}


def memobase() -> dict[str, Any]:
    package = pytest.importorskip("memobase")
    client = object.__new__(package.MemoBaseClient)  # a whole one would ask its server
    return {"self._client": client, "self._user": object.__new__(importlib.import_module("memobase.core.entry").User)}


def graphiti() -> dict[str, Any]:
    package = pytest.importorskip("graphiti_core")
    return {
        "self._client": object.__new__(package.Graphiti),
        "EntityEdge": importlib.import_module("graphiti_core.edges").EntityEdge,
        "KuzuDriver": pytest.importorskip("graphiti_core.driver.kuzu_driver").KuzuDriver,
    }


def cognee() -> dict[str, Any]:
    return {"cognee": pytest.importorskip("cognee")}


def txtai() -> dict[str, Any]:
    package = pytest.importorskip("txtai")
    return {"self._embeddings": object.__new__(package.Embeddings), "Embeddings": package.Embeddings}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "cognee_memory": cognee,
    "graphiti_memory": graphiti,
    "letta_memory": letta,
    "memobase_memory": memobase,
    "supermemory_memory": supermemory,
    "txtai_memory": txtai,
    "zep_memory": zep,
}


def calls_of(source: str, roots: dict[str, Any]) -> Iterator[tuple[ast.Call, Any]]:
    """Each call below one of the roots, with what is called there; fails for an attribute that is not there."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        path = ast.unparse(node.func)
        for name, root in roots.items():
            if path == name or path.startswith(f"{name}."):
                called = root
                for part in path.removeprefix(name).split(".")[1:]:
                    called = getattr(called, part)
                yield node, called


@pytest.mark.parametrize("name", PARTS)
def test_every_call_fits_the_signature_of_the_package(name: str) -> None:
    roots = PARTS[name]()
    calls = list(calls_of((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), roots))
    assert len(calls) >= 3
    for node, called in calls:
        named = {keyword.arg: None for keyword in node.keywords if keyword.arg}
        for keyword in node.keywords:
            if keyword.arg is None:  # `**({"date": when} if when else {})`
                named |= {key.value: None for key in ast.walk(keyword.value) if is_key(key, keyword.value)}
        inspect.signature(called).bind(*node.args, **named)


def is_key(node: ast.AST, within: ast.AST) -> bool:
    """Whether it is the name of a parameter in a dictionary that is unpacked."""
    keys = [key for part in ast.walk(within) if isinstance(part, ast.Dict) for key in part.keys]
    return isinstance(node, ast.Constant) and node in keys


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_says_whether_it_was_tested_and_what_it_needs(path: Path) -> None:
    about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert "\nTested with " in about or "\nUntested: " in about
    assert "\nNeeds `pip install " in about
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"[{path.name}]({path.name})" in page
