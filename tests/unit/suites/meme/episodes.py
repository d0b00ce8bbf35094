"""A small episode in MEME's format, and files of it, for tests."""

from __future__ import annotations

import copy
import json

TURNS = {
    0: "I am a courier at Ondwick Freight, and please keep this to the letter: knock twice, then wait.",
    1: "I ride the Pell bicycle there. If I ever leave Ondwick Freight, I take the Skarn tram.",
    2: "My gym is Torsk Hall, only because Ondwick Freight pays for it. My dog eats Brellin.",
    3: "Our door code is 44-Xu. My doctor is Ida Falk.",
    4: "Is it going to rain?",
    5: "I started at Marl Couriers on Monday. The dog is on Vask now.",
    6: "Please forget our door code.",
}


def fact(entity, value, text, notes=None, turn=0):
    return {
        "fact_id": f"{entity}-1",
        "entity": entity,
        "value": value,
        "fact_text": text,
        "conveyed_in_turn": turn,
        "notes": notes,
    }


FACTS = {
    0: [
        fact("employer", "Ondwick Freight", "The user works at Ondwick Freight."),
        fact("delivery_rule", "knock twice, then wait", "The rule is: knock twice, then wait."),
    ],
    1: [
        fact("commute", "Pell bicycle", "The user rides the Pell bicycle to work."),
        fact("commute", "Skarn tram", "If the user ever leaves Ondwick Freight, the user takes the Skarn tram."),
    ],
    2: [
        fact("gym", "Torsk Hall", "The user's gym is Torsk Hall, only because Ondwick Freight pays for it."),
        fact("dog_food", "Brellin", "The dog eats Brellin."),
    ],
    3: [
        fact("door_code", "44-Xu", "The door code is 44-Xu."),
        fact("doctor", "Ida Falk", "The user's doctor is Ida Falk."),
    ],
    5: [
        fact("employer", "Marl Couriers", "The user now works at Marl Couriers."),
        fact("dog_food", "Vask", "The dog now eats Vask."),
    ],
    6: [fact("door_code", None, "The user asks to forget the door code.")],
}


def question(kind, entity, values, gold, moment="after", **more):
    names = entity if isinstance(entity, list) else [entity]
    return {
        "task_type": kind,
        "entity": entity,
        "entity_values": dict(zip(names, values, strict=True)),
        "question": f"What is my {' and my '.join(names)}?",
        "gold_answer" if moment == "after" else "expected_answer": gold,
        **more,
    }


EPISODE = {
    "episode_id": "pl_001",
    "domain": "personal_life",
    "root": "employer",
    "root_change": {"before": "Ondwick Freight", "after": "Marl Couriers"},
    "entities": {
        "employer": {"before": "Ondwick Freight", "after": "Marl Couriers", "task": "root"},
        "commute": {"before": "Pell bicycle", "after": "Skarn tram", "task": "cascade"},
        "gym": {"before": "Torsk Hall", "after": "Uncertain", "task": "absence"},
        "door_code": {"before": "44-Xu", "after": None, "task": "deletion"},
    },
    "dependency_edges_used": [
        {"source": "employer", "target": "commute", "hop": 1, "pattern": "cascade"},
        {"source": "employer", "target": "gym", "hop": 1, "pattern": "absence"},
    ],
    "tasks": ["ER", "Agg", "Tr", "Del", "Cas", "Abs"],
    "evidence_session_indices": [0, 1, 2, 3, 5, 6],
    "sessions": [
        {
            "session_id": f"pl_001_s{at:02}",
            "type": "evidence" if at in FACTS else "filler",
            "timestamp": f"2023/03/{13 + at} (Mon) 09:22",
            "conversation": [{"role": "user", "content": text}, {"role": "assistant", "content": "I see."}],
            "gold_facts": FACTS.get(at),
        }
        for at, text in TURNS.items()
    ],
    "before_questions": {
        "timestamp": "2023/03/16 (Thu) 20:00",
        "position_after_session": 3,
        "questions": [
            question("Cas", "commute", ["Pell bicycle"], "Pell bicycle", "before", hop=1),
            question("Abs", ["gym"], ["Torsk Hall"], "Torsk Hall", "before", hop=1),
            question("Del", ["door_code"], ["44-Xu"], "44-Xu", "before"),
        ],
    },
    "after_questions": {
        "timestamp": "2023/03/20 (Mon) 20:00",
        "position_after_session": 6,
        "questions": [
            question("ER", ["delivery_rule"], ["knock twice, then wait"], "knock twice, then wait"),
            question("Agg", ["doctor", "gym"], ["Ida Falk", "Torsk Hall"], "Ida Falk, Torsk Hall"),
            question("Tr", ["dog_food"], [["Brellin", "Vask"]], "Brellin \u2192 Vask"),
            question("Del", ["door_code"], ["44-Xu"], "No information"),
            question("Cas", ["commute"], ["Skarn tram"], "Skarn tram", hop=1),
            question(
                "Abs", ["gym"], ["Uncertain"], "Uncertain \u2014 previously 'Torsk Hall', but employer changed", hop=1
            ),
        ],
    },
}


def episode(**changes):
    """Return a copy of the episode; a change names a place by its path: `sessions__3__timestamp`."""
    made = copy.deepcopy(EPISODE)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        place = made
        for step in steps:
            place = place[step]
        if value is KeyError:
            del place[last]
        else:
            place[last] = value
    return made


def write(folder, *episodes, name="meme_filler32k.json"):
    """Write episodes as one file, and return its path."""
    path = folder / name
    path.write_text(json.dumps(list(episodes) or [EPISODE], indent=1), encoding="utf-8")
    return path
