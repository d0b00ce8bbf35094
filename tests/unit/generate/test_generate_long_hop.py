"""Chains: what is accepted, audited, and offered as wrong."""

from __future__ import annotations

from collections import Counter

import pytest
import row_writer

from pytest_memfail.generate.long_hop import Chain, chain_faults, option_faults

CHAIN = {
    "anchors": ["foghorn", "plum jam", "reread old postcards"],
    "facts": ["The foghorn gives me a craving for plum jam.", "Plum jam makes me reread old postcards."],
    "question": "What does the foghorn make me do in the end?",
    "answer": "reread old postcards",
}


def faults(hops=1, others=(), **changes):
    return list(chain_faults(hops, Chain(**{**CHAIN, **changes}), [Chain(**other) for other in others]))


def test_a_sound_chain_breaks_nothing():
    assert faults() == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"hops": 2}, "expected 4 and 3"),
        ({"anchors": ["foghorn", "Plum  jam!", "plum jam"]}, "the same one twice"),
        ({"facts": [CHAIN["facts"][0], "Jam makes me reread old postcards."]}, "fact 2 lacks its anchor 'plum jam'"),
        (
            {"facts": ["The foghorn, plum jam, and I reread old postcards.", CHAIN["facts"][1]]},
            "fact 1 holds 'reread old postcards', which it does not border",
        ),
        ({"question": "What do I do in the end?"}, "does not name 'foghorn'"),
        ({"question": "What do the foghorn and plum jam do?"}, "names 'plum jam', expected the first anchor alone"),
        ({"answer": "reread letters"}, "expected the last anchor"),
        ({"question": "The foghorn? Options: A. x"}, "holds options"),
        ({"others": [CHAIN]}, "'foghorn' is taken by another chain"),
        ({"answer": "a" * 300, "anchors": ["foghorn", "plum jam", "a" * 300]}, "got 300 characters"),
    ],
)
def test_a_chain_that_breaks_a_rule(changes, rule):
    assert any(rule in fault for fault in faults(**changes)), faults(**changes)


def test_everyday_anchors_may_stand_in_two_chains():
    other = {**CHAIN, "anchors": ["kettle", "foghorn", "sleep"]}
    assert faults(others=[other]) == []


def test_the_heads_last_word_is_enough_in_the_question():
    eating = {
        "anchors": ["eat apples", "bored", "sleepy"],
        "facts": ["I eat apples and get bored.", "Once bored I am sleepy."],
        "question": "What does eating apples do to me?",
        "answer": "sleepy",
    }
    assert faults(**eating) == []


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["wash the car", "mend the fence", "call my aunt"], "got 3, expected 4"),
        (["wash the car", "wash the car", "call my aunt", "mend the fence"], "two are the same"),
        (["washing the car", "mend the fence", "call my aunt", "water the ferns"], "has another shape"),
        (["sort old postcards", "mend the fence", "call my aunt", "water the ferns"], "shares 'postcards'"),
        (["wash the car of my cousin in town", "mend a fence", "call my aunt", "dust a lamp"], "has another shape"),
        (["wash the\u200b car", "mend the fence", "call my aunt", "water the ferns"], "holds U+200B"),
    ],
)
def test_options_that_give_the_answer_away_or_break_the_form(options, rule):
    assert any(rule in fault for fault in option_faults(Chain(**CHAIN), options))


def test_sound_options_break_nothing():
    assert not list(
        option_faults(Chain(**CHAIN), ["wash the car", "mend the fence", "call my aunt", "water the ferns"])
    )


def test_a_chain_that_breaks_a_rule_is_asked_for_again(generate):
    def answer(request):
        reply = row_writer.write(request)
        if row_writer.kind_of(request) == "chains" and not row_writer.wants_anew(request):
            reply["chains"][0]["answer"] = "elsewhere"
        return reply

    ran = generate("long_hop", 6, answer=answer)
    assert ran.code == 0
    assert len(ran.rows("long_hop")) == 6
    again = [request for request in ran.requests if row_writer.wants_anew(request)]
    assert len(again) == 3
    assert row_writer.task_of(again[0])["chains"] == 1


