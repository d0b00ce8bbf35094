"""What to paste to ask a recorded question again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any


def rerun_words(header: Mapping[str, Any], node_id: str) -> str:
    """The command; the folder of the rows is known by its name only, as records hold no paths."""
    words = ["pytest", node_id, f"--memfail-system={header.get('system')}"]
    words += [f"--memfail-system-option={name}={value}" for name, value in header.get("system_options", {}).items()]
    if header.get("data"):
        words.append(f"--memfail-data={header['data']}")
    if (k := header.get("k")) not in (None, [5]):
        words.append(f"--memfail-k={','.join(map(str, k))}")
    for field, option, default in (
        ("judge", "judge", "offline"),
        ("test_taker", "model", None),
        ("protocol", "protocol", "ours"),
        ("shown_tokens", "shown-tokens", None),
        ("limit", "limit", None),
        ("haystack", "haystack", "full" if header.get("limit") is None else None),
        ("seed", "seed", 42),
        ("repeats", "repeats", 1),
    ):
        if (value := header.get(field, default)) != default:
            words.append(f"--memfail-{option}={value}")
    words += [f"--memfail-judge-option={name}={value}" for name, value in header.get("judge_options", {}).items()]
    words += [f"--memfail-model-option={name}={value}" for name, value in header.get("model_options", {}).items()]
    return " ".join(map(shlex.quote, words))
