"""`python -m pytest_memfail.testing`: run a local model endpoint that answers by rule, until it is stopped.

It answers the judge, the test-taker, `memfail generate meme` and the requests of the adapted memory systems. Its
embeddings are hashed bags of words, or those of a package.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from pytest_memfail.testing import LocalEndpoint, reply_by_rule
from pytest_memfail.testing.embeddings import of_words, package_vectors


def main() -> int:
    """Serve until SIGINT or SIGTERM; return 4 if the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m pytest_memfail.testing", description=__doc__)
    parser.add_argument("--port", type=int, default=8901, help="0 takes a free one (default: %(default)s)")
    parser.add_argument(
        "--embeddings",
        choices=("words", "wordllama"),
        default="words",
        help="vectors: hashed words, or those of the package wordllama (default: %(default)s)",
    )
    options = parser.parse_args()
    stop = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: stop.set())
    vectors = package_vectors if options.embeddings == "wordllama" else of_words
    endpoint = LocalEndpoint(answer=reply_by_rule, port=options.port, vectors=vectors)
    try:
        endpoint.start()
    except OSError as error:
        print(f"--port: cannot listen on {options.port}: {error.strerror}; choose another", file=sys.stderr)
        return 4
    print(f"OPENAI_BASE_URL={endpoint.url} OPENAI_API_KEY=none", flush=True)
    stop.wait()
    endpoint.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
