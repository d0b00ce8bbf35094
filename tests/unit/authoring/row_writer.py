"""A rule-based model that writes valid rows, or invalid ones on request."""

from __future__ import annotations

import itertools
import json
import re

from pytest_memfail.testing import Fault

FILLERS = (
    "The kettle in {name}'s kitchen is older than the kitchen.",
    "A neighbour leaves plums on the step in September, {row} at a time.",
    "Letters from an aunt in Cadiz pile up beside lamp {row}.",
    "The floorboards of flat {row} creak in two places.",
    "On shelf {row} stands a clock without hands.",
    "Somebody upstairs practises scales, badly, at number {row}.",
    "The blue bicycle {row} in the hall belongs to nobody.",
    "Rent {row} is paid in coins out of a jam jar.",
    "A map of lake {row} hangs above the sink.",
    "Breakfast is bread and pear butter from cellar {row}.",
    "The curtains {row} were cut from a sail.",
)
WORDS = (
    "amber bramble cinder dahlia ember fennel garnet hazel indigo juniper kelp lantern marble nutmeg opal pebble quartz "
    "russet saffron thistle umber velvet walnut yarrow zephyr acorn bracken clover damson elder"
).split()


NUMBERS = itertools.count(1)
"""Every chain gets its own number, so that no two are similar."""


def word(number, turn=0):
    """Return a unique word for each number below 900."""
    first, second = divmod(number + 31 * turn, len(WORDS))
    return f"{WORDS[second]}{WORDS[(first + 7 * turn) % len(WORDS)]}"


def task_of(request):
    """Return the task in the request."""
    text = request["messages"][1]["content"]
    return json.JSONDecoder().raw_decode(text[text.index("{") :])[0]


def kind_of(request):
    """Return which prompt it is."""
    system = request["messages"][0]["content"]
    for kind, mark in {
        "rules": "private habits",
        "easy": "a single sentence carries",
        "hard": "hide a habit",
        "preferences": "different days",
        "persons": "You write portraits",
        "chains": "You build chains",
        "audit": "spoil one another",
    }.items():
        if mark in " ".join(system.split()):
            return kind
    raise ValueError("an unknown prompt")


def wants_anew(request):
    """Return whether the request reports the faults of an earlier try."""
    return "turned down" in request["messages"][1]["content"]


def write(request):
    """Return a valid reply."""
    task = task_of(request)
    kind = kind_of(request)
    if kind == "chains":
        return {"chains": [chain(task["K"], next(NUMBERS)) for _ in range(task["chains"])]}
    if kind == "audit":
        return {"remove": []}
    make = {"rules": rule, "easy": easy, "hard": hard, "preferences": preferences, "persons": person}[kind]
    return {"rows": [make(row) for row in task["rows"]]}


def rule(row):
    name, number = word(row["row"]).title(), row["row"]
    yes = row["verdict"] == "yes"
    return {
        "row": number,
        "entity": name,
        "behavior": f"polishes the {word(number, 2)} spoon",
        "condition": f"when {number + 20} swans are on the pond",
        "other_case": "" if row["exclusive"] else f"dusts the {word(number, 5)} fork for smaller flocks",
        "question": f"I saw {number + 19 + yes} swans from the window. Would {name} see to the spoon?",
        "question_context": "swans seen",
        "condition_met": row["verdict"],
        "ground_truth_answer": f"{'Yes' if yes else 'No'} - it goes by the swans.",
    }


def fillers(name, number, count):
    return [text.format(name=name, row=f"{word(number, 3)}{i}") for i, text in enumerate(FILLERS[:count])]


def easy(row):
    said = fillers(row["entity"], row["row"], 6)
    otherwise = row["other_case"] or "at no other time"
    said.insert(2, f"{row['entity']} {row['behavior']} {row['condition']}, and {otherwise}.")
    return {"row": row["row"], "essay": " ".join(said)}


def hard(row):
    name, number = row["entity"], row["row"]
    said = fillers(name, number, 8)
    said.insert(1, f"{name} {row['behavior']}, slowly.")
    swans = re.search(r"\d+", row["condition"])[0]
    said.insert(4, f"Some mornings bring {swans} swans to the pond below.")
    otherwise = row["other_case"] or "never apart"
    said.insert(7, f"Those mornings and that shine go together, and {name} {otherwise}.")
    return {
        "row": number,
        "essay": "\n\n".join(said),
        "behavior_sentence": 2,
        "condition_sentence": 5,
        "link_sentence": 8,
    }


def preferences(row):
    liked = [word(row["row"], turn) for turn in range(4, 4 + row["likings"])]
    return {
        "row": row["row"],
        "preferences": liked,
        "preference_facts": [f"{name.title()} is what I pick on a {WORDS[i]} day." for i, name in enumerate(liked)],
        "question": f"What should my {word(row['row'], 9)} week with {word(row['row'], 10)} look like, start to end?",
    }


def person(row):
    name, number = row["person"], row["row"]
    said = [f"{name} keeps rule {word(number, 2)} above all.", *fillers(name.split()[0], number, 10)]
    questions = [
        {
            "text": f"What should I bring to {slot['about']}, {word(number, 5 + i)} or nothing?",
            "answer": f"The {word(number, 12 + i)} jar." if slot["about"] == name else f"rule {word(number, 2)}",
        }
        for i, slot in enumerate(row["slots"])
    ]
    return {"row": number, "essay": " ".join(said), "questions": questions}


def chain(hops, number):
    anchors = [f"{word(number, turn)} {WORDS[turn]}{number}" for turn in range(hops + 1)]
    anchors.append(f"counting {word(number, hops + 1)}s")
    facts = [f"The {a} always puts me in mind of {b}." for a, b in itertools.pairwise(anchors)]
    return {
        "anchors": anchors,
        "facts": facts,
        "question": f"Where does the {anchors[0]} lead me?",
        "answer": anchors[-1],
    }


STOP = Fault("status", 401, code="invalid_api_key")
"""Ends a run immediately."""