def test_each_proposal_is_told_of_the_chains_before(generate):
    ran = generate("long_hop", 60)
    proposals = [
        row_writer.task_of(request)["taken"] for request in ran.requests if "chains" in row_writer.kind_of(request)
    ]
    assert [len(taken) for taken in proposals][:8] == [0, 5, 10, 15, 20, 25, 30, 30]


def test_the_audit_sees_all_chains_and_then_overlapping_windows(generate):
    ran = generate("long_hop", 30)
    audits = [row_writer.task_of(r)["chains"] for r in ran.requests if row_writer.kind_of(r) == "audit"]
    assert [len(chains) for chains in audits] == [39, 20, 20, 19]
    seen = Counter(chain["id"] for chains in audits[1:] for chain in chains)
    assert set(seen) == {chain["id"] for chain in audits[0]}


def test_what_the_audit_removes_is_replaced_from_the_spare(generate):
    def answer(request):
        if row_writer.kind_of(request) == "audit":
            chains = row_writer.task_of(request)["chains"]
            return {"remove": [{"id": c["id"], "reason": "told before"} for c in chains if c["id"] == "2-001"]}
        return row_writer.write(request)

    ran = generate("long_hop", 9, answer=answer)
    assert len(ran.rows("long_hop")) == 9
    account = ran.account("long_hop")
    assert account["counts"]["removed_by_the_audit"] == 1
    assert account["given_up"]["chain 2-001"] == "audit: told before"
    assert not any("2-001" in row["id"] for row in ran.rows("long_hop"))


@pytest.mark.parametrize(
    ("remove", "rule"),
    [
        (lambda ids: ["../../x"], "there is no chain '../../x'"),
        (lambda ids: ids, "expected half of them at most"),
        (lambda ids: [ids[0]] * 1000, "expected half of them at most"),
    ],
)
def test_an_audit_that_makes_no_sense_is_asked_again_and_then_ends_the_run(generate, remove, rule):
    def answer(request):
        if row_writer.kind_of(request) == "audit":
            ids = [chain["id"] for chain in row_writer.task_of(request)["chains"]]
            return {"remove": [{"id": key, "reason": "\x1b[2J"} for key in remove(ids)]}
        return row_writer.write(request)

    ran = generate("long_hop", 6, answer=answer)
    assert ran.code == 4
    assert rule in ran.err
    assert "\x1b" not in ran.err
    assert Counter(ran.kinds)["audit"] == 4
    again = generate("long_hop", 6)
    assert again.code == 0
    assert "chains" not in again.kinds


def test_a_chain_without_options_is_replaced_from_the_spare(generate):
    def answer(request):
        reply = row_writer.write(request)
        if row_writer.kind_of(request) == "options" and row_writer.task_of(request)["right answer"].endswith(marked):
            reply["options"][0] = row_writer.task_of(request)["right answer"]
        return reply

    marked = "1"
    ran = generate("long_hop", 9, answer=answer)
    assert ran.code == 0
    counts = ran.account("long_hop")["counts"]
    assert counts["without_options"] + counts["spare"] + counts["kept"] == counts["after_deduplication"] == 12


def test_a_chain_damaged_by_hand_is_named(generate):
    first = generate("long_hop", 3)
    raw = first.folder / "raw/long_hop.jsonl"
    raw.write_text(raw.read_text(encoding="utf-8").replace("Where does", "Where, oh where, has", 1), encoding="utf-8")
    assert generate("long_hop", 3, "--force").code == 0
    raw.write_text(raw.read_text(encoding="utf-8").replace("lead me", "lead me? Options: A.", 1), encoding="utf-8")
    ran = generate("long_hop", 3, "--force")
    assert ran.code == 4
    assert "raw/long_hop.jsonl: chains of 1 1: the question holds options" in ran.err
    assert ran.requests == []
