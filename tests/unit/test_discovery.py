"""From a name to a system, judge or task."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from pytest_memfail.core import UnknownNameError, UsageError
from pytest_memfail.finding import lookup
from pytest_memfail.finding.lookup import find, import_object, load_all

GROUP = "pytest_memfail.systems"


@pytest.fixture
def offered(monkeypatch):
    """The entry points that are installed, as `name = value`."""
    values = {}

    def installed(path):
        return EntryPoints(EntryPoint(name, value, GROUP) for name, value in values.items())

    monkeypatch.setattr(lookup, "_installed", installed)
    return values


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that can be imported while the test runs."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def write(name, text):
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    yield write
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def look(name, **changes):
    given = {
        "option": "--memfail-system",
        "group": GROUP,
        "built_in": {"bm25": lambda: "built-in bm25", "no-memory": lambda: "built-in no-memory"},
        "hook_name": "pytest_memfail_make_system",
    }
    return find("system", name, **{**given, **changes})


def refused(call, kind=UsageError):
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_built_in_name(offered):
    assert look("bm25") == "built-in bm25"


def test_a_built_in_that_is_not_chosen_is_not_made(offered):
    def explode():
        raise AssertionError("made without being chosen")

    assert look("bm25", built_in={"bm25": lambda: "chosen", "other": explode}) == "chosen"


@pytest.mark.parametrize("name", ["bm25", "mine", "module:attr", "unknown"])
def test_the_hook_comes_first(offered, name):
    offered["mine"] = "nowhere:nothing"
    assert look(name, hook=lambda: "from the hook") == "from the hook"


@pytest.mark.parametrize("value", [0, "", (), False])
def test_whatever_the_hook_gives_but_none_counts(offered, value):
    assert look("bm25", hook=lambda: value) == value


def test_an_entry_point_is_loaded(offered):
    offered["mine"] = "math:pi"
    assert look("mine") == __import__("math").pi


def test_an_entry_point_goes_before_a_built_in(offered):
    offered["bm25"] = "math:pi"
    assert look("bm25") == __import__("math").pi


def test_an_entry_point_that_is_not_chosen_is_not_loaded(offered):
    offered["broken"] = "no_such_module:thing"
    assert look("bm25") == "built-in bm25"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module:thing", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("math:no_such_thing", "AttributeError: "),
    ],
)
def test_an_entry_point_that_fails_to_load_is_an_error_with_its_name(offered, value, problem):
    offered["broken"] = value
    message = refused(lambda: look("broken"))
    assert f"'broken' ({GROUP}: {value}) cannot be loaded" in message
    assert problem in message


def test_an_entry_point_whose_module_raises_is_an_error_with_its_name(offered, module):
    module("raising", "raise ValueError('no\\nlicence')")
    offered["broken"] = "raising:thing"
    message = refused(lambda: look("broken"))
    assert "'broken'" in message
    assert "ValueError: no licence" in message


def test_all_entry_points_are_given_with_their_names(offered):
    offered |= {"a": "math:pi", "b": "math:e"}
    math = __import__("math")
    assert list(load_all(GROUP)) == [("a", math.pi), ("b", math.e)]


def test_one_of_all_entry_points_that_fails_is_an_error_with_its_name(offered):
    offered |= {"a": "math:pi", "broken": "math:nothing"}
    assert "'broken'" in refused(lambda: list(load_all(GROUP)))


def test_an_unknown_name_gets_the_closest_one_and_all_ways_to_name_one(offered):
    offered["mine"] = "math:pi"
    message = refused(lambda: look("bm52"), UnknownNameError)
    assert "unknown system 'bm52'; did you mean 'bm25'?" in message
    assert "bm25, mine, no-memory" in message
    assert "module:attribute" in message
    assert GROUP in message
    assert "pytest_memfail_make_system" in message


def test_whoever_asks_for_it_gets_none_for_a_name_that_nobody_knows(offered):
    offered["mine"] = "math:pi"
    given = {"option": "--memfail-system", "group": GROUP, "built_in": {"bm25": lambda: "built-in bm25"}}
    assert lookup.find_or_none("bm52", **given) is None
    assert lookup.find_or_none("bm25", **given) == "built-in bm25"


def test_the_closest_name_may_be_an_entry_points(offered):
    offered["graphstore"] = "math:pi"
    assert "did you mean 'graphstore'?" in refused(lambda: look("graph-store"), UnknownNameError)


# -- module:attribute -------------------------------------------------------------------------------------------------


def test_module_and_attribute(offered, module):
    module("toymem", "class Toy:\n    make = 'made'\n")
    assert look("toymem:Toy").__name__ == "Toy"
    assert look("toymem:Toy.make") == "made"


def test_a_module_of_the_rootdir_is_found(tmp_path, monkeypatch):
    (tmp_path / "rootmem_only_here.py").write_text("value = 7", encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert import_object("rootmem_only_here:value", "--memfail-system", tmp_path) == 7
    del sys.modules["rootmem_only_here"]


def test_the_rootdir_is_put_on_the_path_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for _ in range(2):
        import_object("math:pi", "--memfail-system", tmp_path)
    assert sys.path.count(str(tmp_path)) == 1


@pytest.mark.parametrize("name", [":attr", "module:", ":"])
def test_half_a_name_says_what_is_expected(offered, name):
    assert f"--memfail-system: got {name!r}, expected module:attribute" in refused(lambda: look(name))


@pytest.mark.parametrize("name", ["no_such_module:thing", "no_such_package.part:thing"])
def test_a_missing_module_is_named(offered, name):
    message = refused(lambda: look(name))
    assert message.startswith("--memfail-system: no module named 'no_such_")
    assert repr(name) in message


def test_a_missing_part_of_a_package_is_named(offered, module):
    module("apackage.__init__", "")
    assert "no module named 'apackage.part'" in refused(lambda: look("apackage.part:thing"))


def test_a_missing_attribute_gets_the_closest_one(offered, module):
    module("toymem", "class ToyMemory: ...\n_private = 1\n")
    message = refused(lambda: look("toymem:ToyMemroy"), UnknownNameError)
    assert "'ToyMemroy'" in message
    assert "did you mean 'ToyMemory'?" in message
    assert "toymem" in message
    assert "--memfail-system" in message
    assert "_private" not in message


def test_a_missing_attribute_of_a_class_is_named(offered, module):
    module("toymem", "class Toy:\n    make = 'made'\n")
    assert "did you mean 'make'?" in refused(lambda: look("toymem:Toy.meke"), UnknownNameError)


def test_a_missing_attribute_of_a_plain_value_is_named(offered, module):
    module("toymem", "VALUE = 5\n")
    assert "'missing'" in refused(lambda: look("toymem:VALUE.missing"), UnknownNameError)


def test_an_import_that_fails_is_named_with_its_error(offered, module):
    module("broken_mem", "raise ValueError('no\\nlicence')")
    message = refused(lambda: look("broken_mem:thing"))
    assert message == "--memfail-system: importing 'broken_mem' failed: ValueError: no licence"


def test_a_syntax_error_of_the_module_is_named(offered, module):
    module("unreadable_mem", "def broken(:\n")
    assert "importing 'unreadable_mem' failed: SyntaxError" in refused(lambda: look("unreadable_mem:thing"))


def test_a_dependency_that_is_missing_is_not_taken_for_the_module(offered, module):
    module("needy_mem", "import no_such_dependency\n")
    message = refused(lambda: look("needy_mem:thing"))
    assert "importing 'needy_mem' failed" in message
    assert "no_such_dependency" in message


def test_a_module_that_asks_the_process_to_end_is_an_import_that_fails(offered, module):
    module("script_mem", "raise SystemExit(3)\n")
    assert "importing 'script_mem' failed: SystemExit: 3" in refused(lambda: look("script_mem:thing"))


def test_the_cause_of_a_failed_import_is_kept(offered, module):
    module("broken_mem", "1 / 0\n")
    with pytest.raises(UsageError) as caught:
        look("broken_mem:thing")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
