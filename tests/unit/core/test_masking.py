"""Secrets are masked by name, by shape and when known; everything else stays unchanged."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings, strategies as st

from pytest_memfail.core import STAGES, VERDICTS, MemfailError, UsageError, one_line
from pytest_memfail.safety import (
    KNOWN,
    learn_options,
    learn_sent,
    mask_known,
    mask_options,
    mask_text,
    mask_values,
    public,
)
from pytest_memfail.safety.secret_names import secret_strength
from pytest_memfail.safety.secret_shapes import secret_spans
from pytest_memfail.safety.secrets import NO_SECRETS

FEW = settings(max_examples=60, deadline=None, database=None, derandomize=True)


def test_the_words_of_a_record_are_no_secrets():
    assert {*VERDICTS, *STAGES, "answer"} <= NO_SECRETS


@pytest.fixture(autouse=True)
def forgotten():
    """Forget after each test what it made known."""
    before = KNOWN.snapshot()
    yield
    KNOWN.restore(before)


@pytest.mark.parametrize(
    "name",
    "password passwd pwd pw db_pw secret token user_token key api_key apiKey X-Api-Key bearer cookie sas sig signature auth "
    "Authorization AWS_SECRET_ACCESS_KEY AccountKey SharedAccessSignature client_secret PGPASSWORD credentials token_value".split(),
)
def test_names_of_secrets(name):
    assert secret_strength(name)


@pytest.mark.parametrize(
    "name",
    "max_tokens tokens tokenizer token_limit stop_token eos_token primary_key sort_key author keyword monkey password_file "
    "KeyError AuthError path k rate model temperature password_length passage bypass compass host user".split(),
)
def test_names_that_are_not_secret(name):
    assert not secret_strength(name)


OPTIONS = {
    # name, value, what is shown
    "dsn": ("postgres://u:PW-1planted@h/db", "postgres://***@h/db"),
    "url": ("https://u:PW-2planted@h", "https://***@h"),
    "scheme": ("odd+x.y-z://u:PW-3planted@h:1/x", "odd+x.y-z://***@h:1/x"),
    "encoded": ("pg://u:PW%403planted@h", "pg://***@h"),
    "whole": ("postgres%3A%2F%2Fu%3APW-4planted%40h", "postgres%3A%2F%2F***%40h"),
    "slash": ("pg://u:PW/5planted@h/db", "pg://***@h/db"),
    "space": ("pg://u:PW 6planted@h/db", "pg://***@h/db"),
    "lone": ("https://PW-7planted@h/x.git", "https://***@h/x.git"),
    "bare": ("u:PW-8planted@tcp(h:3306)/db", "***@tcp(h:3306)/db"),
    "pw": ("PW-9planted", "***"),
    "bearer": ("PW-10planted", "***"),
    "cookie": ("sid=PW-11planted; a=b", "***"),
    "sas": ("PW-12planted", "***"),
    "conn": ("Server=h;Pwd=PW,13&'planted;Database=d", "Server=h;Pwd=***;Database=d"),
    "libpq": ("host=h password='PW 14planted' user=u", "host=h password='***' user=u"),
    "query": ("https://h/c?sv=2020&sig=PW%2F15planted&se=2", "https://h/c?sv=2020&sig=***&se=2"),
    "nested": ('{"a": [{"password": "PW-16planted"}], "k": 5}', '{"a": [{"password": "***"}], "k": 5}'),
    "extra_headers": ('{"X-Corp": "PW-17planted", "Accept": "a"}', '{"X-Corp": "***", "Accept": "a"}'),
    "random": ("Xk3f9Qm2Lz8Rt5Vw1Bn7", "***"),
    "hexadecimal": ("9f86d081884c7d659a2feaa0c55ad015", "***"),
    "aws": ("wJalrXUtnFEMI/K7MDENG/bPxRfiCY4dKQ8hZ2aB", "***"),
    "vendor": ("sk-planted-words-only", "***"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF", "***"),
}


@pytest.mark.parametrize(("name", "value", "shown"), [(n, *v) for n, v in OPTIONS.items()], ids=OPTIONS)
def test_only_the_secret_of_an_option_is_masked(name, value, shown):
    assert mask_options({name: value}) == {name: shown}


@pytest.mark.parametrize(("name", "value"), [(n, v[0]) for n, v in OPTIONS.items()], ids=OPTIONS)
def test_a_secret_learned_from_an_option_is_masked_in_later_texts(name, value):
    secret = "PW" + value.partition("PW")[2].partition("planted")[0] + "planted" if "planted" in value else value
    secret = {"vendor": value}.get(name, secret)
    learn_options({name: value})
    for told in (f"a memory of {secret}.", f"logged in as x/{secret}/y"):
        assert secret not in mask_known(told)
        assert secret not in one_line(told)
        assert secret not in json.dumps(public({"text": [told], "metadata": {told: 1}}))


@pytest.mark.parametrize(
    "value",
    "0.3 bm25 /home/user/my-project/store_2024 intfloat/multilingual-e5-large-instruct http://localhost:8080/v1 a@b.c wordllama "
    "https://host/path?email=a@b.c 123e4567-e89b-12d3-a456-426614174000 my_collection_v2_2024_11 gpt-5-mini-2025-08-07".split(),
)
def test_harmless_values_stay(value):
    assert mask_options({"option": value}) == {"option": value}


def test_commit_hashes_stay():
    commit = "9f86d081884c7d659a2feaa0c55ad0159f86d081"
    assert mask_options({"revision": commit}) == {"revision": commit}
    assert mask_text(f"the hash is {commit}") == f"the hash is {commit}"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("cannot reach postgres://u:pw@h/db", "cannot reach postgres://***@h/db"),
        ("401 for GET https://h/v1?api-version=2&sig=Ab%2F&x=1", "401 for GET https://h/v1?api-version=2&sig=***&x=1"),
        ("sent Authorization: Bearer abc.def to h", "sent Authorization: *** to h"),
        ("{'authorization': 'Bearer xyz-12', 'accept': 'a'}", "{'authorization': '***', 'accept': 'a'}"),
        ("[(b'x-api-key', b'abcd')]", "[(b'x-api-key', b'***')]"),
        ('body "{\\"password\\": \\"hunter\\"}"', 'body "{\\"password\\": \\"***\\"}"'),
        ("Set-Cookie: a=b; Path=/; HttpOnly", "Set-Cookie: ***"),
        ("Incorrect API key provided: sk-abcd****wxyz.", "Incorrect API key provided: ***."),
        ("mysql --password hunter -v", "mysql --password *** -v"),
        ("<Password>hunter</Password>", "<Password>***</Password>"),
        ("the token Xk3f9Qm2Lz8Rt5Vw1Bn7 is bad", "the token *** is bad"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "***"),
    ],
)
def test_only_the_secret_of_an_error_is_masked(said, shown):
    assert mask_text(said) == shown
    assert str(MemfailError(said)) == shown


@pytest.mark.parametrize(
    "said",
    [
        "KeyError: 'created_at'",
        "invalid token: unexpected end of input",
        "    token = tokens[at]",
        "    ranked = sorted(found, key=lambda key: scores[key])",
        "--memfail-system-option: got 'x', expected KEY=VALUE",
        "memfail/conditional_facts_easy::cfe-011 in /tmp/pytest-of-root/pytest-12/test_abc0/conftest.py:3",
        "sqlite3.OperationalError: no such table: memories_v2_embeddings3",
        "a basic retrieval found no bearer of the name",
    ],
)
def test_an_error_without_a_secret_stays(said):
    assert mask_text(said) == said


def test_a_secret_is_masked_before_a_text_is_cut():
    learn_options({"password": "correct-horse-battery"})
    assert one_line("x" * 50 + " correct-horse-battery", 65) == "x" * 50 + " ***"
    error = ValueError("y" * 50 + " pg://u:never-seen-before@h")
    assert "never" not in one_line(error, 70)


def test_environment_variables_set_late_are_known(monkeypatch):
    assert mask_known("a late-planted-token here") == "a late-planted-token here"
    monkeypatch.setenv("SOME_TOKEN", "late-planted-token")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:late-planted-pw@h")
    assert mask_known("a late-planted-token here, late-planted-pw there") == "a *** here, *** there"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "ollama"),
        ("OPENAI_API_KEY", "none"),
        ("PWD", "/some/where"),
        ("MAX_TOKENS", "12345678"),
        ("X_KEY", "a"),
    ],
)
def test_harmless_environment_variables_stay(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert mask_known(f"memory of {value}") == f"memory of {value}"


def test_a_file_name_is_not_a_secret(monkeypatch, tmp_path):
    monkeypatch.setenv("SERVICE_KEY", str(tmp_path))
    assert mask_known(f"in {tmp_path}") == f"in {tmp_path}"


def test_a_short_secret_is_masked_as_a_word_only():
    learn_options({"password": "pine"})
    assert mask_known("pine, pineapple, pine-tree") == "***, pineapple, ***-tree"


def test_a_word_is_not_learned_from_a_name_that_may_mean_something_else():
    options = {"key": "note", "headers": {"X-Mode": "fast", "X-Tenant": "t-77"}, "api_key": "pine"}
    assert mask_options(options) == {"key": "***", "headers": {"X-Mode": "***", "X-Tenant": "***"}, "api_key": "***"}
    learn_options(options)
    assert mask_known("a note, fast, of t-77 in pine") == "a note, fast, of *** in ***"


def test_a_short_key_of_the_environment_is_known_unless_it_is_a_word(monkeypatch):
    monkeypatch.setenv("SERVICE_PASSWORD", "k3y9")
    assert mask_known("it said k3y9") == "it said ***"


def test_a_sender_s_secrets_are_learned_unless_they_are_words():
    sent = {"Authorization": "ApiKey k3y-77", "Cookie": "a=dark; b=c00kie", "x-lang": "de-DE-1", "token": "rose"}
    assert {"k3y-77", "dark", "c00kie", "rose"} <= learn_sent(sent.items())
    assert learn_sent([("Authorization", ""), ("Cookie", "")]) == frozenset()
    assert mask_known("k3y-77, dark, c00kie, de-DE-1, rose") == "***, dark, ***, de-DE-1, rose"
    assert mask_values("a rose, roses, dark", ["rose", "dark"]) == "a ***, roses, ***"


def test_words_of_the_record_format_are_never_masked():
    learn_options({"password": "correct", "token": "storage", "key": "passed"})
    line = {"verdict": "correct", "decided_by": "storage", "outcome": "passed"}
    assert public(line) == line


def test_memories_keep_what_only_looks_like_a_secret():
    text = "My wifi is password=hunter2, the token is Xk3f9Qm2Lz8Rt5Vw1Bn7, see pg://u:p@h."
    assert mask_known(text) == text
    assert public({"text": text}) == {"text": text}


def test_numbers_that_json_cannot_represent_become_none():
    assert public({"score": float("inf"), "confidence": float("nan"), "k": 5, "p": 0.5}) == {
        "score": None,
        "confidence": None,
        "k": 5,
        "p": 0.5,
    }


def test_a_usage_error_hides_an_option_that_it_quotes():
    assert str(UsageError("--option: got 'password:hunter2', expected KEY=VALUE")).startswith(
        "--option: got 'password:***'"
    )


@given(st.text(max_size=300))
@FEW
def test_any_text_is_masked_and_stays_masked(text):
    masked = mask_text(text)
    assert mask_text(masked) == masked
    spans = secret_spans(text, is_value=True)
    assert all(start < end for start, end in spans)
    assert all(first[1] < second[0] for first, second in itertools.pairwise(spans))


@given(st.text(st.characters(min_codepoint=33, max_codepoint=0x24F), min_size=8, max_size=40), st.text(max_size=60))
@FEW
def test_a_learned_password_is_found_wherever_it_stands(password, around):
    before = KNOWN.snapshot()
    try:
        learn_options({"password": password})
        if KNOWN.snapshot()[0] != before[0]:  # not a filler, as `********`
            assert password not in mask_known(f"{around}{password}{around}").replace("***", "")
    finally:
        KNOWN.restore(before)
