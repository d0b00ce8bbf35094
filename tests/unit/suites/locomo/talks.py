"""Two people's sessions in LoCoMo's format, for tests."""

from __future__ import annotations

import copy
import json
from typing import Any

TALK: dict[str, Any] = {
    "speaker_a": "Ulla",
    "speaker_b": "Jorn",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ulla", "dia_id": "D1:1", "text": "I moved to Varda yesterday."},
        {
            "speaker": "Jorn",
            "dia_id": "D1:2",
            "text": "Look!",
            "blip_caption": "a green canoe",
            "img_url": ["https://images.example/1.jpg"],
            "query": "canoe Lake Selm",
        },
    ],
    "session_10_date_time": "12:10 am on 12 June, 2023",
    "session_10": [{"speaker": "Ulla", "dia_id": "D10:1", "text": "The canoe sank."}],
    "session_2_date_time": "12:04 pm on 9 May, 2023",
    "session_2": [{"speaker": "Jorn", "dia_id": "D2:1", "text": "I have a cat called Miro."}],
}
QA: list[dict[str, Any]] = [
    {"question": "When did Ulla move?", "answer": "7 May 2023", "evidence": ["D1:1"], "category": 2},
    {"question": "What has Jorn?", "answer": "a canoe, a cat", "evidence": ["D1:2; D2:01"], "category": 1},
    {"question": "How many cats has Jorn?", "answer": 1, "evidence": ["D:2:1", "D"], "category": 4},
    {"question": "Is Ulla dry?", "answer": "No; her canoe sank", "evidence": ["D10:1", "D10:9"], "category": 3},
    {"question": "What is Ulla's cat called?", "adversarial_answer": "Miro", "evidence": ["D2:1"], "category": 5},
]


def row(**more: Any) -> dict[str, Any]:
    """A row; `more` replaces its fields."""
    annotations: dict[str, Any] = {
        "event_summary": {},
        "observation": {},
        "session_summary": {"session_1_summary": "Secret."},
    }
    return copy.deepcopy({"sample_id": "t-1", "conversation": TALK, "qa": QA, **annotations} | more)


def changed(*path: Any, value: Any = None, delete: bool = False) -> dict[str, Any]:
    """A row with another value at a place, or without it."""
    made = row()
    place: Any = made
    for key in path[:-1]:
        place = place[key]
    if delete:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


def write(folder, *rows, name="conversations.json"):
    """Write rows as the file of a suite."""
    (folder / name).write_text(json.dumps(list(rows) or [row()]))
    return folder
