"""suites/mab/files.py, faults.py: the published layouts, and each fault with its text."""

from __future__ import annotations

import json
import sys

import pytest
from mab_rows import FACTS, row, write

from pytest_memfail.core import Ingest, MemfailError, RowError, SuiteRequest, UnknownNameError, UsageError
from pytest_memfail.suites import suites_in
from pytest_memfail.suites.mab import SUITE
from pytest_memfail.suites.mab.files import FAMILIES, Row, files_in

LONG = "Once upon a time. " * 200


def load(folder, **request):
    return SUITE.load(SuiteRequest(folder, **request))


def faults(folder):
    return [str(fault).partition(": ")[2] for fault in SUITE.faults(folder)]


@pytest.mark.parametrize(
    "name", ["Conflict_Resolution.json", "Conflict_Resolution_6k.json", "Conflict_Resolution-00000-of-00001.jsonl"]
)
@pytest.mark.parametrize("place", [".", "mab", "data", "mab/data"])
def test_a_split_is_found_under_any_of_its_names(tmp_path, name, place):
    folder = tmp_path / place
    folder.mkdir(parents=True, exist_ok=True)
    path = write(folder, row(), name=name)
    assert files_in(tmp_path) == [path]
    (task,) = load(tmp_path)
    assert [(q.id, q.gold) for q in task.questions] == [("sh-no0", ("Ostry",))]


def test_the_folder_tells_the_suite(tmp_path):
    assert SUITE not in suites_in(tmp_path)
    write(tmp_path, row(), name="Conflict_Resolution_6k.json")
    assert suites_in(tmp_path) == [SUITE]


@pytest.mark.parametrize(
    ("source", "task", "part", "question"),
    [
        ("ruler_qa1_197K", "mab_retrieval", "ruler_qa1", "qa1-no0"),
        ("ruler_qa2_421K", "mab_retrieval", "ruler_qa2", "qa2-no0"),
        ("longmemeval_s*", "mab_retrieval", "longmemeval", "lme-no0"),
        ("eventqa_full", "mab_retrieval", "eventqa_full", "event-no0"),
        ("eventqa_65536", "mab_retrieval", "eventqa_65536", "event-no0"),
        ("icl_banking77_5900shot_balance", "mab_learning", "banking77", "icl-no0"),
        ("icl_clinic150_7050shot_balance", "mab_learning", "clinic150", "icl-no0"),
        ("icl_nlu_8296shot_balance", "mab_learning", "nlu", "icl-no0"),
        ("icl_trec_coarse_6600shot_balance", "mab_learning", "trec_coarse", "icl-no0"),
        ("icl_trec_fine_6400shot_balance", "mab_learning", "trec_fine", "icl-no0"),
        ("recsys_redial_full", "mab_learning", "recommendation", "rec-no0"),
        ("infbench_sum_eng_shots2", "mab_understanding", "summary", "sum-no0"),
        ("detective_qa", "mab_understanding", "detective", "det-no0"),
        ("factconsolidation_sh_262k", "mab_forgetting", "sh_262k", "sh-no0"),
        ("factconsolidation_mh_32k", "mab_forgetting", "mh_32k", "mh-no0"),
    ],
)
def test_published_sources(source, task, part, question):
    found = Row.model_validate(row(source))
    assert (found.family.task, found.part, found.question_ids()) == (task, part, [question])
    assert part in [known.name for known in SUITE.parts[task]]


def test_every_family_has_a_kind_of_answer():
    assert {family.answer for family in FAMILIES} == set(SUITE.answers)


def test_rows_of_the_papers_table_run_by_default(tmp_path):
    write(tmp_path, row(), row("factconsolidation_sh_262k"))
    (task,) = load(tmp_path)
    assert ([q.part for q in task.questions], task.variant) == (["sh_262k"], "main")
    (task,) = load(tmp_path, variant="all")
    assert [q.part for q in task.questions] == ["sh_6k", "sh_262k"]


