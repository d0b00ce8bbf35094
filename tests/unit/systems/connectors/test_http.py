"""Kind `http`: the example service over loopback, and what each fault becomes."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import json
import socket
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_memfail.core import MemorySystemError, UsageError, WrongTypeError
from pytest_memfail.safety import mask_known
from pytest_memfail.systems import yaml_system
from pytest_memfail.testing import ContractError, check_memory_system

EXAMPLES = Path(__file__).parents[4] / "examples" / "connectors"
KEY = "quiet-harbour-5521"


@pytest.fixture(scope="module")
def service():
    spec = importlib.util.spec_from_file_location("service", EXAMPLES / "service.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def serve(service, monkeypatch):
    """`serve(notes, key)` returns the text of the example's YAML for a running service."""
    servers = []

    def start(notes=None, key=KEY):
        monkeypatch.setenv("MEMORY_KEY", KEY)
        server = service.serve(0, notes or service.Notes(), key)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        text = (EXAMPLES / "notes_service.yaml").read_text()
        return text.replace(":8765", f":{server.server_port}")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_example_keeps_the_contract(serve, describe):
    report = check_memory_system(yaml_system(describe(serve())), checks="[!l]*,listing")
    assert report.outcome("forgetting") == "passed"


def test_stores_are_apart_and_removed_at_the_end(service, serve, use, talk):
    notes = service.Notes()
    text = serve(notes)

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue.", "The car is red."))
        return await system.retrieve_memories("Which boat?", talk("q"), 5), dict(notes._notes)

    found, users = use(text, work)
    assert [(entry["text"], entry["score"]) for entry in found] == [("The boat is blue.", 1)]
    assert found[0]["timestamp"] == "2026-03-02T12:00:00+00:00"
    _, others = use(text, work)
    assert len(users) == len(others) == 1
    assert not set(users) & set(others), "a service may keep the stores of earlier runs"
    assert notes._notes == {}


def test_a_file_without_the_store_in_its_calls_is_told_to_put_it_there(serve, describe):
    path = describe(serve().replace("{store}", "all").replace("close:", "# close:"))
    with pytest.raises(
        ContractError, match=r"expected\s+only\s+its\s+own:\s+put\s+\{store\}\s+\(or\s+\{folder\}\)\s+into\s+every"
    ):
        check_memory_system(yaml_system(path), checks="isolation")


def test_all_pages_are_read_and_one_alone_is_no_listing(serve, use, talk):
    async def work(system):
        await system.store_conversation(talk("a", *(f"Fact {i}." for i in range(25))))
        return [entry["text"] for entry in await system.get_all_memories()]

    assert use(serve(), work) == [f"Fact {i}." for i in range(25)]
    numbered = serve().replace('{after: "{cursor}"}', '{after: "{offset}"}').replace("cursor: next", "size: 10")
    assert use(numbered, work) == [f"Fact {i}." for i in range(25)]
    stuck = serve().replace('{after: "{cursor}"}', "{after: 0}").replace("cursor: next", "size: 10")
    with pytest.raises(MemorySystemError, match="list: the same page came twice; expected the next one"):
        use(stuck, work)


FAULTS = {
    "status": (
        "path: /search",
        "path: /find",
        r"^search: POST http://127.0.0.1:\d+/users/\{store\}/find answered 404: \{.error.: .no such path.*2xx$",
    ),
    "schema": (
        "pick: results",
        "pick: memories",
        r"the pick 'memories' finds None in \{'results': \[\{'id'.*list of mem",
    ),
    "entry": (
        "pick: results",
        "pick: {entries: results, text: body}",
        r"`text: body` finds None in the entry 0, \{'id'",
    ),
    "timeout": (
        "calls_model: false",
        "timeout: 0.000001",
        r"^write: POST http:\S+/messages had no answer within 1e-06 s; ",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_an_error_of_one_line(serve, use, talk, fault):
    old, new, message = FAULTS[fault]

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))
        await system.retrieve_memories("Which boat?", talk("q"), 5)

    with pytest.raises((MemorySystemError, WrongTypeError), match=message) as caught:
        use(serve().replace(old, new).replace("close:", "# close:"), work)
    assert "\n" not in str(caught.value)


def test_a_service_that_is_not_there_and_one_that_hangs_up(use, talk, monkeypatch):
    monkeypatch.setenv("MEMORY_KEY", KEY)
    text = (EXAMPLES / "notes_service.yaml").read_text().replace("close:", "# close:")

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        place = f":{listening.getsockname()[1]}"
        with pytest.raises(
            MemorySystemError, match=r"write: POST \S+/messages failed: ConnectError: .*see whether the serv"
        ):
            use(text.replace(":8765", place), work)
        listening.listen()

        def hang_up():
            connection, _ = listening.accept()
            connection.recv(10)
            connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        with pytest.raises(
            MemorySystemError, match=r"write: POST \S+/messages failed: (ReadError|RemoteProtocolError)"
        ):
            use(text.replace(":8765", place), work)


