"""An endpoint that sends what no working one sends."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Upstream:
    """An endpoint that sends one body with status 200, or echoes its request with another status."""

    def __init__(self, body: Any = None, status: int = 200) -> None:
        self.body, self.status, self.requests = body, status, list[str]()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                got = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                echo = f"{self.path} {dict(self.headers)} {got}"
                upstream.requests.append(echo)
                error = json.dumps({"error": {"message": echo}})
                content = (json.dumps(upstream.body) if upstream.status == 200 else error).encode()
                self.send_response(upstream.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return self.answer
                raise AttributeError(name)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Upstream:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def completed(text: str | None = "ok", usage: Any = None, finish_reason: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text, **more}}
    return {"id": "1", "choices": [choice], **({} if usage is None else {"usage": usage})}
