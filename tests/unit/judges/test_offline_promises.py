"""What the offline judge guarantees for any weights."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
from facts_judged import (
    QUESTION,
    TOLD,
    Told,
    claimed,
    in_stores,
    listing,
    of_each,
    persona,
    point,
    rule,
    state,
    verdict,
)

from pytest_memfail.core import UNSURE, Fact, Listing, Question, Reply, StageResult, UsageError
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.offline.model import corrected_model, weights_in_use

HERE = Path(__file__).parent
LETTER = replace(QUESTION, kind="multiple_choice", letter="B")
KINDS = {told.evidence.kind: told.evidence for told in TOLD}
RULE = KINDS["rule"]
KETTLE = rule(
    "Quillon",
    "polishes the copper kettle",
    "only after 9pm",
    "Quillon hums. Quillon polishes the copper kettle only after 9pm.",
)
every_kind = pytest.mark.parametrize("evidence", KINDS.values(), ids=KINDS)
every_store = of_each(in_stores())


def stages(evidence: Fact, entries: tuple[str, ...], judge: OfflineJudge | None = None) -> list[StageResult]:
    """Return the results of all stages, with everything stored shown."""
    judge, store = judge or OfflineJudge(), listing(*entries)
    return [
        judge.storage(evidence, store),
        judge.summary(evidence, store),
        judge.retrieval(evidence, QUESTION, store.memories),
    ]


# -- nothing there ---------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "x " * 10_000,
        "a" * 100_000,
        "\x00\x01\xff" * 100,
        "\ud800\udfff lone",
        "שלום עולם. مرحبا بالعالم",
        "…—’" * 500,
    ],
    ids=["empty", "blank", "words", "one-word", "binary", "surrogates", "right-to-left", "signs"],
)
def test_any_text_is_a_store_without_the_fact(evidence: Fact, text: str) -> None:
    for result in stages(evidence, (text,)):
        assert result.outcome == ("ungraded" if text.startswith("שלום") else "failed")  # it may say the fact
        assert result.reason


@every_kind
def test_an_empty_store_fails(evidence: Fact) -> None:
    judge = OfflineJudge()
    assert judge.storage(evidence, listing()).outcome == "failed"
    assert judge.summary(evidence, listing()).outcome == "failed"


@every_kind
def test_nothing_shown_fails(evidence: Fact) -> None:
    judge, store = OfflineJudge(), listing(evidence.source)
    assert judge.summary(evidence, store).outcome == "passed"
    assert judge.retrieval(evidence, QUESTION, []) == StageResult("failed", "no memory was shown", confidence=1.0)


@cache
def many_entries() -> tuple[OfflineJudge, Listing]:
    """Return a judge and ten thousand entries followed by sources of all kinds."""
    others = [f"Entry {i}: the lift of building {i % 97} was serviced on day {i}." for i in range(10_000)]
    return OfflineJudge(), listing(*others, *(evidence.source for evidence in KINDS.values()))


@every_kind
def test_the_source_is_found_among_ten_thousand_entries(evidence: Fact) -> None:
    judge, store = many_entries()
    assert judge.storage(evidence, store).outcome == "passed"
    assert judge.summary(evidence, store).outcome == "passed"
    assert store.memories[judge.storage(evidence, store).entries[0]].text == evidence.source


# -- the form of a result ----------------------------------------------------------------------------------------------


@every_store
def test_a_reason_is_one_line_and_a_confidence_a_probability(told: Told, entries: tuple[str, ...]) -> None:
    broken = tuple(entry.replace(" ", "\n", 2).replace(" ", "\u2028", 1) for entry in entries)
    for result in (*stages(told.evidence, entries), *stages(told.evidence, broken)):
        assert len(result.reason.splitlines()) == 1
        assert len(result.reason) < 300
        assert result.confidence is not None
        assert 0 <= result.confidence <= 1


@every_store
def test_a_result_points_to_entries_and_words_that_exist(told: Told, entries: tuple[str, ...]) -> None:
    evidence = told.evidence
    row = " ".join((evidence.text, evidence.source, *(part.text for part in evidence.claim.parts))).casefold()
    for result in stages(evidence, entries):
        assert all(0 <= at < len(entries) for at in result.entries)
        assert len(set(result.entries)) == len(result.entries)
        for words in (*result.found, *result.missing):
            assert words.casefold() in row
        if result.outcome == "passed":
            assert not result.missing
            assert result.label is None


@every_kind
def test_a_failure_says_what_is_missing(evidence: Fact) -> None:
    for result in stages(evidence, ("The lift was serviced.",)):
        assert result.outcome == "failed"
        assert result.missing


def test_a_failure_explains_itself_in_the_words_of_the_source() -> None:
    result = OfflineJudge().summary(KETTLE, listing("Ottoline sings.", "Quillon polishes the copper kettle."))
    assert result.outcome == "failed"
    assert result.entries == (1,)
    assert any("9pm" in missing for missing in result.missing)
    assert "Quillon polishes the copper kettle." in result.reason


def test_a_failure_names_the_closest_entry() -> None:
    store = listing("Ottoline sings.", "There is a copper kettle.", "Ottoline never polishes her boots.")
    result = OfflineJudge().summary(KETTLE, store)
    assert result.outcome == "failed"
    assert result.entries[0] == 1
    assert "There is a copper kettle." in result.reason


def test_a_storage_stage_that_passes_speaks_of_no_fault() -> None:
    store = listing("Quillon hums. Quillon polishes the copper kettle.")
    stored = OfflineJudge().storage(KETTLE, store)
    assert (stored.outcome, stored.reason) == ("passed", "some version of it is stored")
    assert OfflineJudge().summary(KETTLE, store).outcome == "failed"


def test_a_long_entry_is_quoted_in_short() -> None:
    store = listing(f"Quillon polishes the copper kettle {'with a soft cloth and ' * 40} vinegar.")
    for result in stages(KETTLE, tuple(memory.text for memory in store.memories)):
        assert len(result.reason) < 300


# -- what is required ----------------------------------------------------------------------------------------------


def test_only_what_the_source_states_is_required_under_ours() -> None:
    vague = claimed(KETTLE, source="Quillon hums. Quillon polishes the copper kettle late in the evening.")
    store = listing(vague.claim.source)
    assert OfflineJudge().summary(vague, store).outcome == "passed"


def test_what_a_question_does_not_need_is_not_required() -> None:
    essay = "Quillon bakes rye bread at dawn. Quillon keeps eleven grey geese."
    geese = persona("Quillon", essay, "What does Quillon keep?", "Quillon keeps eleven grey geese.")
    assert verdict(geese, ["Quillon keeps eleven grey geese."]) == "ok"


def test_paper_requires_the_condition_for_storage_of_easy_rules() -> None:
    store = listing("Quillon polishes the copper kettle.")
    easy, hard = KETTLE, claimed(KETTLE, is_composed=True)
    assert OfflineJudge("paper").storage(easy, store).outcome == "failed"
    assert OfflineJudge("paper").storage(hard, store).outcome == "passed"
    assert OfflineJudge("ours").storage(easy, store).outcome == "passed"
    assert OfflineJudge("paper").storage(easy, listing(KETTLE.source)).outcome == "passed"


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of ours, paper"):
        OfflineJudge("theirs")  # type: ignore[arg-type]


# -- states ----------------------------------------------------------------------------------------------------------

PORTO = state("User lives in Porto.", "Porto", "where the user lives", ("Lisbon",))
CLUB = claimed(
    point(said := "The user is no longer a member of the rowing club.", said),
    replaced=("member of the rowing club",),
    has_ended=True,
)


def test_a_replaced_value_alone_is_a_failure_with_a_label() -> None:
    result = OfflineJudge().summary(PORTO, listing("User lives in Lisbon."))
    assert (result.outcome, result.label) == ("failed", "stale_value")


def test_the_new_value_alone_passes_without_a_label() -> None:
    assert {(r.outcome, r.label) for r in stages(PORTO, ("User lives in Porto.",))} == {("passed", None)}


@pytest.mark.parametrize("entries", [(), ("User likes tea.",)], ids=["empty", "something else"])
def test_of_a_state_that_has_ended_nothing_need_be_stored(entries: tuple[str, ...]) -> None:
    for result in stages(CLUB, entries):
        assert result.outcome == "passed"
        assert result.vacuous


def test_a_state_that_has_ended_must_not_be_stored_as_current() -> None:
    result = OfflineJudge().summary(CLUB, listing("User is a member of the rowing club."))
    assert (result.outcome, result.label) == ("failed", "stale_value")


def test_a_state_stored_as_ended_is_not_vacuous() -> None:
    result = OfflineJudge().summary(CLUB, listing(CLUB.source))
    assert result.outcome == "passed"
    assert not result.vacuous


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "outcome"), [('{"selected_choice": "B"}', "passed"), ("I choose A", "failed"), ("no idea", "failed")]
)
def test_the_option_letter_decides(reply: str, outcome: str) -> None:
    result = OfflineJudge().answer(LETTER, [RULE], Reply(reply))
    assert result.outcome == outcome
    assert "B" in result.reason or outcome == "passed"


@pytest.mark.parametrize("question", [LETTER, QUESTION], ids=["letter", "text"])
def test_without_a_test_taker_an_answer_is_ungraded(question: Question) -> None:
    assert OfflineJudge().answer(question, [RULE], None) == StageResult(
        "ungraded", "no test-taker: give --memfail-model"
    )


def test_free_text_is_ungraded() -> None:
    result = OfflineJudge().answer(QUESTION, [RULE], Reply("No"))
    assert result.outcome == "ungraded"
    assert "--memfail-judge" in result.reason


# -- the same every time -------------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from facts_judged import TOLD, QUESTION, listing\n"
        "from pytest_memfail.judges import OfflineJudge\n"
        "judge = OfflineJudge()\n"
        "for told in TOLD:\n"
        "    for entries in told.stores.values():\n"
        "        store = listing(*entries)\n"
        "        print(judge.storage(told.evidence, store), judge.summary(told.evidence, store))\n"
        "        print(judge.retrieval(told.evidence, QUESTION, store.memories[:2]))\n"
        "        print(judge.logits(told.evidence, entries))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parents[2]}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 9 * len(TOLD)


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.name)
def test_a_store_is_judged_alike_whatever_was_judged_before(told: Told) -> None:
    stores = [*told.stores.values(), tuple(dict.fromkeys(entry for some in told.stores.values() for entry in some))]
    fresh = {entries: stages(told.evidence, entries) for entries in stores}
    for order in permutations(stores):
        judge = OfflineJudge()
        listings = [listing(*entries) for entries in order]  # all stay alive, as in a run
        for entries, store in zip(order, listings, strict=True):
            found = [judge.storage(told.evidence, store), judge.summary(told.evidence, store)]
            found.append(judge.retrieval(told.evidence, QUESTION, store.memories))
            assert found == fresh[entries]


def test_a_listing_is_not_kept_alive() -> None:
    judge, store = OfflineJudge(), listing(RULE.source)
    judge.storage(RULE, store)
    judge.summary(RULE, store)
    judge.retrieval(RULE, QUESTION, store.memories)
    gone = weakref.ref(store)
    del store
    gc.collect()
    assert gone() is None


# -- weights -----------------------------------------------------------------------------------------------------------


def correction(**changed: object) -> dict[str, object]:
    """Return a correction that changes nothing."""
    return {"base": OfflineJudge().identity.split()[-1], "heads": {"kept": [1.0, 0.0], "absent": [1.0, 0.0]}, **changed}


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(content))
    return path


def test_a_correction_is_part_of_the_identity(tmp_path: Path) -> None:
    shipped, corrected = OfflineJudge(), OfflineJudge(weights=written(tmp_path, correction()))
    assert shipped.identity == OfflineJudge("paper").identity
    assert corrected.identity.startswith(shipped.identity)
    assert corrected.identity != shipped.identity


def test_a_correction_that_corrects_nothing_changes_no_result(tmp_path: Path) -> None:
    corrected = OfflineJudge(weights=written(tmp_path, correction()))
    for told in TOLD:
        for entries in told.stores.values():
            assert stages(told.evidence, entries, corrected) == stages(told.evidence, entries)


def test_a_correction_moves_what_the_model_decides(tmp_path: Path) -> None:
    heads = {"kept": [0.0, -20.0], "absent": [0.0, 20.0]}
    judge = OfflineJudge(weights=str(written(tmp_path, correction(heads=heads))))
    for told in TOLD:
        assert stages(told.evidence, told.stores["reworded"], judge)[1].outcome == "failed"
        assert stages(told.evidence, told.stores["as said"], judge)[1].outcome == "passed"


def test_the_encoder_needs_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_memfail.judges.encoder.encoder.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"expected it: pip install 'pytest-memfail\[encoder\]'") as refused:
        OfflineJudge(encoder=True)
    assert len(str(refused.value).splitlines()) == 1


def test_a_correction_for_one_judge_is_refused_by_the_one_with_the_encoder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine.json, trained with encoder=off, expected that option too$"):
        corrected_model(written(tmp_path, correction()), encoder=True)
    other = written(tmp_path, correction(base=weights_in_use(encoder=True)))
    with pytest.raises(UsageError, match="trained with encoder=on, expected"):
        corrected_model(other)
    with pytest.raises(UsageError, match=r"made for the weights older, expected .*: train it again"):
        corrected_model(written(tmp_path, correction(base="older")))


BAD_WEIGHTS = {
    "empty": b"",
    "not JSON": b"weights = 1",
    "binary": bytes(range(256)),
    "a list": b"[1, 2]",
    "a number": b"3",
    "null": b"null",
    "no heads": b'{"base": "x"}',
    "nested too deep": b"[" * 200_000,
    "heads of words": json.dumps(correction(heads={"kept": ["a", "b"], "absent": [1, 0]})).encode(),
    "one head": json.dumps(correction(heads={"kept": [1, 0]})).encode(),
    "half a head": json.dumps(correction(heads={"kept": [1], "absent": [1, 0]})).encode(),
    "not a number": json.dumps(correction(heads={"kept": [float("nan"), 0], "absent": [1, 0]})).encode(),
    "infinite": json.dumps(correction(heads={"kept": [float("inf"), 0], "absent": [1, 0]})).encode(),
    "larger than a float": json.dumps(correction(heads={"kept": [10**400, 0], "absent": [1, 0]})).encode(),
    "for other weights": json.dumps(correction(base="0123456789")).encode(),
}


@pytest.mark.parametrize("content", BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        OfflineJudge(weights=path)
    assert len(str(refused.value).splitlines()) == 1
    assert f"weights={path}" in str(refused.value)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_weights_that_are_no_file_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"got weights=.*, expected a file") as refused:
        OfflineJudge(weights=tmp_path / name)
    assert len(str(refused.value).splitlines()) == 1


def test_unsure_is_a_confidence() -> None:
    assert 0.5 < UNSURE < 1
