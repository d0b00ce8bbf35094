"""A judge found by name gets the kinds of the run's suites."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, cast

import pytest

from pytest_memfail.core import (
    AnswerKind,
    Fact,
    Found,
    Kind,
    Listing,
    Memory,
    Question,
    Reply,
    Source,
    StageResult,
    Suite,
    UsageError,
)
from pytest_memfail.finding import NamedJudge, kinds_of
from pytest_memfail.judges import NliModel, weights_in_use

KINDS = {"value": Kind("a", "b", "c", find=lambda fact, _: Found(True, True, f"found {fact.id}"))}
ANSWERS = {"exact": AnswerKind("", lambda *_: StageResult("passed", "graded"), settles=True)}
FACT = Fact("e", "value", "x", "x", "c")
ASKED = Question("q", "t", "x", "x", ("x",), ("e",), "exact")
STORE = Listing("s", (Memory("x"),))


class Judge:
    """Judges nothing; keeps what it was made with."""

    def __init__(self, **given: Any) -> None:
        self.given = given

    def storage(self, *_: Any) -> StageResult:
        return StageResult("ungraded")

    summary = retrieval = answer = storage


def takes_both(kinds, answers):
    return Judge(kinds=kinds, answers=answers)


def takes_kinds(kinds=None):
    return Judge(kinds=kinds)


def takes_none():
    return Judge()


BOTH = {"kinds": KINDS, "answers": ANSWERS}


def named(name, **places):
    return NamedJudge(name, "--memfail-judge", **places)


def test_the_offline_judge_gets_the_kinds():
    judge = named("offline").make("ours", BOTH)
    assert judge.storage(FACT, STORE).reason == "found e"
    assert judge.answer(ASKED, [FACT], Reply("x")).reason == "graded"
    assert not named("offline").make("ours").settles(ASKED)


@pytest.mark.parametrize("name", ["some-model", "offline+some-model"])
def test_a_model_gets_them_alone_and_behind_the_offline_judge(name):
    client = cast("Any", None)
    judge: Any = named(name).make_model("some-model", "ours", client, kinds=BOTH)
    assert judge.settles(ASKED)
    assert not cast("Any", named(name).make_model("some-model", "ours", client)).settles(ASKED)


@pytest.mark.parametrize(
    ("factory", "given"),
    [
        (takes_both, BOTH),
        (takes_kinds, {"kinds": KINDS}),
        (takes_none, {}),
        (Judge, {}),
        (Judge(), {}),
    ],
    ids=["both", "kinds", "none", "any keyword", "an object"],
)
def test_a_judge_of_the_user_gets_what_its_factory_takes(factory, given):
    assert named("mine", hook=lambda: factory).make("ours", BOTH).given == given


def test_a_judge_that_needs_kinds_has_its_name_before_they_are_known():
    assert named("mine", hook=lambda: takes_both).model() is None


# -- a model, or a judge that cannot be found ---------------------------------------------------------------------------


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nope:Nope", "no module named 'nope'"),
        ("no.such.module:Strict_2", "no module named 'no'"),
        ("judges/mine.py:Mine", "the name of a file, expected that of a module: judges.mine:Mine"),
        ("Offline", "unknown judge 'Offline'; did you mean 'offline'"),
        ("ofline+llama3.1:8b", "unknown judge 'ofline\\+llama3.1:8b'. Known: offline"),
        ("NLI:folder", "unknown judge 'NLI:folder'"),
        *(
            (f"offline+{name}", r"got 'offline\+.*', expected offline\+MODEL, .*without offline\+$")
            for name in ("", "nli:folder", "NLI:folder", "offline", "ofline", "offline+m", "nope:Nope", "mine.py:Mine")
        ),
    ],
)
def test_a_judge_that_cannot_be_found_does_not_become_a_model(name, said):
    with pytest.raises(UsageError, match=said):
        named(name).model()


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(
    "name",
    ["m", "llama3.1:8b", "qwen2.5:7b-instruct-q4_K_M", "model:Q4_K_M", "org/name:tag", "mistral:instruct", "phi3"],
)
def test_a_model_is_one_alone_and_behind_the_offline_judge(name):
    assert (named(name).model(), named(f"offline+{name}").model()) == (name, name)


def test_the_tag_of_a_model_is_no_module_where_replies_are_kept(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert named("llama3.1:8b").model(replays=True) == "llama3.1:8b"


@pytest.mark.usefixtures("endpoint")
def test_a_judge_of_the_users_own_comes_before_a_model_of_its_name(tmp_path):
    (tmp_path / "lower_case_judges.py").write_text("from test_judge_names import takes_none as make\n")
    assert named("lower_case_judges:make", rootdir=tmp_path).model() is None
    assert named("some:tag", hook=lambda: takes_none).model() is None


# -- the kinds of suites -----------------------------------------------------------------------------------------------


def suite(name, kinds=None, answers=None):
    source = Source("https://example.org", "MIT", {"one": ("one.json",)})
    return Suite(name, source, lambda _: (), kinds=kinds or {}, answers=answers or {})


def test_judges_know_the_kinds_of_memfail_and_of_the_suites():
    known = kinds_of([suite("first", KINDS), suite("second", KINDS, ANSWERS)])
    assert known["kinds"]["value"] is KINDS["value"]
    assert known["kinds"].keys() == {"rule", "preference", "persona", "link", "fact", "point", "unwanted", "value"}
    assert known["answers"].keys() >= {"yes_no", "open", "exact"}


def test_a_name_stands_for_one_kind():
    other = {"value": Kind("d", "e", "f")}
    with pytest.raises(UsageError, match="the suite 'second' defines 'value', which another suite has as another kind"):
        kinds_of([suite("first", KINDS), suite("second", other)])
    with pytest.raises(UsageError, match="the suite 'first' defines 'open'"):
        kinds_of([suite("first", answers={"open": ANSWERS["exact"]})])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("offline", {"form": "yesno"}, "got form=yesno, expected weights=PATH"),
        ("nli:model", {"weights": "x"}, "got weights=x, expected entailment=LABEL"),
        ("offline+model", {"form": "json"}, "got form=json, expected form=yesno"),
        ("own", {"form": "yesno"}, "got form=yesno, but the judge 'own' takes no options"),
    ],
)
def test_options_that_a_judge_does_not_take_are_refused(name, options, said):
    with pytest.raises(UsageError, match=f"^--memfail-judge-option: {said}"):
        named(name, options=options).check_options()


@pytest.mark.parametrize(("content", "why"), [(None, "No such file or directory"), ("{}", "'heads'")])
def test_weights_that_cannot_be_read_are_refused_in_the_same_words_everywhere(tmp_path, content, why):
    path = tmp_path / "weights.json"
    if content is not None:
        path.write_text(content)
    judge = named("offline", options={"weights": str(path)})
    for ask in (lambda: judge.make("ours"), lambda: judge.weights):
        with pytest.raises(UsageError) as error:
            ask()
        assert str(error.value) == (
            f"--memfail-judge-option: got weights={path} ({why}), expected a file that `memfail judge-check --train` wrote"
        )


def test_a_package_that_the_encoder_lacks_is_an_error_of_the_option(monkeypatch):
    monkeypatch.setattr("pytest_memfail.judges.encoder.encoder.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"^--memfail-judge-option: encoder=on: got no package onnxruntime"):
        named("offline", options={"encoder": "on"}).check_options()


def test_a_local_classifier_without_its_packages_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"id2label": {"0": "entailment", "1": "neutral"}}')
    (tmp_path / "model.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError, match=r"needs onnxruntime: pip install 'pytest-memfail\[nli\]'"):
        named(f"nli:{tmp_path}").model()


def test_an_error_of_a_local_classifier_names_its_option():
    with pytest.raises(UsageError, match=r"^--memfail-judge: nli:/nowhere: no such folder"):
        named("nli:/nowhere").model()


def test_a_local_classifier_is_found_once_for_all_uses(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"id2label": {"0": "entailment", "1": "neutral"}}')
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"")
    for name in ("onnxruntime", "tokenizers"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    found = []
    monkeypatch.setattr(NliModel, "_folder_of", lambda *_: found.append(tmp_path) or tmp_path)
    judge = named("nli:model")
    assert judge.model() is None
    assert judge.make("ours").identity.startswith(f"nli {judge.weights[:10]}")
    assert found == [tmp_path]


def test_the_form_of_the_replies_identifies_the_judge():
    assert named("some-model", options={"form": "yesno"}).weights == "yesno"
    assert named("offline+some-model", options={"form": "yesno"}).weights == f"yesno+{named('offline').weights}"
    assert named("some-model").weights is None


@pytest.mark.parametrize("encoder", ["off", "on"])
def test_the_weights_are_those_that_the_judge_would_load(encoder):
    named = NamedJudge("offline", "--memfail-judge", {"encoder": encoder})
    assert named.weights == weights_in_use(encoder=encoder == "on")
