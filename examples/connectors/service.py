"""A memory behind a REST service, standard library only: `python service.py 8765`. notes_service.yaml describes it.

A message is stored `MEMORY_LAG` seconds after it was sent (0 by default), as services with a queue do. With MEMORY_KEY set,
each request needs it as a bearer token.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 10


class Notes:
    """The notes of all users; each is visible to its user alone, once its time has come."""

    def __init__(self, lag: float = 0.0):
        self._lag = lag
        self._notes: dict[str, list[tuple[float, dict[str, object]]]] = {}
        self._lock = threading.Lock()

    def add(self, user: str, messages: list[dict[str, str]], when: str | None) -> None:
        with self._lock:
            notes = self._notes.setdefault(user, [])
            for message in messages:
                if message["content"].strip():
                    note = {"id": f"{user}-{len(notes)}", "memory": message["content"], "created_at": when}
                    notes.append((time.monotonic() + self._lag, note))

    def of(self, user: str) -> list[dict[str, object]]:
        with self._lock:
            return [note for due, note in self._notes.get(user, []) if due <= time.monotonic()]

    def forget(self, user: str, text: str) -> None:
        with self._lock:
            self._notes[user] = [
                (due, note) for due, note in self._notes.get(user, []) if text not in str(note["memory"])
            ]

    def waiting(self, user: str) -> int:
        with self._lock:
            return sum(due > time.monotonic() for due, _ in self._notes.get(user, []))

    def search(self, user: str, query: str, limit: int) -> list[dict[str, object]]:
        wanted = words(query)
        scored = [{**note, "score": len(wanted & words(str(note["memory"])))} for note in self.of(user)]
        return sorted((note for note in scored if note["score"]), key=lambda note: -note["score"])[:limit]

    def delete(self, user: str) -> None:
        with self._lock:
            self._notes.pop(user, None)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def serve(port: int, notes: Notes, key: str = "") -> ThreadingHTTPServer:
    """Return a server that listens on a port of this machine; 0 picks one."""

    class Handler(BaseHTTPRequestHandler):
        def handle_request(self) -> tuple[int, object]:
            if key and self.headers.get("Authorization") != f"Bearer {key}":
                return 401, {"error": "a bearer token is needed"}
            url = urlsplit(self.path)
            given = {name: values[0] for name, values in parse_qs(url.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            data = json.loads(body) if body else {}
            match self.command, url.path.strip("/").split("/"):
                case "POST", ["users", user, "messages"]:
                    notes.add(user, data["messages"], data.get("time"))
                    return 202, {"accepted": len(data["messages"])}
                case "POST", ["users", user, "search"]:
                    return 200, {"results": notes.search(user, data["query"], data["limit"])}
                case "POST", ["users", user, "forget"]:
                    notes.forget(user, data["text"])
                    return 200, {}
                case "GET", ["users", user, "notes"]:
                    start = int(given.get("after", 0))
                    found = notes.of(user)
                    more = start + PAGE < len(found)
                    return 200, {"notes": found[start : start + PAGE], "next": str(start + PAGE) if more else None}
                case "GET", ["users", user, "status"]:
                    return 200, {"waiting": notes.waiting(user)}
                case "DELETE", ["users", user]:
                    notes.delete(user)
                    return 204, None
            return 404, {"error": f"no such path: {url.path}"}

        def do_POST(self) -> None:
            status, reply = self.handle_request()
            content = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_DELETE = do_POST  # noqa: N815 - the same

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    lag, key = float(os.environ.get("MEMORY_LAG", "0")), os.environ.get("MEMORY_KEY", "")
    server = serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8765, Notes(lag), key)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
