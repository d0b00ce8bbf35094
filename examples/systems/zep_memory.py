"""Zep (untested): conversations become episodes of a graph; searches return the facts on its edges.

Untested: a hosted service with a key. The calls were checked against zep-cloud 4.0.1.

Needs `pip install "zep-cloud>=4,<5"` and ZEP_API_KEY.
"""

from __future__ import annotations

import os
import time
from itertools import islice

from zep_cloud.client import Zep

PAGE = 50
PATIENCE = 600  # seconds for the service to process what was added


class ZepMemory:
    def __init__(self, context):
        self._client = Zep(api_key=os.environ["ZEP_API_KEY"])
        self._graph = self._client.graph.create(name=f"memfail-{context.run_id}-{context.store_id}").uuid_
        self._tasks = []

    def store_conversation(self, conversation):
        said = "\n".join(f"{m.role}: {m.content}" for m in conversation.messages if m.content.strip())
        if said:
            when = conversation.timestamp
            added = self._client.graph.episode.add(
                self._graph, data=said, type="message", **({"reference_time": when.isoformat()} if when else {})
            )
            if added.task is not None:
                self._tasks.append(added.task.uuid_)

    def flush(self):
        """Wait until everything is in the graph, because adding only queues it."""
        end = time.monotonic() + PATIENCE
        for name in self._tasks:
            while (task := self._client.task.get(name)).status in ("pending", "processing"):
                if time.monotonic() > end:
                    raise TimeoutError(f"the graph was not ready after {PATIENCE} s")
                time.sleep(1.0)
            if task.status != "succeeded":
                raise RuntimeError(f"an episode ended as {task.status}: {task.error}")
        self._tasks = []

    def retrieve_memories(self, query, conversation, k):
        if not query.strip():
            return []
        return _memories(islice(self._client.graph.search_edges(self._graph, query=query, page_size=k), k))

    def get_all_memories(self):
        return _memories(
            self._client.graph.edge.list(self._graph, page_size=PAGE)
        )  # goes on to the next page by itself

    def close(self):
        if self._graph is not None:
            self._client.graph.delete(self._graph)
            self._graph = None


def _memories(edges):
    return [{"id": edge.uuid_, "text": edge.fact, "score": edge.score, "timestamp": edge.valid_at} for edge in edges]


def make(context):
    return ZepMemory(context)
