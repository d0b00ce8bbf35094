"""The file of a baseline: written whole or not at all, read back as it was, refused where it does not fit."""

from __future__ import annotations

import json
from dataclasses import replace

import made_records
import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.records import (
    BaselineRefused,
    Entry,
    anchor_reason,
    check_baseline,
    check_baseline_place,
    differences,
    notes,
    read_anchor,
    read_baseline,
    to_json,
    write_anchor,
    write_baseline,
)

TASKS = {"a": {"data_hash": "a" * 64, "questions": 2}, "b": {"data_hash": "b" * 64, "questions": 1}}


def header(**changes):
    """What a run is of."""
    return made_records.header(**{"tasks": TASKS, **changes})


HEADER = header()
FIRST = Entry("memfail/a::q-1", "a", "a", "q-1", 5, "correct", True, False)
ENTRIES = [
    Entry("memfail/b::s-1::q-3", "b", "s-1", "q-3", 5, "ungraded", None, False),
    Entry("memfail/a::q-2", "a", "a", "q-2", 5, "correct", None, True),
    FIRST,
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "base.jsonl"


def saved(path, header=HEADER, entries=ENTRIES):
    write_baseline(path, header, entries)
    return read_baseline(path)


# -- written and read --------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(path):
    assert write_baseline(path, HEADER, ENTRIES) == 3
    found = read_baseline(path)
    assert list(found.entries.values()) == sorted(ENTRIES, key=lambda entry: entry.key)
    assert found.entries["a", "a", "q-1", 5] == FIRST
    assert found.header == replace(HEADER, extra={"verdicts": 3})
    assert found.protocol == "ours"


def test_a_cluster_is_kept_and_outranks_the_row(path):
    of_row = replace(FIRST, row="facts.json:7 questions.2")
    alone = replace(of_row, question="q-9", cluster="q-9")
    write_baseline(path, HEADER, [of_row, alone])
    assert [json.loads(line).get("cluster") for line in path.read_text().splitlines()[1:]] == [None, "q-9"]
    found = list(read_baseline(path).entries.values())
    assert [entry.cluster_key for entry in found] == [("a", "a", "facts.json:7 questions.2"), ("a", "a", "q-9")]


def test_the_same_verdicts_make_the_same_file_in_whatever_order_they_came(path, tmp_path):
    other = tmp_path / "other.jsonl"
    write_baseline(path, HEADER, ENTRIES)
    write_baseline(other, HEADER, reversed(ENTRIES))
    assert path.read_bytes() == other.read_bytes()


def test_a_line_per_verdict_so_that_a_diff_shows_what_changed(path):
    write_baseline(path, HEADER, ENTRIES)
    before = path.read_text().splitlines()
    write_baseline(path, HEADER, [*ENTRIES[:2], replace(FIRST, verdict="not_stored")])
    after = path.read_text().splitlines()
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_a_write_that_fails_leaves_the_old_one_and_nothing_else(path):
    write_baseline(path, HEADER, ENTRIES)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_baseline(path, replace(HEADER, system_options={("no", "name"): 1}), ENTRIES)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_ids_that_are_no_ascii_survive(path):
    entry = replace(FIRST, id="memfail/a::q-\ud83d-é", question="q-\ud83d-é")
    assert list(saved(path, entries=[entry]).entries.values()) == [entry]


# -- what is no baseline -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline of memfail; make one with --memfail-save-baseline"),
        ("Buy milk.\n", ":1: not a JSON object"),
        ("[1, 2]\n", ":1: not a JSON object"),
        ('{"some": "json"}\n', "not a baseline of memfail"),
        (json.dumps(to_json(HEADER)) + "\n", "a record, expected a baseline; make one with --memfail-save-baseline"),
    ],
)
def test_a_file_that_is_none(path, text, message):
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_baseline(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(path):
    with pytest.raises(UsageError, match="cannot be read as a baseline"):
        read_baseline(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read as a baseline"):
        read_baseline(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-1], "2 of 3 verdicts; the baseline is damaged, save it again"),
        (lambda lines: [*lines[:-1], lines[-2]], ":4: the same question again; the baseline is damaged"),
        (
            lambda lines: [*lines[:-1], lines[-1].replace("ungraded", "corect")],
            ":4: verdict: verdict: got 'corect', expected: 'correct'",
        ),
        (
            lambda lines: [*lines[:-1], lines[-1].replace('"s-1"', "{}")],
            ":4: verdict: store: got {}, expected: a valid string",
        ),
        (
            lambda lines: [lines[0].replace('"k":[5]', '"k":null'), *lines[1:]],
            ":1: baseline: k: got None, expected: a valid",
        ),
        (
            lambda lines: [lines[0].replace("data_hash", "hash"), *lines[1:]],
            ":1: baseline: tasks.a.data_hash: got nothing, expected a value",
        ),
        (lambda lines: [*lines, lines[-1]], "4 of 3 verdicts; the baseline is damaged"),
        (lambda lines: [*lines[:-1], lines[-1][:-9]], ":4: not a JSON object; the baseline is damaged"),
        (
            lambda lines: [*lines[:-1], lines[-1].replace('"k"', '"kk"')],
            ":4: verdict: kk: no such field; did you mean 'k'?; the baseline is damaged, save",
        ),
    ],
)
def test_a_damaged_one(path, damage, message):
    write_baseline(path, HEADER, ENTRIES)
    path.write_text("\n".join(damage(path.read_text().splitlines())) + "\n")
    with pytest.raises(UsageError) as caught:
        read_baseline(path)
    assert message in str(caught.value)
    assert not isinstance(caught.value, BaselineRefused)


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_one_of_another_schema_is_refused(path, version):
    write_baseline(path, replace(HEADER, schema_version=version), ENTRIES)
    with pytest.raises(BaselineRefused, match="schema_version is 1, in the baseline "):
        read_baseline(path)


