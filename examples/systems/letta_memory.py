"""Letta (untested): an agent reads each conversation and keeps what it chooses in its archive; searches cover the archive.

Untested: needs a Letta server. The calls were checked against letta-client 1.12.1.

Needs `pip install "letta-client>=1.12,<2"` and a server; LETTA_BASE_URL (and LETTA_API_KEY, if required). Options:
`model` and
`embedding`, as the server names them.
"""

from __future__ import annotations

import os

from letta_client import Letta

PAGE = 100
PERSONA = (
    "I keep the memory of an assistant. From every conversation that I am shown I insert each fact worth keeping into my "
    "archival memory, one passage a fact, with its names, conditions, numbers and dates."
)


class LettaMemory:
    def __init__(self, context):
        self._client = Letta(
            api_key=os.environ.get("LETTA_API_KEY", "none"),
            base_url=os.environ.get("LETTA_BASE_URL", "http://localhost:8283"),
        )
        self._context = context
        self._agent = self._client.agents.create(
            name=f"memfail-{context.run_id}-{context.store_id}",
            model=context.options.get("model", "openai/gpt-4o-mini"),
            embedding=context.options.get("embedding", "openai/text-embedding-3-small"),
            memory_blocks=[{"label": "persona", "value": PERSONA}],
            tools=["archival_memory_insert", "archival_memory_search"],
        )

    def store_conversation(self, conversation):
        # start every conversation with an empty context, which must not serve as memory
        self._client.agents.messages.reset(self._agent.id)
        self._client.agents.messages.create(
            self._agent.id, messages=[{"role": "user", "content": self._context.render(conversation)}]
        )

    def retrieve_memories(self, query, conversation, k):
        found = self._client.agents.passages.search(self._agent.id, query=query, top_k=k)
        return [{"id": p.id, "text": p.content, "timestamp": p.timestamp} for p in found.results]

    def get_all_memories(self):
        memories, after = [], None
        while True:  # it lists page by page
            page = self._client.agents.passages.list(
                self._agent.id, limit=PAGE, ascending=True, **({"after": after} if after else {})
            )
            memories += [{"id": p.id, "text": p.text, "timestamp": p.created_at} for p in page]
            if len(page) < PAGE:
                return memories
            after = page[-1].id

    def close(self):
        if self._agent is not None:
            self._client.agents.delete(self._agent.id)
            self._agent = None


def make(context):
    return LettaMemory(context)
