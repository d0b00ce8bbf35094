"""Write the sessions of `memfail generate meme` by rule: each fact in its own message, in the given words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

TASK: Final = "Task:\n"
OPENINGS: Final = ("Good to have you here.", "One more thing.", "Before we go on.", "And another.")
CLOSING: Final = "That is all, thank you for listening."
FEWEST: Final = 3


def rows_to_write(request: Mapping[str, Any]) -> Sequence[Mapping[str, Any]] | None:
    """Return the sessions that a request asks for; None for other requests."""
    said = str(request["messages"][-1].get("content") or "")
    if not said.startswith(TASK):
        return None
    try:
        rows = json.JSONDecoder().raw_decode(said[len(TASK) :])[0]["rows"]
    except (ValueError, LookupError, TypeError):
        return None
    is_chat = isinstance(rows, list) and all(isinstance(row, dict) and "voice" in row for row in rows)
    return rows if is_chat else None


def chats_by_rule(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the reply for some sessions."""
    return {"rows": [{"row": row["row"], "turns": _turns(row)} for row in rows]}


def _turns(row: Mapping[str, Any]) -> list[dict[str, str]]:
    if "facts" in row:
        said = [fact["fact"] for fact in row["facts"]]
        users = [f"{opening} {text}" for opening, text in zip(OPENINGS, said, strict=False)]
    else:
        about, wants = row["about"], row["wants"]
        users = [f"Today it is {about}.", f"About {about}, {wants} please.", f"So much for {about} and {wants}."]
    users += [CLOSING] * (FEWEST - len(users))
    return [{"user": text, "assistant": "I see, go on."} for text in users]
