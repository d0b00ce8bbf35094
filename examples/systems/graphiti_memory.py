"""Graphiti (tested) over an embedded Kuzu database: facts as edges of a graph that a model draws.

Tested with graphiti-core 0.31.1 and kuzu 0.11.3; see the README for what it held and what it does not keep. The Kuzu driver is
deprecated by its makers and finds nothing after it is opened again, so there is no snapshot here.

Needs `pip install "graphiti-core[kuzu]" httpx` and OPENAI_API_KEY; OPENAI_BASE_URL for another endpoint. Options: `llm`, `embedding`.
"""

from __future__ import annotations

from datetime import datetime, timezone

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

GROUP = "memfail"  # separate files keep stores apart


class AsFound(CrossEncoderClient):
    """Keeps the ranking of the search; the built-in reranker asks a model for every query."""

    async def rank(self, query, passages):
        return [(passage, 1.0) for passage in passages]


class GraphitiMemory:
    """Async only, and bound to the loop that created it; the plugin uses one loop per store."""

    def __init__(self, context):
        self._file = context.path / "graph.kuzu"
        self._options = context.options
        self._client = None

    async def _open(self):
        if self._client is None:
            driver = KuzuDriver(db=str(self._file))
            driver._database = GROUP  # the driver lacks it, and add_episode compares it with the group
            llm = OpenAIGenericClient(LLMConfig(model=self._options.get("llm", "gpt-4o-mini")))
            embedding = self._options.get("embedding", "text-embedding-3-small")
            embedder = OpenAIEmbedder(OpenAIEmbedderConfig(embedding_model=embedding))
            self._models = (llm.client, embedder.client)
            self._client = Graphiti(graph_driver=driver, llm_client=llm, embedder=embedder, cross_encoder=AsFound())
            # build_indices_and_constraints() of Graphiti leaves out the full-text index of this driver
            await driver.graph_ops.build_indices_and_constraints(driver)

    async def store_conversation(self, conversation):
        await self._open()
        said = "\n".join(f"{m.role}: {m.content}" for m in conversation.messages if m.content.strip())
        if said:
            await self._client.add_episode(
                name=conversation.id,
                episode_body=said,
                source_description="conversation",
                reference_time=conversation.timestamp or datetime.now(timezone.utc),
                group_id=GROUP,
            )

    async def retrieve_memories(self, query, conversation, k):
        await self._open()
        return _memories(await self._client.search(query, group_ids=[GROUP], num_results=k))

    async def get_all_memories(self):
        await self._open()
        try:
            return _memories(await EntityEdge.get_by_group_ids(self._client.driver, [GROUP]))
        except GroupsEdgesNotFoundError:  # an empty store
            return []

    async def close(self):
        if self._client is not None:
            await self._client.close()
            for model in self._models:  # Graphiti leaves their connections open
                await model.close()
            self._client = None


def _memories(edges):
    # valid_at is what the model concluded from the text, created_at the clock of the machine
    return [{"text": e.fact, "id": e.uuid, "timestamp": e.valid_at or e.reference_time} for e in edges]


def make(context):
    return GraphitiMemory(context)
