"""What to paste to ask a recorded question again."""

from __future__ import annotations

import shlex

from pytest_memfail.results import Header


def rerun_words(header: Header, node_id: str) -> str:
    """The command; the folder of the rows is known by its name only, as records hold no paths."""
    words = ["pytest", node_id, f"--memfail-system={header.system}"]
    words += [f"--memfail-system-option={name}={value}" for name, value in header.system_options.items()]
    if header.data:
        words.append(f"--memfail-data={header.data}")
    if header.k != (5,):
        words.append(f"--memfail-k={','.join(map(str, header.k))}")
    for field, option, default in (
        ("judge", "judge", "offline"),
        ("test_taker", "model", None),
        ("protocol", "protocol", "ours"),
        ("shown_tokens", "shown-tokens", None),
        ("limit", "limit", None),
        ("haystack", "haystack", "full" if header.limit is None else None),
        ("seed", "seed", 42),
        ("repeats", "repeats", 1),
    ):
        if (value := header.value(field)) not in (None, default):
            words.append(f"--memfail-{option}={value}")
    words += [f"--memfail-judge-option={name}={value}" for name, value in header.judge_options.items()]
    words += [f"--memfail-model-option={name}={value}" for name, value in header.model_options.items()]
    return " ".join(map(shlex.quote, words))
