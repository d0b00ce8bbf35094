"""The record of a run: written line by line, read back whole."""

from __future__ import annotations

import json

import pytest
from made_records import header, question

from pytest_memfail.core import (
    Fact,
    Listing,
    Memory,
    Question,
    Reply,
    StageResult,
    Trace,
    UsageError,
    described,
    fact_verdict,
    question_verdict,
)
from pytest_memfail.records import (
    Footer,
    RecordWriter,
    StoreRecord,
    check_writable,
    from_json,
    question_record,
    read_record,
    to_json,
    with_listings,
)

LINES = [
    header(),
    question(id="a", text="ä\n\u2028b", label=None, retrieved=[{"text": "x", "score": 1.5}]),
    Footer(exit_code=0, complete=True),
]


def written(path, lines=LINES):
    writer = RecordWriter(path)
    for line in lines:
        writer.write(line)
    writer.close()
    return path


def test_what_is_written_is_read_back(tmp_path):
    assert list(read_record(written(tmp_path / "run.jsonl"))) == LINES


def test_every_line_is_on_the_disk_before_the_next(tmp_path):
    path = tmp_path / "run.jsonl"
    writer = RecordWriter(path)
    for n, line in enumerate(LINES, 1):
        writer.write(line)
        assert list(read_record(path)) == LINES[:n]
    writer.close()


def test_nothing_written_leaves_no_file(tmp_path):
    RecordWriter(tmp_path / "run.jsonl").close()
    assert list(tmp_path.iterdir()) == []


def test_folders_on_the_way_are_made(tmp_path):
    assert written(tmp_path / "a" / "b" / "run.jsonl").is_file()


def test_a_new_run_replaces_an_old_record(tmp_path):
    path = written(tmp_path / "run.jsonl")
    written(path, LINES[:1])
    assert list(read_record(path)) == LINES[:1]


def test_closing_twice_is_allowed(tmp_path):
    writer = RecordWriter(tmp_path / "run.jsonl")
    writer.write(LINES[0])
    writer.close()
    writer.close()


def test_lone_surrogates_and_control_characters_survive(tmp_path):
    asked = question(text="\ud800 \0 \x1b[31m \r\n \U0001f34e \udfff")
    path = written(tmp_path / "run.jsonl", [LINES[0], asked])
    assert list(read_record(path))[1] == asked
    path.read_bytes().decode("ascii")


def test_a_value_that_is_no_json_is_written_as_text(tmp_path):
    asked = question(retrieved=[{"text": "x", "metadata": {"path": tmp_path}}])
    path = written(tmp_path / "run.jsonl", [LINES[0], asked])
    assert list(read_record(path))[1].retrieved[0].metadata == {"path": str(tmp_path)}


def test_lines_and_fields_of_another_version_are_passed_over(tmp_path):
    known = question(facts=[{}], retrieved=[{"text": "x"}])
    line = to_json(known)
    for part in (line, line["facts"][0], line["facts"][0]["storage"], line["retrieved"][0]):
        part["new"] = {"later": [1]}
    path = written(tmp_path / "run.jsonl")
    with path.open("a") as stream:
        stream.write(json.dumps({"type": "unheard of"}) + "\n" + json.dumps(line) + "\n")
    *_, asked = read_record(path)
    assert asked == known
    assert len(list(read_record(path))) == len(LINES) + 1


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_last_line_cut_short_is_left_out(tmp_path, cut):
    path = written(tmp_path / "run.jsonl")
    path.write_text(path.read_text(encoding="utf-8")[: -1 - cut], encoding="utf-8")
    assert list(read_record(path)) == LINES[:2]


def test_a_last_line_without_its_newline_counts(tmp_path):
    path = written(tmp_path / "run.jsonl")
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    assert list(read_record(path)) == LINES


def test_a_damaged_line_in_the_middle_is_refused_with_its_number(tmp_path):
    path = written(tmp_path / "run.jsonl")
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([lines[0], lines[1][:-3], *lines[2:]]), encoding="utf-8")
    with pytest.raises(UsageError, match=r"run\.jsonl:2: not JSON; the record is damaged"):
        list(read_record(path))