def test_a_refused_key_reaches_no_output(serve, use, talk):
    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))

    with pytest.raises(MemorySystemError, match=r"^write: POST \S+/messages answered 401") as caught:
        use(serve(key="another").replace("close:", "# close:"), work)
    with pytest.raises(MemorySystemError, match=r"^close: DELETE http://\S+/users/\{store\} answered 401"):
        use(serve(key="another"), work)
    assert KEY not in str(caught.value)
    assert mask_known(f"it was {KEY}") == "it was ***"


def test_a_missing_key_is_seen_before_anything_is_sent(describe, monkeypatch):
    monkeypatch.delenv("MEMORY_KEY", raising=False)
    text = (EXAMPLES / "notes_service.yaml").read_text()
    with pytest.raises(UsageError, match="headers: the environment variable 'MEMORY_KEY' is not set"):
        yaml_system(describe(text))


PICKS = {
    "[]": "search: {path: /s, pick: 'a['}",
    "unknown": "search: {path: /s, pick: {entry: results}}",
    "paging": "search: {path: /s, pages: {}}",
    "variable": "search: {path: '/{question}'}",
}
ERRORS = {
    "[]": r"search\.pick\.entries: got 'a\[', expected a JMESPath",
    "unknown": r"search\.pick\.entry: unknown key; did you mean 'entries'",
    "paging": r"search\.pages: got \{\}, expected one of `cursor` and `size`",
    "variable": r"unknown variable in .*: search 'question'",
}


@pytest.mark.parametrize("case", PICKS)
def test_mistakes_in_calls_are_seen_before_anything_is_sent(describe, case):
    text = f"kind: http\nurl: http://127.0.0.1:1\nwrite: {{path: /w}}\nlist: {{path: /l}}\n{PICKS[case]}"
    with pytest.raises(UsageError, match=ERRORS[case]):
        yaml_system(describe(text))


def test_what_is_sent_keeps_its_types(service, use, talk):
    seen = []

    class Recorder(service.Notes):
        def add(self, user, messages, when):
            seen.append(json.loads(json.dumps([messages, when])))

    server = service.serve(0, Recorder())
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    text = (
        f"kind: http\nurl: http://127.0.0.1:{server.server_port}/users/a\neach: message\n"
        "write: {path: /messages, body: {messages: '{messages}', time: 'at {time} by {role}: {{{content}}}'}}\n"
        "search: {}\nlist: {}\n"
    )

    async def work(system):
        await system.store_conversation(talk("a", "One.", " ", "Two."))

    try:
        use(text, work)
    finally:
        server.shutdown()
        server.server_close()
    assert seen == [
        [[{"role": "user", "content": text}], f"at 2026-03-02T12:00:00+00:00 by user: {{{text}}}"]
        for text in ("One.", "Two.")
    ]


@pytest.fixture
def answering():
    """`answering(work)` returns the text of a YAML file for a service that answers with `work(handler)`."""
    servers = []

    def start(work):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                self.send_response(200)
                work(self)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"kind: http\nurl: http://127.0.0.1:{server.server_port}\nwrite: {{}}\nsearch: {{}}\nlist: {{}}\ntimeout: 20\n"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def body(content, encoding):
    def send(handler):
        handler.send_header("Content-Encoding", encoding)
        handler.end_headers()
        with contextlib.suppress(OSError):
            handler.wfile.write(content)

    return send


LONG = b'["' + b"x" * (2 << 20) + b'"]'


@pytest.mark.parametrize(
    ("content", "encoding", "said"),
    [
        (gzip.compress(LONG), "gzip", "more than 1 MiB; expected less"),
        (zlib.compress(LONG), "deflate", "more than 1 MiB; expected less"),
        (LONG, "identity", "more than 1 MiB; expected less"),
        (b"[]", "br", "the encoding 'br'; expected gzip or deflate"),
        (b"[]", "gzip", "a body that is not gzip, as its header says"),
    ],
)
def test_a_body_is_read_up_to_a_limit(answering, use, monkeypatch, content, encoding, said):
    monkeypatch.setattr("pytest_memfail.systems.connectors.http_service.REPLY_LIMIT", 1 << 20)
    with pytest.raises(MemorySystemError, match=rf"^list: POST \S+ answered with {said}"):
        use(answering(body(content, encoding)), lambda system: system.get_all_memories())


def test_a_body_that_is_compressed_is_unpacked(answering, use):
    assert (
        use(answering(body(gzip.compress(b'["a"]'), "gzip")), lambda system: system.get_all_memories())[0]["text"]
        == "a"
    )


def test_the_time_limit_is_that_of_the_whole_answer(answering, use):
    def trickle(handler):
        handler.end_headers()
        with contextlib.suppress(OSError):
            while True:  # until the client goes
                handler.wfile.write(b" ")
                time.sleep(0.02)

    with pytest.raises(MemorySystemError, match=r"^list: POST \S+ had no answer within 0\.3 s"):
        use(answering(trickle).replace("timeout: 20", "timeout: 0.3"), lambda system: system.get_all_memories())
