"""Answer the prompts of memory systems by rule: every message of the user is kept verbatim.

These replies lose nothing, so any loss in a run is the system's own. They never merge, update or
infer, so a run with these replies tests the integration, not the quality of a system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from pytest_memfail.testing.answers import answer_by_rule
from pytest_memfail.testing.faults import Reply, ToolCall
from pytest_memfail.testing.usage import text_of
from pytest_memfail.texts import letters

STAMP: Final = re.compile(r"^\[\d{4}-\d\d-\d\d[^\]]*\] ")
KEYWORDS: Final = 5

MEM0_MESSAGES: Final = re.compile(r"^## New Messages\n(.*?)\n+## Observation Date$", re.DOTALL | re.MULTILINE)
GRAPHITI_MESSAGE: Final = re.compile(r"<CURRENT_MESSAGE>\n(.*)\n</CURRENT_MESSAGE>", re.DOTALL)
GRAPHITI_ENTITIES: Final = re.compile(r"<ENTITIES>\n(.*?)\n</ENTITIES>", re.DOTALL)
MEM0_TURN: Final = re.compile(r"^(user|assistant|system): ", re.MULTILINE)
LANGMEM_SESSION: Final = re.compile(r"<session_([0-9a-f-]+)>\n(.*)\n</session_\1>", re.DOTALL)
LANGMEM_TURN: Final = re.compile(r"^=+ (\w+) Message =+\n\n", re.MULTILINE)
AMEM_NOTE: Final = "Content for analysis:"
AMEM_EVOLUTION: Final = "memory evolution agent"
AMEM_NEIGHBOURS: Final = re.compile(r"number of neighbors is (\d+)", re.IGNORECASE)
SIMPLEMEM_WINDOW: Final = re.compile(
    r"^\[Current Window Dialogues\]\n(.*?)\n\n\[Requirements\]$", re.DOTALL | re.MULTILINE
)
SIMPLEMEM_TURN: Final = re.compile(r"^(?:\[([^\]]*)\] )?(User|Assistant|System): ", re.MULTILINE)


def reply_by_rule(request: Mapping[str, Any]) -> str | Reply:
    """Return the reply to prompts of Mem0, LangMem, A-MEM, SimpleMem, Graphiti and md-file, else that of
    `answer_by_rule`.
    """
    remembered = _remembered(request)
    return answer_by_rule(request) if remembered is None else remembered


def _remembered(request: Mapping[str, Any]) -> str | Reply | None:
    text = "\n".join(text_of(message) for message in request["messages"])
    tools = {tool.get("function", {}).get("name") for tool in request.get("tools") or ()}
    if "Memory" in tools:
        return _langmem(text)
    if "find_lines" in tools:
        return _looked_up(request["messages"])
    if "append_line" in tools:
        return _md_file(request["messages"])
    asked = text_of(request["messages"][-1])
    schema = (request.get("response_format") or {}).get("json_schema") or {}
    if (asks := _graphiti(frozenset(schema.get("schema", {}).get("properties", {})), asked)) is not None:
        return asks
    if found := MEM0_MESSAGES.search(asked):
        return _mem0(found[1])
    if AMEM_EVOLUTION in text:
        return _amem_evolution(text)
    if AMEM_NOTE in asked:
        return _amem_note(asked.rpartition(AMEM_NOTE)[2])
    if found := SIMPLEMEM_WINDOW.search(asked):
        return _simplemem(found[1])
    return None


def _said_by(who: str, turn: re.Pattern[str], text: str) -> list[str]:
    """Return what one speaker says in a transcript whose turns start with the pattern, without times."""
    _, *parts = turn.split(text)
    return [
        STAMP.sub("", said.strip()) for speaker, said in zip(parts[::2], parts[1::2], strict=True) if speaker == who
    ]


def _mem0(messages: str) -> str:
    facts = _said_by("user", MEM0_TURN, messages)
    return json.dumps({"memory": [{"id": str(i), "text": t, "attributed_to": "user"} for i, t in enumerate(facts)]})


def _langmem(text: str) -> Reply:
    session = LANGMEM_SESSION.search(text)
    facts = _said_by("Human", LANGMEM_TURN, session[2]) if session else []
    return Reply("", tool_calls=tuple(ToolCall("Memory", {"content": fact}) for fact in facts))


def _md_file(messages: Sequence[Mapping[str, Any]]) -> Reply:
    if messages[-1]["role"] == "tool":
        return Reply("The file is up to date.")
    turns = [json.loads(line) for line in text_of(messages[-1]).split("\n")[1:-1]]
    facts = [turn["content"] for turn in turns if turn["role"] == "user" and turn["content"].strip()]
    calls = tuple(ToolCall("append_line", {"text": fact}) for fact in facts)
    return Reply("", tool_calls=calls or (ToolCall("keep_nothing", {}),))


def _looked_up(messages: Sequence[Mapping[str, Any]]) -> Reply:
    if messages[-1]["role"] == "tool":
        return Reply("That is all.")
    return Reply("", tool_calls=(ToolCall("find_lines", {"words": text_of(messages[-1])}),))


def _graphiti(asks: frozenset[str], text: str) -> str | None:
    """Return a reply for the schema with these properties; every message becomes a fact between its speaker and a new
    node.
    """
    if asks == {"extracted_entities"}:
        return json.dumps({"extracted_entities": [{"name": "user", "entity_type_id": 0, "episode_indices": [0]}]})
    if asks == {"edges"}:
        found = GRAPHITI_MESSAGE.search(text)
        facts = _said_by("user", MEM0_TURN, found[1]) if found else []
        ends = {"source_entity_name": "user", "relation_type": "SAID", "valid_at": None, "invalid_at": None}
        edges = [{**ends, "target_entity_name": f"message {crc32(fact.encode()):08x}", "fact": fact} for fact in facts]
        return json.dumps({"edges": [{**edge, "episode_indices": [0]} for edge in edges]})
    if asks == {"entity_resolutions"}:
        found = GRAPHITI_ENTITIES.search(text)
        entities = json.loads(found[1]) if found else []
        same = [{"id": entity["id"], "name": entity["name"], "duplicate_candidate_id": -1} for entity in entities]
        return json.dumps({"entity_resolutions": same})
    if asks == {"duplicate_facts", "contradicted_facts"}:
        return json.dumps({"duplicate_facts": [], "contradicted_facts": []})
    if asks == {"valid_at", "invalid_at"}:
        return json.dumps({"valid_at": None, "invalid_at": None})
    return json.dumps({"summaries": []}) if asks == {"summaries"} else None


def _amem_note(content: str) -> str:
    words = list(dict.fromkeys(letters(content.partition(":")[2] or content, 4)))[:KEYWORDS]
    return json.dumps({"keywords": words, "context": "What the user said.", "tags": ["conversation"]})


def _amem_evolution(text: str) -> str:
    found = AMEM_NEIGHBOURS.search(text)
    neighbours = int(found[1]) if found else 0
    return json.dumps(
        {
            "should_evolve": False,
            "actions": [],
            "suggested_connections": [],
            "tags_to_update": ["conversation"],
            "new_context_neighborhood": [""] * neighbours,
            "new_tags_neighborhood": [["conversation"]] * neighbours,
        }
    )


def _simplemem(text: str) -> str:
    _, *parts = SIMPLEMEM_TURN.split(text)
    entries = [
        {
            "lossless_restatement": said.strip(),
            "keywords": list(dict.fromkeys(letters(said, 4)))[:KEYWORDS],
            "timestamp": when,
            "location": None,
            "persons": [],
            "entities": [],
            "topic": "conversation",
        }
        for when, speaker, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        if speaker == "User"
    ]
    return json.dumps(entries)