def test_other_rows_run_where_the_papers_are_missing(tmp_path):
    write(tmp_path, row())
    (task,) = load(tmp_path)
    assert ([q.part for q in task.questions], task.variant) == (["sh_6k"], "all")


def test_splits_that_are_missing_are_left_out(tmp_path):
    write(tmp_path, row("ruler_qa1_197K"), name="Accurate_Retrieval.json")
    write(tmp_path, row())
    assert [task.name for task in load(tmp_path, variant="all")] == ["mab_retrieval", "mab_forgetting"]


def test_a_row_of_two_files_counts_once(tmp_path):
    write(tmp_path, row())
    write(tmp_path, row(), name="Conflict_Resolution_6k.json")
    (task,) = load(tmp_path)
    assert len(task.questions) == 1
    assert any("the same row again" in fault for fault in faults(tmp_path))


def test_no_file(tmp_path):
    with pytest.raises(UsageError, match=r"no file of mab in .*expected Accurate_Retrieval\*\.json, .*huggingface"):
        load(tmp_path)
    with pytest.raises(UsageError, match=r"no file of mab in .*; expected one of"):
        list(SUITE.faults(tmp_path))
    with pytest.raises(UsageError, match="no file of mab without --memfail-data DIR"):
        SUITE.load(SuiteRequest(None, "all"))


def test_unknown_variant_and_layout(tmp_path):
    write(tmp_path, row())
    with pytest.raises(UnknownNameError, match=r"alle.*did you mean 'all'"):
        load(tmp_path, variant="alle")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"answers": []}, "got 0, expected 1, one for each question"),
        ({"questions": []}, "questions: "),
        (
            {"metadata": {"source": "factconsolidation_sh_6k", "qa_pair_ids": ["a", "b"]}},
            "got 2, expected 1, one for each",
        ),
        ({"metadata": {}}, "metadata.source: got nothing, expected a value"),
        ({"context": "No number here."}, "got no numbered fact"),
        ({"context": f"{FACTS}\nHi \ud83d"}, "context: got half a character"),
        ({"context": FACTS.replace("\n4. ", "\n9. ")}, "got the fact 9, expected 4: facts are numbered without gaps"),
    ],
)
def test_errors(tmp_path, change, problem):
    write(tmp_path, {**row(), **change})
    with pytest.raises(RowError) as error:
        load(tmp_path)
    assert problem in str(error.value)
    assert "Conflict_Resolution.json:2" in str(error.value)
    assert [fault for fault in faults(tmp_path) if fault.startswith("error: row 0") and problem in fault]


def test_warnings(tmp_path):
    asked = (
        ("What is the capital of Selm?", ["Varda"]),
        ("Who is the author of A Long Walk?", ["Ulla Brandt"]),
        ("What is the sport of Selm?", ["chess"]),
    )
    write(
        tmp_path,
        row(asked=asked),
        row("factconsolidation_mh_6k", asked=[("Who?", ["no one"])] * 2, qa_pair_ids=["x", "x"]),
        row("recsys_redial_full", LONG),
        row("something_new", LONG),
        row("ruler_qa1_197K", LONG, [("When?", ["10"])]),
        row("infbench_sum_eng_shots2", LONG, [("Sum it up.", []), ("Shorter.", [" "])]),
    )
    assert faults(tmp_path) == [
        "warning: row 0 (factconsolidation_sh_6k): context: has 361 characters; a context below 2000 is easily kept whole",
        "warning: row 0 (factconsolidation_sh_6k): questions: 1 of 3 have no conflicting fact in the context: sh-no1",
        "warning: row 0 (factconsolidation_sh_6k): questions: 1 of 3 have a gold answer that is not the value with the "
        "highest number: sh-no0",
        "warning: row 0 (factconsolidation_sh_6k): questions: 1 of 3 have a gold answer that is the value of no fact that fits; "
        "their memory is not judged: sh-no2",
        "warning: row 1 (factconsolidation_mh_6k): context: has 361 characters; a context below 2000 is easily kept whole",
        "warning: row 1 (factconsolidation_mh_6k): metadata.qa_pair_ids: not unique: x",
        "warning: row 1 (factconsolidation_mh_6k): questions: 2 of 2 have a gold answer that is the value of no fact that fits; "
        "their memory is not judged: mh-x, mh-x-2",
        "warning: row 2 (recsys_redial_full): metadata.source: 'recsys_redial_full' is left out: there is no "
        "entity2id.json beside the file",
        "warning: row 3 (something_new): metadata.source: 'something_new' is left out: the source is not known",
        "warning: row 4 (ruler_qa1_197K): answers: 1 gold answers are so short that nearly any answer contains them: qa1-no0",
        "warning: row 5 (infbench_sum_eng_shots2): metadata.keypoints: got nothing, expected the key points of the text; "
        "its summary is not scored",
        "warning: row 5 (infbench_sum_eng_shots2): answers: 2 have no gold answer, so no answer can be right: sum-no0, "
        "sum-no1",
    ]


