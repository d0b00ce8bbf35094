"""Memobase (untested): a profile and events of a user, drawn from conversations by the server's model.

Untested: needs a Memobase server. The calls were checked against memobase 0.0.27.

Needs `pip install "memobase>=0.0.27,<0.1"` and a server; MEMOBASE_PROJECT_URL and MEMOBASE_API_KEY.
"""

from __future__ import annotations

import os

from memobase import ChatBlob, MemoBaseClient

EVERYTHING = 1_000_000
TEN_YEARS = 3650  # days; by default, events older than 180 days are left out


class MemobaseMemory:
    def __init__(self, context):
        self._client = MemoBaseClient(
            api_key=os.environ["MEMOBASE_API_KEY"], project_url=os.environ["MEMOBASE_PROJECT_URL"]
        )
        self._user_id = self._client.add_user(data={"memfail": context.store_id})
        self._user = self._client.get_user(self._user_id)

    def store_conversation(self, conversation):
        messages = []
        for message in conversation.messages:
            when = message.timestamp or conversation.timestamp
            if message.content.strip() and message.role in ("user", "assistant"):
                stamp = {"created_at": when.isoformat()} if when else {}
                messages.append({"role": message.role, "content": message.content, **stamp})
        if messages:
            self._user.insert(ChatBlob(messages=messages), sync=True)
            self._user.flush(sync=True)  # by default it waits until its buffer is full

    def retrieve_memories(self, query, conversation, k):
        """Return the k events nearest to the query; the profile cannot be searched."""
        found = self._user.search_event_gist(query, topk=k, similarity_threshold=0.0, time_range_in_days=TEN_YEARS)
        return [{"id": str(event.id), "text": event.gist_data.content} for event in found]

    def get_all_memories(self):
        # an empty search lists by time; the profile is stored too, although searches cover only the events
        found = self._user.search_event_gist(
            " ", topk=EVERYTHING, similarity_threshold=-1.0, time_range_in_days=TEN_YEARS
        )
        events = [{"id": str(event.id), "text": event.gist_data.content} for event in found]
        profile = self._user.profile(max_token_size=EVERYTHING)
        return [*events, *({"id": str(entry.id), "text": entry.describe} for entry in profile)]

    def close(self):
        if self._user is not None:
            self._client.delete_user(self._user_id)
            self._user = None


def make(context):
    return MemobaseMemory(context)
