"""LightMem (untested), and StructMem, which is its event mode (`mode=event`): facts that a model extracts, searched by meaning.

Untested: the package of that name in the registry is a stub, so it has to be installed from source, with torch 2.8.0 and models from
a hub. The calls follow its source (version 0.1.0, Python 3.10 or 3.11).

Needs `pip install git+https://github.com/zjunlp/LightMem` and OPENAI_API_KEY. Options: `mode` (flat, event), `llm`, `embedding` and
`dimensions` (of a sentence-transformers model), `compressor` (of the segmenter).
"""

from __future__ import annotations

import os
from datetime import datetime, timezone

from lightmem.memory.lightmem import LightMemory

COMPRESSOR = "microsoft/llmlingua-2-bert-base-multilingual-cased-meetingbank"
EMBEDDING = "sentence-transformers/all-MiniLM-L6-v2"


class LightMemMemory:
    concurrent_stores = 1  # topics are counted for the whole process

    def __init__(self, context):
        options = context.options
        embedding = {
            "model": options.get("embedding", EMBEDDING),
            "embedding_dims": int(options.get("dimensions", "384")),
            "model_kwargs": {"device": "cpu"},
        }
        model = {
            "model": options.get("llm", "gpt-4o-mini"),
            "api_key": os.environ["OPENAI_API_KEY"],
            "openai_base_url": os.environ.get("OPENAI_BASE_URL"),
        }
        compressor = {
            "llmlingua_config": {
                "model_name": options.get("compressor", COMPRESSOR),
                "device_map": "cpu",
                "use_llmlingua2": True,
            }
        }
        store = {
            "collection_name": "memfail",
            "embedding_model_dims": embedding["embedding_dims"],
            "path": str(context.path / "qdrant"),
            "on_disk": True,  # otherwise opening empties the folder
        }
        self._memory = LightMemory.from_config(
            {
                "pre_compress": True,
                "pre_compressor": {"model_name": "llmlingua-2", "configs": compressor},
                "topic_segment": True,  # otherwise nothing is ever extracted
                "precomp_topic_shared": True,
                "topic_segmenter": {"model_name": "llmlingua-2"},
                "messages_use": "user_only",
                "metadata_generate": True,
                "text_summary": True,
                "extraction_mode": options.get("mode", "flat"),
                "memory_manager": {"model_name": "openai", "configs": model},
                "index_strategy": "embedding",
                "text_embedder": {"model_name": "huggingface", "configs": embedding},
                "retrieve_strategy": "embedding",
                "embedding_retriever": {"model_name": "qdrant", "configs": store},
                "update": "offline",
            }
        )

    def store_conversation(self, conversation):
        messages = []
        for message in conversation.messages:
            when = message.timestamp or conversation.timestamp or datetime.now(timezone.utc)
            if message.content.strip():
                stamp = when.strftime("%Y/%m/%d (%a) %H:%M")
                messages.append({"role": message.role, "content": message.content, "time_stamp": stamp})
        if messages:
            # by default it waits until its buffers are full
            self._memory.add_memory(messages, force_segment=True, force_extract=True)

    def retrieve_memories(self, query, conversation, k):
        """Return the results of `retrieve()` as entries; it returns one text, with times that the listing lacks."""
        vector = self._memory.text_embedder.embed(query)
        found = self._memory.embedding_retriever.search(query_vector=vector, limit=k, filters=None, return_full=True)
        return [_memory(entry) for entry in found]

    def get_all_memories(self):
        return [_memory(entry) for entry in self._memory.embedding_retriever.get_all()]


def _memory(entry):
    payload = entry["payload"]
    return {
        "id": entry["id"],
        "text": payload["memory"],
        "timestamp": payload["time_stamp"],
        "score": entry.get("score"),
    }


def make(context):
    return LightMemMemory(context)
