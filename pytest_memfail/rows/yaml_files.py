"""Read YAML that others wrote: plain values, without references that grow or contain themselves."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import one_line

if TYPE_CHECKING:
    import yaml

MOST_REPEATED: Final = 100_000
"""How much aliases may add to a file: values, and 64 characters of text each."""


class YamlError(Exception):
    """A text that is not YAML, or that Python has no values for: its 1-based line, and what is wrong."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line, self.problem = line, problem


def read_yaml(content: bytes) -> Iterator[tuple[yaml.Node | None, object]]:
    """Yield the documents of a YAML file, each with its node; None for an empty one.

    Raises `YamlError` at the first document that has no value.
    """
    import yaml

    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    line = 1
    try:
        for node in yaml.compose_all(content.decode(encoding), Loader=yaml.SafeLoader):
            if node is not None:
                line = node.start_mark.line + 1
                _check_aliases(node)
            yield node, None if node is None else yaml.SafeLoader("").construct_document(node)
    except YamlError:
        raise
    except UnicodeDecodeError as error:
        raise YamlError(line, f"not {encoding.upper()} ({error.reason})") from None
    except yaml.MarkedYAMLError as error:
        line = line if error.problem_mark is None else error.problem_mark.line + 1
        raise YamlError(line, f"not YAML ({one_line(error.problem)})") from None
    except yaml.YAMLError as error:
        raise YamlError(line, f"not YAML ({one_line(error)})") from None
    except RecursionError:
        raise YamlError(line, "nested too deeply") from None
    except Exception as error:  # PyYAML passes on Python's errors, for a date in month 13 or an int without digits
        raise YamlError(line, f"not YAML ({type(error).__name__}: {one_line(error)})") from None


def _check_aliases(document: yaml.Node) -> None:
    """Raise `YamlError` for a value that contains itself, and for aliases that repeat too much."""
    from yaml import MappingNode

    sizes: dict[yaml.Node, int] = {}
    written = 0

    def size(node: yaml.Node) -> int:
        """Return the size of a node with everything that its aliases repeat."""
        nonlocal written
        if node not in sizes:
            sizes[node] = 0  # until it is known
            is_text = isinstance(node.value, str)
            own = 1 + len(node.value) // 64 if is_text else 1
            items = () if is_text else itertools.chain(*node.value) if isinstance(node, MappingNode) else node.value
            written += own
            sizes[node] = own + sum(map(size, items))
        elif not sizes[node]:
            raise YamlError(node.start_mark.line + 1, "an alias (*) names a value that contains it")
        return sizes[node]

    if size(document) - written > MOST_REPEATED:
        raise YamlError(document.start_mark.line + 1, f"its aliases (*) repeat more than {MOST_REPEATED:,} values")
