"""What real endpoints answer to messages that are longer than their model's context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.testing.http import json_response

OVERFLOWS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("overflows.json").read_text(encoding="utf-8"))
"""Status and body by server or provider; `_` and a word name its other bodies. `LIMIT` and `SENT` stand for numbers of tokens.

`openai_rate` refuses a single request above the tokens per minute, however often it is sent. Of `llama.cpp_reply` the messages
fit, and the reply does not.
"""


def overflow_response(name: str, limit: int, sent: int) -> bytes:
    """Return the response of this server to a prompt of `sent` tokens."""
    found = OVERFLOWS[name]
    body = json.dumps(found["body"]).replace("LIMIT", str(limit)).replace("SENT", str(sent))
    return json_response(found["status"], json.loads(body))