def test_a_line_that_is_no_object_is_refused(tmp_path):
    path = written(tmp_path / "run.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + "[1]\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"run\.jsonl:4: got list, expected a JSON object"):
        list(read_record(path))


FOREIGN = [b"", b"hello\n", b'{"type": "question"}\n', b'{"type": "header"}\n', b"[]\n", b"\xff\xfe\x00", b"5\n"]


@pytest.mark.parametrize("content", FOREIGN, ids=range(len(FOREIGN)))
def test_a_file_that_is_no_record_is_refused_by_the_reader(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"record") as caught:
        list(read_record(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused_by_the_reader(tmp_path):
    with pytest.raises(UsageError, match="cannot be read as a record"):
        list(read_record(tmp_path / "nothing.jsonl"))


@pytest.mark.parametrize("content", FOREIGN[1:], ids=range(1, len(FOREIGN)))
def test_a_foreign_file_is_not_overwritten_and_left_untouched(tmp_path, content):
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a record of memfail; it is left as it is"):
        check_writable(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("exists", [True, False])
def test_a_record_may_be_written_again_and_a_new_one_anew(tmp_path, exists):
    path = tmp_path / "run.jsonl"
    if exists:
        written(path)
    before = sorted(tmp_path.iterdir())
    check_writable(path)
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_file_may_be_written(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    check_writable(path)
    assert path.read_bytes() == b""


def test_a_folder_is_no_record(tmp_path):
    with pytest.raises(UsageError, match="got the folder"):
        check_writable(tmp_path)


def test_a_record_in_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="does not exist; create it first"):
        check_writable(tmp_path / "nowhere" / "run.jsonl")


# -- lines ------------------------------------------------------------------------------------------------------------

EVIDENCE = Fact("e-1", "fact", "Ada bakes.", "Ada bakes when it rains.", "c-1")
QUESTION = Question(
    "q-1",
    "t",
    "Does Ada bake?",
    "Ada",
    ("yes",),
    ("e-1",),
    "open",
    file="/home/me/secret/rows.csv",
    line=7,
    stratum="N=1",
)
MEMORIES = (Memory("first", "1"), Memory("Ada", "2", 0.5, "noon", {"tag": "x"}), Memory("third", "3"))


def asked(storage, summary=None, retrieval=None, shown=MEMORIES[:1], reply=None):
    stages = [stage for stage in (storage, summary, retrieval) if stage is not None]
    fact = described(fact_verdict("e-1", *stages), EVIDENCE, MEMORIES, shown)
    verdict = question_verdict([fact], StageResult("passed"))
    return to_json(
        question_record(
            "memfail/t::q-1",
            "s",
            QUESTION,
            5,
            trace=Trace(QUESTION, 5, shown, reply, {"retrieve": 0.25}),
            verdict=verdict,
            listing=Listing("s", MEMORIES),
        )
    )


def test_a_question_is_plain_json():
    line = asked(StageResult("passed"), StageResult("failed", "lost", (1,), ("Ada",), ("rains",), ("x",), 0.5, "stale"))
    assert json.loads(json.dumps(line)) == line


def test_a_question_says_what_was_asked_and_decided():
    line = asked(StageResult("passed", entries=(1,)), StageResult("failed", "lost", missing=("rains",)))
    assert {name: line[name] for name in ("type", "id", "task", "store", "question", "k", "verdict", "stratum")} == {
        "type": "question",
        "id": "memfail/t::q-1",
        "task": "t",
        "store": "s",
        "question": "q-1",
        "k": 5,
        "verdict": "summary_error",
        "stratum": "N=1",
    }
    (fact,) = line["facts"]
    assert (fact["verdict"], fact["decided_by"], fact["missing"]) == ("summary_error", "summary", ["rains"])
    assert (fact["source"], fact["closest"]) == ("Ada bakes when it rains.", ["Ada"])
    assert line["seconds"] == {"retrieve": 0.25}
    assert line["retrieved"] == [{"text": "first", "id": "1"}]


def test_a_question_names_its_row_without_the_folders_of_the_machine():
    line = asked(StageResult("failed"))
    assert line["row"] == "rows.csv:7"
    assert "secret" not in json.dumps(line)


def test_a_question_gives_the_rank_of_the_entries_relied_on():
    line = asked(
        StageResult("passed"), StageResult("passed", entries=(1, 0)), StageResult("failed"), shown=MEMORIES[::-1][:2]
    )
    assert line["facts"][0]["ranks"] == [2, None]


def test_an_index_out_of_range_of_a_judge_does_no_harm():
    line = asked(StageResult("passed", entries=(99, -1, 2)), StageResult("failed", entries=(99, 2)))
    assert line["facts"][0]["closest"] == ["third"]


def test_a_question_keeps_the_reply():
    assert asked(StageResult("failed"), reply=Reply("No."))["reply"] == "No."
    assert asked(StageResult("failed"))["reply"] is None


def test_an_error_is_a_line_without_a_verdict():
    line = to_json(question_record("id", "s", QUESTION, 5, error=ValueError("a\nb")))
    assert line["verdict"] == "error"
    assert line["error"] == {"type": "ValueError", "message": "a b"}
    assert "facts" not in line


STORE = StoreRecord(
    store="s",
    task="t",
    conversations=3,
    fill_seconds=1.5,
    memories=3,
    tokens=7,
    changed_by_queries=(1, 0),
    system={"version": "1"},
    listings=(),
)


def test_a_store_is_plain_json_with_every_listing():
    found = with_listings(STORE, [Listing("s", MEMORIES[:1]), Listing("s", (*MEMORIES[1:], MEMORIES[0]), 2)])
    line = to_json(found)
    assert json.loads(json.dumps(line)) == line
    assert (line["memories"], line["tokens"], line["changed_by_queries"]) == (3, 7, [1, 0])
    assert line["listings"] == []
    assert [(change["number"], len(change["added"]), change["gone"]) for change in line["history"]] == [
        (0, 1, []),
        (2, 3, [0]),
    ]
    assert line["history"][1]["added"][0] == {
        "text": "Ada",
        "id": "2",
        "score": 0.5,
        "timestamp": "noon",
        "metadata": {"tag": "x"},
    }


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1], [], [0, 0, 2], [2, 1, 0]])
@pytest.mark.parametrize("before", [[], [0], [0, 1], [1, 1, 2]])
def test_each_listing_is_found_again_from_what_changed(before, order):
    listings = [Listing("s", tuple(MEMORIES[i] for i in some), n) for n, some in ((1, before), (3, order))]
    found = with_listings(STORE, listings)
    again = from_json(StoreRecord, to_json(found))
    for listing in listings:
        assert again.by_probe[listing.number] == listing.memories
    assert list(again.by_probe) == [1, 3]


