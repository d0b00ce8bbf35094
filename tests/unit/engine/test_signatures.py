"""A method that cannot be called as it will be is noticed before anything is stored."""

from __future__ import annotations

import pytest
from engine_fakes import Store, names, plan

from pytest_memfail.core import UsageError, WrongTypeError
from pytest_memfail.hosting import check_factory


def error_of(bench, kind):
    made = []

    def factory():
        made.append(kind())
        return made[-1]

    (result,) = bench.all(bench.begin(factory, plan(1)))
    assert made[0].log == []  # nothing was called
    assert type(result.error) is WrongTypeError
    return str(result.error)


def test_a_parameter_too_few(bench):
    class Short(Store):
        def retrieve_memories(self, query, k):
            return []

    assert error_of(bench, Short) == (
        "Short.retrieve_memories(query, k) cannot be called with 3 arguments; "
        "expected retrieve_memories(query, conversation, k)"
    )


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        ("store_conversation", lambda self: None, "store_conversation(conversation)"),
        ("store_conversation", lambda self, messages, *, user: None, "store_conversation(conversation)"),
        ("get_all_memories", lambda self, user: [], "get_all_memories()"),
        ("flush", lambda self, when: None, "flush()"),
        ("close", lambda self, when: None, "close()"),
        ("describe", lambda self, how: {}, "describe()"),
        ("snapshot", lambda self: None, "snapshot(path)"),
        ("restore", lambda self: None, "restore(path)"),
    ],
)
def test_every_method_is_looked_at(bench, name, method, expected):
    text = error_of(bench, type("Odd", (Store,), {name: method}))
    assert text.startswith(f"Odd.{name}(")
    assert text.endswith(f"expected {expected}")


def test_other_names_and_defaults_are_fine(bench):
    class Named(Store):
        def store_conversation(self, talk, *, importance=1):
            return super().store_conversation(talk)

        def retrieve_memories(self, *args):
            return super().retrieve_memories(*args)

        def get_all_memories(self, limit=None):
            return super().get_all_memories()

    assert names(bench.all(bench.begin(Named, plan(2)))) == ["correct"] * 2


@pytest.mark.parametrize("factory", [lambda: None, lambda context: None, lambda context=None: None, Store, dict])
def test_a_factory_with_or_without_context(factory):
    check_factory(factory, "--memfail-system")


@pytest.mark.parametrize("factory", [lambda a, b: None, lambda *, path: None])
def test_a_factory_that_needs_something_else(factory):
    with pytest.raises(UsageError, match=r"^--memfail-system: got the factory .*; expected one of "):
        check_factory(factory, "--memfail-system")
