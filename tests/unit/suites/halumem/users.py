"""A user in HaluMem's format, for tests."""

from __future__ import annotations

import copy
import json

SESSIONS = [
    {
        "start_time": "Sep 04, 2025, 21:12:18",
        "end_time": "Sep 04, 2025, 21:30:00",
        "dialogue": [
            {"role": "user", "content": "I moved to Varda.", "timestamp": "Sep 04, 2025, 21:12:18", "dialogue_turn": 0},
            {"role": "assistant", "content": "You surely ski there.", "timestamp": "Sep 04, 2025, 21:12:18"},
        ],
        "memory_points": [
            {
                "index": 1,
                "memory_content": "Ulla moved to Varda",
                "memory_type": "Event Memory",
                "memory_source": "primary",
                "is_update": "False",
                "original_memories": [],
                "timestamp": "Sep 04, 2025, 21:30:00",
                "importance": 0.8,
                "event_source": "init",
            },
            {
                "index": 2,
                "memory_content": "Ulla skis",
                "memory_type": "Persona Memory",
                "memory_source": "interference",
                "is_update": "False",
                "original_memories": [],
                "importance": 0.2,
            },
        ],
        "questions": [
            {
                "question": "Where does Ulla live?",
                "answer": "In Varda.",
                "evidence": [{"memory_content": "Ulla moved to Varda", "memory_type": "Event Memory"}],
                "difficulty": "easy",
                "question_type": "Basic Fact Recall",
            }
        ],
    },
    {
        "start_time": "Sep 05, 2025, 09:00:00",
        "end_time": "Sep 05, 2025, 09:00:00",
        "is_generated_qa_session": True,
        "memory_points": [],
        "questions": [],
        "dialogue": [{"role": "user", "content": "What is 2 + 2?", "timestamp": "Sep 05, 2025, 09:00:00"}],
    },
    {
        "start_time": "Sep 06, 2025, 10:00:00",
        "end_time": "Sep 06, 2025, 10:20:00",
        "dialogue": [{"role": "user", "content": "Now I live in Ostry.", "timestamp": "Sep 06, 2025, 10:00:00"}],
        "memory_points": [
            {
                "index": 1,
                "memory_content": "Ulla lives in Ostry now",
                "memory_type": "Event Memory",
                "memory_source": "secondary",
                "is_update": "True",
                "original_memories": ["Ulla lives in Varda"],
                "importance": 1.0,
            },
            {
                "index": 1,
                "memory_content": "The system was told the time zone",
                "memory_type": "Relationship Memory",
                "memory_source": "system",
                "is_update": "False",
                "importance": 0.5,
            },
        ],
    },
]


def user(**changes):
    """One user; `changes` replace fields."""
    name = {"uuid": "u-1", "persona_info": "Name: Ulla Brandt; Gender: Female"}
    return {**name, "sessions": copy.deepcopy(SESSIONS), **changes}


def changed(*path, value):
    """One user with another value at a path; DELETE removes it."""
    made = user()
    place = made
    for step in path[:-1]:
        place = place[step]
    if value is DELETE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


DELETE = object()


def write(folder, *users, name="users.jsonl"):
    """The path of a file with these users."""
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in users), encoding="utf-8")
    return path
