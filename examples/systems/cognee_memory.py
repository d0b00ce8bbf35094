"""Cognee (untested): conversations become documents, which a model turns into a graph; searches return their chunks.

Untested: its model fills schemas that the local endpoint has no rules for. The calls follow cognee's source (add,
cognify, search).

Needs `pip install cognee` and LLM_API_KEY; LLM_MODEL, LLM_ENDPOINT and EMBEDDING_MODEL for other providers than OpenAI.
"""

from __future__ import annotations

import cognee
from cognee import SearchType

DATASET = "memfail"


class CogneeMemory:
    concurrent_stores = 1  # its folders are settings of the whole process
    concurrent_reads = 1

    def __init__(self, context):
        self._filled = False
        cognee.config.data_root_directory(str(context.path / "data"))
        cognee.config.system_root_directory(str(context.path / "system"))

    async def store_conversation(self, conversation):
        turns = [m for m in conversation.messages if m.content.strip()]
        if not turns:
            return
        when = f"[{conversation.timestamp:%Y-%m-%d %H:%M}]\n" if conversation.timestamp else ""
        text = when + "\n".join(f"{m.role}: {m.content}" for m in turns)
        await cognee.add(text, dataset_name=DATASET)
        self._filled = True

    async def flush(self):
        if not self._filled:
            return
        await cognee.cognify(datasets=[DATASET])  # costly, so only once at the end

    async def retrieve_memories(self, query, conversation, k):
        return await self._search(query, k) if self._filled and query.strip() else []

    async def get_all_memories(self):
        # no call lists the chunks; a search with a large limit returns all
        return await self._search("memory", 1_000_000) if self._filled else []

    async def _search(self, query, k):
        found = await cognee.search(
            query_text=query, query_type=SearchType.CHUNKS, datasets=[DATASET], top_k=k, only_context=False
        )
        return [chunk for result in found for chunk in _chunks(result)]


def _chunks(result):
    """Yield the chunks of a result, which is a data set of chunks with access control, else one chunk."""
    found = result.get("search_result", result) if isinstance(result, dict) else result.search_result
    for chunk in found if isinstance(found, list) else [found]:
        score = chunk.get("score")  # a distance: lower is nearer
        yield {"id": chunk.get("id"), "text": chunk["text"], "score": None if score is None else -score}


def make(context):
    return CogneeMemory(context)