def test_a_record_grows_with_what_is_stored_and_not_with_its_listings():
    many = [Memory(f"memory {i}") for i in range(200)]
    listings = [Listing("s", tuple(many[: 2 * n]), n) for n in range(100)]
    found = with_listings(STORE, listings)
    assert sum(len(change.added) for change in found.history) == 198
    assert sum(len(change.gone) for change in found.history) == 0


def test_a_store_that_was_never_listed_holds_nothing():
    found = with_listings(STORE, [])
    assert (found.listings, found.history) == ((), ())


def test_a_record_is_json_whatever_numbers_a_judge_or_an_older_version_gave(tmp_path):
    fact = {"storage": {"outcome": "passed", "confidence": float("nan")}}
    asked = question(facts=[fact], retrieved=[{"text": "a", "score": 1e999}], answer={"outcome": "passed"}, reply=None)
    path = written(tmp_path / "r.jsonl", [LINES[0], asked])

    def refuse(name):
        raise AssertionError(name)

    for line in path.read_text().splitlines():
        json.loads(line, parse_constant=refuse)
    text = (
        path.read_text().replace('"score":null', '"score":Infinity').replace('"confidence":null', '"confidence":1e999')
    )
    assert text.count("1e999") == text.count("Infinity") == 1
    path.write_text(text)
    (_, found) = read_record(path)
    assert (found.retrieved[0].score, found.facts[0].storage.confidence) == (None, None)
