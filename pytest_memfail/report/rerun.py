"""Build the command that reruns a question of a record with the options of its run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pytest_memfail.records import Header


def rerun_words(header: Header, node_id: str) -> str:
    """Return the command. Records hold no paths, so it has only the name of the folder with the rows."""
    return " ".join(map(shlex.quote, ["pytest", node_id, *(header.rerun or _options_of(header))]))


def _options_of(header: Header) -> Iterator[str]:
    """Yield the options of a run whose header does not list them, as in early records."""
    yield f"--memfail-system={header.system}"
    for option, given in (
        ("system", header.system_options),
        ("judge", header.judge_options),
        ("model", header.model_options),
    ):
        yield from (f"--memfail-{option}-option={name}={value}" for name, value in given.items())
    for field, option, default in (
        ("data", "data", None),
        ("k", "k", [5]),
        ("judge", "judge", "offline"),
        ("test_taker", "model", None),
        ("protocol", "protocol", "ours"),
        ("shown_tokens", "shown-tokens", None),
        ("limit", "limit", None),
        ("haystack", "haystack", "full" if header.limit is None else None),
        ("seed", "seed", 42),
        ("repeats", "repeats", 1),
    ):
        if (value := header.value(field)) not in (default, None):
            yield f"--memfail-{option}={','.join(map(str, value)) if isinstance(value, list) else value}"