def test_evidence_that_the_context_lacks_is_a_warning(tmp_path):
    chat = f"{LONG} user: I keep a parrot called Odero."
    sessions = [
        [[{"role": "user", "content": text, "has_answer": True}]] for text in ("I keep a parrot.", "My kayak is red.")
    ]
    write(
        tmp_path,
        row("ruler_qa1_197K", LONG, [("When?", ["upon a time"]), ("Where?", ["in Varda", "Ostry"])]),
        row("longmemeval_s*", chat, [("Pet?", ["a parrot"]), ("Boat?", ["a kayak"])], haystack_sessions=sessions),
    )
    assert faults(tmp_path) == [
        "warning: row 0 (ruler_qa1_197K): answers: 1 are not in the context; their memory is not judged: qa1-no1",
        "warning: row 1 (longmemeval_s*): metadata.haystack_sessions: 1 have a turn with the answer that is not in the context; "
        "their memory is not judged by it: lme-no1",
    ]


def test_recommendation_needs_the_table_of_titles(tmp_path):
    film = row("recsys_redial_full", LONG, [("User: Hello.", ["7", " 9,7 "])])
    write(tmp_path, film, name="Test_Time_Learning.json")
    with pytest.raises(
        UsageError, match=r"no row of a source that is run; movie recommendation is left out: .*entity2id"
    ):
        load(tmp_path)
    write(tmp_path, row())
    (task,) = load(tmp_path, variant="all")
    assert task.note == "movie recommendation is left out: its files have no entity2id.json beside them"
    (tmp_path / "entity2id.json").write_text('{"Odero (1998)": 7, "<http://pages.example/The_Salt-Road>": 9}')
    task, _ = load(tmp_path, variant="all")
    assert ([q.gold for q in task.questions], task.note) == ([("Odero", "The Salt Road", "Odero")], "")
    assert not [fault for fault in faults(tmp_path) if "left out" in fault]


@pytest.mark.parametrize(
    ("golds", "problem"), [(["8"], "got the id 8, expected one of entity2id.json"), (["x"], "got ['x'], expected ids")]
)
def test_an_id_without_a_title(tmp_path, golds, problem):
    (tmp_path / "entity2id.json").write_text('{"Odero": 7}')
    write(tmp_path, row("recsys_redial_full", LONG, [("User: Hello.", golds)]), name="Test_Time_Learning.json")
    with pytest.raises(RowError) as error:
        load(tmp_path)
    assert f"answers.0: {problem}" in str(error.value)


@pytest.mark.parametrize("text", ["[]", "{}", '{"Odero": "7"}', "{"])
def test_a_table_that_is_none(tmp_path, text):
    (tmp_path / "entity2id.json").write_text(text)
    write(tmp_path, row())
    with pytest.raises(UsageError, match=r"entity2id.json: .*expected an object of titles and their ids"):
        load(tmp_path)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "Conflict_Resolution-00000-of-00001.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"needs pyarrow: pip install 'pytest-memfail\[parquet\]', or give .*\.json$"):
        load(tmp_path)


