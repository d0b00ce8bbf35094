"""Questions in LongMemEval's format, for tests."""

from __future__ import annotations

import copy
import json

SESSIONS = {
    "answer_1": (
        "2023/05/08 (Mon) 13:40",
        [
            {"role": "user", "content": "I bought a red kayak today.", "has_answer": True},
            {"role": "assistant", "content": "Wear a vest.", "has_answer": False},
        ],
    ),
    "filler_1": (
        "2023/05/01 (Mon) 09:00",
        [{"role": "assistant", "content": "Hello again."}, {"role": "user", "content": "Tell me a joke."}],
    ),
    "answer_2": (
        "2023/05/20 (Sat) 10:00",
        [
            {"role": "user", "content": "", "has_answer": False},
            {"role": "assistant", "content": "Sell the kayak to Ole.", "has_answer": True},
        ],
    ),
}


def question(name="q1", kind="multi-session", sessions=SESSIONS, **fields):
    """Return one row."""
    return copy.deepcopy(
        {
            "question_id": name,
            "question_type": kind,
            "question": "Which colour is my kayak, and who gets it?",
            "answer": "Red, and Ole gets it",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": [date for date, _ in sessions.values()],
            "haystack_session_ids": list(sessions),
            "haystack_sessions": [turns for _, turns in sessions.values()],
            "answer_session_ids": [each for each in sessions if each.startswith("answer")],
            **fields,
        }
    )


def write(folder, *rows, name="longmemeval_oracle.json"):
    """Write questions to a file of a variant, and return its path."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows[0] if name[0].isdigit() or "/" in name else list(rows), indent=1), encoding="utf-8")
    return path