# -- whether it fits ---------------------------------------------------------------------------------------------------

DIFFERENT = [
    ({"judge": "gpt-5-mini"}, "judge is 'gpt-5-mini', in the baseline 'offline'"),
    ({"protocol": "paper"}, "protocol is 'paper', in the baseline 'ours'"),
    ({"seed": 7}, "seed is 7, in the baseline 42"),
    ({"limit": 10}, "limit is 10, in the baseline no limit"),
    ({"assistant_turns": True}, "assistant_turns is True, in the baseline False"),
    ({"k": [5, 10]}, "k is [5, 10], in the baseline [5]"),
    ({"test_taker": "gpt-5-mini"}, "test_taker is 'gpt-5-mini', in the baseline none"),
    ({"tasks": {"a": {"data_hash": "c" * 64}}}, "data_hash of a is 'cccccccccccc', in the baseline 'aaaaaaaaaaaa'"),
    ({"tasks": {"z": {"data_hash": "c" * 64}}}, "tasks is ['z'], in the baseline ['a', 'b']"),
    ({"judge": "x", "seed": 7}, "judge is 'x', in the baseline 'offline'; seed is 7, in the baseline 42"),
]


@pytest.mark.parametrize(("changes", "message"), DIFFERENT)
def test_a_run_of_something_else_is_refused_by_the_name_of_what_differs(path, changes, message):
    with pytest.raises(BaselineRefused) as caught:
        check_baseline(saved(path), path, header(**changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_run_fits(path):
    check_baseline(saved(path), path, HEADER)


@pytest.mark.parametrize(
    "changes",
    [
        {"system": "other"},
        {"system_options": {"keep": "3"}},
        {"memfail": "9.9"},
        {"tasks": {"a": TASKS["a"]}},
        {"tasks": {**TASKS, "new": {"data_hash": "n" * 64}}},
    ],
)
def test_what_may_differ(path, changes):
    check_baseline(saved(path), path, header(**changes))


@pytest.mark.parametrize(
    ("depends", "refused", "told"),
    [("verdicts", True, []), ("subject", False, ["ink is red, in the baseline blue"]), ("run", False, [])],
)
def test_a_header_says_what_depends_on_its_fields(path, depends, refused, told):
    blue, red = header(ink="blue"), header(ink="red", identity={"ink": depends})
    baseline = saved(path, blue)
    assert notes(baseline, red) == told
    if refused:
        with pytest.raises(BaselineRefused, match="ink is 'red', in the baseline 'blue'"):
            check_baseline(baseline, path, red)
    else:
        check_baseline(baseline, path, red)
    # a run goes on only where nothing differs that identifies it
    assert list(differences(blue, red)) == [("ink", "blue", "red")]


BEFORE_SUITES = [
    '{"type":"baseline","schema_version":1,"memfail":"0.1.0","started":"2026-11-01T10:00:00+00:00","system":"toy",'
    '"system_options":{},"judge":"offline","judge_options":{},"test_taker":null,"model_options":{},"assistant_turns":false,'
    '"protocol":"ours","k":[5],"shown_tokens":null,"approximate_tokens":null,"seed":42,"limit":null,"haystack":"full",'
    '"repeats":1,"vary":null,"shard":null,"data":null,"tasks":{"t":{"data_hash":"a","licence":"MIT","questions":1,'
    '"conversations":3,"left_out":0}},"stores":{"t":1},"verdicts":1}',
    '{"type":"verdict","id":"memfail/t::q","task":"t","store":"t","question":"q","k":5,"verdict":"not_retrieved",'
    '"memory_held":false,"vacuous":false,"row":"t.csv:2"}',
]
"""A baseline as it was saved before there were suites."""


def test_one_from_before_there_were_suites_still_fits(path):
    path.write_text("\n".join(BEFORE_SUITES) + "\n", encoding="utf-8")
    found = read_baseline(path)
    (entry,) = found.entries.values()
    assert (entry.group, entry.cluster_key, entry.verdict) == ("t", ("t", "t", "t.csv:2"), "not_retrieved")
    now = {"tasks": {"t": {"data_hash": "a"}}, "haystack": "full", "repeats": 1}
    check_baseline(found, path, header(**now))
    with pytest.raises(BaselineRefused, match="variant of t"):
        check_baseline(found, path, header(**now | {"tasks": {"t": {"data_hash": "a", "variant": "x"}}}))


def test_the_order_of_k_does_not_matter(path):
    check_baseline(saved(path, header(k=[10, 5])), path, header(k=[5, 10]))


def test_another_model_that_answers_is_what_is_compared(path):
    baseline = saved(path, header(test_taker="one"))
    now = header(test_taker="two")
    check_baseline(baseline, path, now)
    assert notes(baseline, now) == ["test_taker is two, in the baseline one"]


def test_what_differs_is_told(path):
    baseline = saved(path)
    assert notes(baseline, HEADER) == []
    now = header(system="other", system_options={"keep": "3", "size": "2"})
    assert notes(baseline, now) == [
        "system is other, in the baseline toy",
        "system_options is keep=3 size=2, in the baseline none",
    ]


# -- where it may be written -------------------------------------------------------------------------------------------


def test_a_new_file_and_an_old_baseline_are_places(path):
    check_baseline_place(path)
    write_baseline(path, HEADER, ENTRIES)
    check_baseline_place(path)
    path.write_text("")
    check_baseline_place(path)


@pytest.mark.parametrize("text", ["Buy milk.\n", json.dumps(to_json(HEADER)) + "\n", '{"type": "baseline"}\n'])
def test_a_file_of_somebody_else_is_none(path, text):
    path.write_text(text)
    with pytest.raises(UsageError, match=r"is not a baseline of memfail; it is left as it is"):
        check_baseline_place(path)
    assert path.read_text() == text


def test_neither_is_a_folder_nor_a_missing_one(tmp_path):
    with pytest.raises(UsageError, match="expected a file name"):
        check_baseline_place(tmp_path)
    with pytest.raises(UsageError, match="does not exist; create it first"):
        check_baseline_place(tmp_path / "nowhere" / "base.jsonl")


# -- an anchor ---------------------------------------------------------------------------------------------------------


def test_an_anchor_keeps_its_reason_and_those_before(path):
    write_anchor(path, HEADER, ENTRIES, "release 1.2", "2026-01-01")
    assert anchor_reason(read_anchor(path)) == "release 1.2"
    write_anchor(path, HEADER, ENTRIES[:2], "the new summariser forgets dates, and that is agreed", "2026-02-01")
    assert read_anchor(path).header.extra["anchor"] == {
        "reason": "the new summariser forgets dates, and that is agreed",
        "moved": "2026-02-01",
        "before": [{"reason": "release 1.2", "moved": "2026-01-01"}],
    }


def test_a_baseline_is_no_anchor(path):
    write_baseline(path, HEADER, ENTRIES)
    assert anchor_reason(read_baseline(path)) is None
    with pytest.raises(UsageError, match="without a reason, expected an anchor; make one with memfail anchor"):
        read_anchor(path)


def test_no_baseline_is_saved_over_an_anchor(path):
    write_anchor(path, HEADER, ENTRIES, "release 1.2", "2026-01-01")
    with pytest.raises(UsageError, match=r"is an anchor \(release 1\.2\), expected another file"):
        check_baseline_place(path)
