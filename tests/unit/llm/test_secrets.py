"""No key or password appears in a message, a repr, a log, a traceback, a cache or the ledger."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest
from llm_asker import KEY, Asker, good, run

from pytest_memfail.core import UsageError
from pytest_memfail.llm import AuthError, Ledger, ModelCallError, ModelClient, ResponseCache
from pytest_memfail.testing import Fault, LocalEndpoint

PASSWORD = "pa55word-of-the-gateway"
SECRETS = (KEY, PASSWORD, KEY[3:], "bWU6cGE1NXdvcmQ")  # the last begins the Basic login of me:PASSWORD


def assert_clean(text: str) -> None:
    assert [secret for secret in SECRETS if secret in text] == []


def everything_said(error: BaseException) -> str:
    """Return what a test runner may show of an error: message, repr, chain, and the values of local variables."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    # the frames of these tests contain the secrets that they plant
    shown.stack = traceback.StackSummary.from_list([f for f in shown.stack if "tests" not in Path(f.filename).parts])
    return "\n".join([str(error), repr(error), *shown.format()])


FAULTS = {
    "wrong key": Fault("wrong_key", every=1),
    "401": Fault(status=401, every=1),
    "echo": Fault(status=400, code=KEY, every=1),
    "429": Fault(status=429, every=1),
    "500": Fault(status=500, every=1),
    "dropped": Fault("drop", every=1),
    "HTML": Fault("bad_body", every=1),
    "empty": Fault("empty", every=1),
    "hang": Fault("hang", every=1),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("login", ["", f"me:{PASSWORD}@"], ids=["key", "password"])
def test_no_secret_in_errors_and_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: Fault, login: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with LocalEndpoint(answer=good, faults=[fault]) as endpoint:
        url = endpoint.url.replace("//", f"//{login}")
        cache, ledger = ResponseCache(tmp_path / "cache"), Ledger(tmp_path / "ledger")
        asker = Asker(url, max_retries=0, cache=cache, ledger=ledger, timeout_seconds=0.3)
        with pytest.raises(ModelCallError) as caught:
            run(asker, asker.ask)
    assert_clean(everything_said(caught.value))
    assert_clean(repr(asker.client) + asker.client.endpoint + repr(asker.client._address))
    assert_clean(caplog.text)
    assert_clean("".join(f"{record.msg} {record.args}" for record in caplog.records))


def test_no_secret_in_the_files(tmp_path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        url = endpoint.url.replace("//", f"//me:{PASSWORD}@")
        cache, ledger = ResponseCache(tmp_path / "cache"), Ledger(tmp_path / "ledger")
        asker = Asker(url, cache=cache, ledger=ledger)
        run(asker, asker.ask)
    for file in tmp_path.iterdir():
        assert_clean(file.read_bytes().decode("latin-1"))


def test_the_login_of_the_url_is_sent() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("wrong_key")]) as endpoint:
        asker = Asker(endpoint.url.replace("//", f"//me:{PASSWORD}@"))
        with pytest.raises(AuthError, match=r"Incorrect API key provided: Basic \*\*\*"):
            run(asker, asker.ask)


@pytest.mark.parametrize("key", [KEY + "\nX-Injected: 1", KEY + "é", KEY + "\0"])
def test_a_key_no_header_can_carry_is_an_error_without_it(key: str) -> None:
    asker = Asker("http://127.0.0.1:9/v1", api_key=key, max_retries=0)
    with pytest.raises(AuthError, match="check OPENAI_API_KEY") as caught:
        run(asker, asker.ask)
    assert_clean(everything_said(caught.value))


@pytest.mark.parametrize("url", [f"htp://me:{PASSWORD}@host/v1", f"http://host/v1?key={KEY}"])
def test_a_refused_base_url_is_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        ModelClient(ledger=Ledger(), base_url=url)
    assert_clean(str(caught.value))
