"""The conftest.py of the toy projects: memory systems that behave as they are told, and a judge that follows a script.

Copied into each project, so that xdist workers import it as they import any conftest.py.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re

from pytest_memfail.core import Conversation, Fact, Ingest, Message, Probe, Question, StageResult, StorePlan, Task

STAGES = ("storage", "summary", "retrieval")
FAILS = {
    "not_stored": "storage",
    "summary_error": "summary",
    "not_retrieved": "retrieval",
    "reasoning_error": "answer",
    "ungraded": "answer",
}
SURROGATE = "\ud83d"


def ids_in(text):
    return re.findall(r"\b[a-z]{2,}-\d+(?:-q\d+)?\b", text)


class Toy:
    """Keeps every message; its options say where it goes wrong, by the id that each text carries."""

    def __init__(self, context, events):
        self.options = context.options
        self.events = events
        self.memories = []
        self.concurrent_stores = int(self.options.get("stores", "2"))
        self.concurrent_reads = int(self.options.get("reads", "1"))
        self.happened("fill", context.store_id)

    def happened(self, what, about):
        # one write, so that lines of several processes do not mix
        line = f"{what} {about} {os.getpid()}\n".encode()
        handle = os.open(self.events, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(handle, line)
        os.close(handle)

    def hit(self, option, text):
        return self.options.get(option) in (*ids_in(text), "all")

    def store_conversation(self, conversation):
        text = conversation.text
        self.happened("store", ids_in(text)[0])
        if self.hit("raise_store", text):
            raise ValueError("the disk is full")
        if self.hit("die_store", text):
            os._exit(3)
        self.memories += [message.content for message in conversation.messages]

    def before_retrieval(self, query):
        (name,) = ids_in(query)
        self.happened("ask", name)
        if self.options.get("talk"):
            print(f"print of {name}")
            logging.getLogger("toy").warning("log of %s", name)
        if self.hit("raise_at", query):
            raise ValueError("the index is broken")
        if self.hit("die_at", query):
            os._exit(3)
        if self.options.get("writes"):
            self.memories.append(f"somebody asked {query}")

    def retrieve_memories(self, query, conversation, k):
        self.before_retrieval(query)
        if self.hit("wrong_type_at", query):
            return 42
        if self.hit("surrogate_at", query):
            print("printed " + SURROGATE)
            return ["remembered " + SURROGATE]
        (name,) = ids_in(query)
        row = name.partition("-q")[0]
        return sorted(self.memories, key=lambda memory: row not in ids_in(memory))[:k]

    def get_all_memories(self):
        if self.options.get("listing") == "none":
            return None
        # a search may return only what is listed
        return [*self.memories, *(["remembered " + SURROGATE] if "surrogate_at" in self.options else [])]

    def close(self):
        self.happened("close", ids_in(self.memories[0])[0] if self.memories else "nothing")


class AsyncToy(Toy):
    """The same, each retrieval taking a while; counts how many are in flight."""

    def __init__(self, context, events):
        super().__init__(context, events)
        self.concurrent_reads = int(self.options.get("reads", "64"))
        self.flying = 0

    async def retrieve_memories(self, query, conversation, k):
        self.flying += 1
        self.happened("flying", self.flying)
        try:
            await asyncio.sleep(float(self.options.get("seconds", "0.05")))
            return super().retrieve_memories(query, conversation, k)
        finally:
            self.flying -= 1


class ScriptedJudge:
    """Decides as the file verdicts.json says: question id to verdict; what it does not name is correct."""

    def __init__(self, script):
        self.script = script

    def decide(self, stage, name):
        verdict = self.script.get(name, "correct")
        if verdict == "raise":
            raise RuntimeError("the judge is out of order")
        if verdict == "wrong_type":
            return "yes"
        if verdict == f"ungraded_{stage}":
            return StageResult("ungraded", f"cannot tell about {stage}")
        if FAILS.get(verdict) == stage:
            if verdict == "ungraded":
                return StageResult("ungraded", "no test-taker")
            return StageResult("failed", f"the script says {verdict} of {name}", (0,), missing=("lost",))
        return StageResult("passed", entries=(0,))

    def storage(self, evidence, store):
        return self.decide("storage", evidence.id.partition(":")[0])

    def summary(self, evidence, store):
        return self.decide("summary", evidence.id.partition(":")[0])

    def retrieval(self, evidence, question, shown):
        return self.decide("retrieval", question.id)

    def answer(self, question, evidence, reply):
        return self.decide("answer", question.id)


def make_task(name, stores):
    """A task with a store for each item of the mapping: its prefix, and how many questions it has."""
    evidence, plans = {}, []
    for prefix, n in stores.items():
        ids = [f"{prefix}-{i}" for i in range(1, n + 1)]
        ingests = []
        for fact in ids:
            text = f"{fact} is kept in a lost box."
            evidence[fact] = Fact(fact, "fact", text, text, f"c-{fact}")
            ingests.append(Ingest(Conversation(f"c-{fact}", (Message("user", text),))))
        questions = tuple(
            Question(i, name, f"Where is {i}?", f"Where is {i}?", ("a box",), (i,), "direct", stratum="all")
            for i in ids
        )
        plans.append(StorePlan(prefix, (*ingests, Probe(questions))))
    return Task(name, ("not_retrieved",), tuple(plans), evidence, "CC0", "0" * 64)


def pytest_memfail_make_system(config, name):
    kind = {"toy": Toy, "async-toy": AsyncToy}.get(name)
    return None if kind is None else lambda context: kind(context, config.rootpath / "events.log")


def pytest_memfail_make_judge(config, name):
    if name != "script":
        return None
    script = config.rootpath / "verdicts.json"
    return ScriptedJudge(json.loads(script.read_text()) if script.exists() else {})
