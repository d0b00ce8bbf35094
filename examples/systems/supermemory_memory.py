"""Supermemory (untested): conversations become documents of a namespace, from which the service makes memories.

Untested: a hosted service with a key. The calls were checked against supermemory 5.0.1.

Needs `pip install "supermemory>=5,<6"` and SUPERMEMORY_API_KEY.
"""

from __future__ import annotations

import os
import time

from supermemory import Supermemory

PAGE = 100
PATIENCE = 600  # seconds for the service to process what was added


class SupermemoryMemory:
    def __init__(self, context):
        self._client = Supermemory(api_key=os.environ["SUPERMEMORY_API_KEY"])
        self._context = context
        self._namespace = f"memfail-{context.run_id}-{context.store_id}"
        self._pending = []
        self._filled = False  # the first document creates the namespace

    def store_conversation(self, conversation):
        if not any(message.content.strip() for message in conversation.messages):
            return
        when = conversation.timestamp
        added = self._client.add(
            self._namespace,
            content=self._context.render(conversation),
            dreaming="instant",
            **({"date": when.isoformat()} if when else {}),
        )
        self._pending.append(added.id)
        self._filled = True

    def flush(self):
        """Wait until all documents are processed, because adding only queues them."""
        end = time.monotonic() + PATIENCE
        for name in self._pending:
            while (state := self._client.documents.get(self._namespace, name).system).dreaming_status != "done":
                if state.status == "failed":
                    raise RuntimeError(f"the document {name} failed")
                if time.monotonic() > end:
                    raise TimeoutError(f"not all was worked off after {PATIENCE} s")
                time.sleep(1.0)
        self._pending = []

    def retrieve_memories(self, query, conversation, k):
        if not self._filled or not query.strip():
            return []
        found = self._client.search(self._namespace, query=query, search_mode="memories", limit=k, threshold=0.0)
        return [{"id": hit.id, "text": hit.memory or hit.chunk, "score": hit.similarity} for hit in found.results]

    def get_all_memories(self):
        memories, page = [], 1
        while self._filled:  # it lists page by page
            found = self._client.list(self._namespace, "memories", page=page, limit=PAGE).memories
            memories += [{"id": entry.id, "text": entry.memory} for entry in found if not entry.is_forgotten]
            if len(found) < PAGE:
                break
            page += 1
        return memories

    def close(self):
        if self._filled:
            self._client.namespaces.delete(self._namespace)
            self._filled = False


def make(context):
    return SupermemoryMemory(context)