def test_parquet_has_the_same_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "json").mkdir()
    write(tmp_path / "json", row(), row("factconsolidation_mh_6k"))
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "Conflict_Resolution-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row(), row("factconsolidation_mh_6k")]), path)
    (ours,), (theirs,) = load(tmp_path / "json"), load(tmp_path)
    assert [(q.id, q.text, q.gold) for q in ours.questions] == [(q.id, q.text, q.gold) for q in theirs.questions]
    assert ours.evidence == theirs.evidence
    assert len(theirs.data_hash) == 64
    broken = {**row(), "answers": []}
    parquet.write_table(pyarrow.Table.from_pylist([row(), broken]), path)
    with pytest.raises(RowError, match=r"parquet:2: row 1: answers: got 0, expected 1"):
        load(tmp_path)
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(UsageError, match="cannot be read as parquet"):
        load(tmp_path)


def test_json_is_read_where_a_split_has_both(tmp_path):
    path = write(tmp_path, row())
    (tmp_path / "Conflict_Resolution.parquet").write_bytes(b"PAR1")
    assert files_in(tmp_path) == [path]


def parquet(path, rows):
    pytest.importorskip("pyarrow")
    from pyarrow import Table
    from pyarrow.parquet import write_table

    write_table(Table.from_pylist(rows), path)


OTHER = row("factconsolidation_sh_32k", FACTS.replace("Varda", "Öderzo \U0001f9a2"))


def saved(tmp_path, kind):
    """Write two rows with texts of their own in one of the formats, and return the file."""
    path = tmp_path / f"Conflict_Resolution.{kind.removeprefix('bom-')}"
    if kind == "parquet":
        parquet(path, [OTHER, row()])
    else:
        lines = [json.dumps(one, ensure_ascii=False) for one in (OTHER, row())]
        text = "\n\n".join(lines) if kind == "jsonl" else f"[ {lines[0]},\n{lines[1]}\n]"
        path.write_text(text, encoding="utf-8-sig" if kind == "bom-json" else "utf-8")
    return path


@pytest.mark.parametrize("kind", ["json", "bom-json", "jsonl", "parquet"])
def test_texts_are_read_only_when_a_store_is_opened(tmp_path, kind):
    saved(tmp_path, kind)
    (task,) = load(tmp_path, variant="all")
    for store, context in zip(task.stores, (OTHER["context"], FACTS), strict=True):
        assert not any(step.conversation.messages for step in store.steps if isinstance(step, Ingest))
        assert "\n".join(conversation.text for conversation in store.read_conversations()) == context
        assert (store.size, store.characters) == (len(store.read_conversations()), len(context))
        assert store.opened().opens is None


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("how", ["shorter", "another text", "gone"])
def test_a_file_that_changed_meanwhile(tmp_path, kind, how):
    path = saved(tmp_path, kind)
    (task,) = load(tmp_path, variant="all")
    if how == "gone":
        path.unlink()
    elif kind == "parquet":
        parquet(path, [OTHER] if how == "shorter" else [OTHER, OTHER])
    else:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if how == "shorter" else content.replace(b"Ulla", b"Olla"))
    with pytest.raises(MemfailError, match=r"has changed since it was read; start the run again|cannot be read"):
        task.stores[1].opened()


@pytest.mark.parametrize(
    "metadata",
    [
        {"qa_pair_ids": [7]},
        {"keypoints": [["a", "b"], ["c"]]},
        {"keypoints": "a"},
        {"haystack_sessions": "[]"},
        {"haystack_sessions": [[[{"content": None, "role": "user", "has_answer": None}]]]},
        {"question_types": [None], "question_dates": [None], "question_ids": [None], "previous_events": ["e"]},
    ],
)
def test_metadata_that_is_written_otherwise(tmp_path, metadata):
    write(tmp_path, row(**metadata))
    (task,) = load(tmp_path)
    assert len(task.questions) == 1
