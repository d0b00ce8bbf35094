"""txtai (tested): every message in one index, searched by BM25 and by vectors together.

Tested with txtai 9.14.0 and all-MiniLM-L6-v2; see the README for what it held.

Needs `pip install txtai`. Option: `embedding`, a sentence-transformers model by name or by the path of its folder.
"""

from __future__ import annotations

from txtai import Embeddings

MODEL = "sentence-transformers/all-MiniLM-L6-v2"


class TxtaiMemory:
    concurrent_reads = 1  # searching one index from several threads crashes the process

    def __init__(self, context):
        self._model = context.options.get("embedding", MODEL)
        self._open()

    def _open(self):
        self._embeddings = Embeddings(path=self._model, content=True, hybrid=True)
        self._filled = False  # an empty index cannot be queried

    def store_conversation(self, conversation):
        rows = []
        for number, message in enumerate(conversation.messages):
            if message.content.strip():
                when = message.timestamp or conversation.timestamp
                row = {"text": message.content, "timestamp": when.isoformat() if when else None}
                rows.append((f"{conversation.id}-{number}", row, None))
        if rows:
            self._embeddings.upsert(rows)
            self._filled = True

    def retrieve_memories(self, query, conversation, k):
        if not self._filled or not query.strip():
            return []
        wanted = "select id, text, timestamp, score from txtai where similar(:query)"
        return self._embeddings.search(wanted, limit=k, parameters={"query": query})

    def get_all_memories(self):
        if not self._filled:
            return []
        # it lists three rows by default
        return self._embeddings.search("select id, text, timestamp from txtai", limit=self._embeddings.count())

    def snapshot(self, path):
        if self._filled:
            self._embeddings.save(str(path / "index"))
        else:
            (path / "empty").touch()

    def restore(self, path):
        filled = (path / "index").is_dir()
        if not filled and not (path / "empty").is_file():
            raise FileNotFoundError(f"no snapshot in {path}")
        self.close()
        self._open()
        if filled:
            self._embeddings.load(str(path / "index"))
            self._filled = True

    def close(self):
        self._embeddings.close()


def make(context):
    return TxtaiMemory(context)
