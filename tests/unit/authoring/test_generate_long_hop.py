"""Chains: which are accepted and audited, and which ends become wrong options."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import row_writer

from pytest_memfail.suites import validate
from pytest_memfail.suites.memfail.recipes.long_hop import Chain, chain_faults, wrong_options

CHAIN = {
    "anchors": ["foghorn", "plum jam", "rereading old postcards"],
    "facts": ["The foghorn gives me a craving for plum jam.", "Plum jam sets me rereading old postcards."],
    "question": "What does the foghorn set me doing in the end?",
    "answer": "rereading old postcards",
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
        ({"facts": [CHAIN["facts"][0], "Jam sets me rereading old postcards."]}, "fact 2 lacks its anchor 'plum jam'"),
        (
            {"facts": ["The foghorn, plum jam, and I am rereading old postcards.", CHAIN["facts"][1]]},
            "fact 1 holds 'rereading old postcards', which it does not border",
        ),
        ({"question": "What do I do in the end?"}, "does not name 'foghorn'"),
        ({"question": "What do the foghorn and plum jam do?"}, "names 'plum jam', expected the first anchor alone"),
        ({"answer": "reread letters"}, "expected the last anchor"),
        ({"question": "The foghorn? Options: A. x"}, "holds options"),
        ({"others": [CHAIN]}, "'foghorn' is taken by another chain"),
        (
            {"answer": "sleep", "anchors": ["foghorn", "plum jam", "sleep"]},
            "the answer is 'sleep', expected 2 to 4 words that begin with a verb in -ing",
        ),
        (
            {"answer": "folding his ties", "anchors": ["foghorn", "plum jam", "folding his ties"]},
            "holds 'his', expected nothing that says whose it is",
        ),
        (
            {"facts": [CHAIN["facts"][0], "Plum jam sets Bo rereading old postcards."]},
            "fact 2 is not about the speaker",
        ),
        ({"question": "What does the foghorn end in?"}, "the question is not about the speaker"),
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
        "anchors": ["eat apples", "bored", "counting sheep"],
        "facts": ["I eat apples and get bored.", "Once bored I am counting sheep."],
        "question": "What does eating apples end in for me?",
        "answer": "counting sheep",
    }
    assert faults(**eating) == []


def chains(count, **ends):
    """Return chains whose ends share no word, except as `ends` says."""
    made = {}
    for n in range(count):
        end = ends.get(f"c{n}", f"mending{n}ing thing{n}")
        made[f"c{n}"] = Chain(anchors=[f"head{n}", f"middle{n}", end], facts=["", ""], question="", answer=end)
    return made


def test_each_end_is_offered_as_often_as_the_others():
    made = chains(20)
    wrong = wrong_options(made, random.Random(1))
    ends = {chain.answer for chain in made.values()}
    for key, options in wrong.items():
        assert len({*options, made[key].answer}) == 5
        assert set(options) <= ends
    offered = Counter(option for options in wrong.values() for option in options)
    assert set(offered) == ends
    assert max(offered.values()) - min(offered.values()) <= 2


def test_an_end_that_shares_a_word_with_the_chain_is_not_offered_for_it():
    made = chains(9, c0="mending clocks", c1="selling clocks")
    wrong = wrong_options(made, random.Random(1))
    assert "selling clocks" not in wrong["c0"]
    assert "mending clocks" not in wrong["c1"]


def test_a_chain_for_which_too_few_ends_fit_is_left_out_and_offered_to_nobody():
    made = chains(7, **{f"c{n}": f"polishing{n}ing spoons" for n in range(4)})
    wrong = wrong_options(made, random.Random(1))
    assert set(wrong) == set()
    wrong = wrong_options(chains(8, c0="polishing spoons", c1="losing spoons"), random.Random(1))
    assert len(wrong) == 8


def test_generated_options_are_ends_of_other_chains(generate):
    ran = generate("long_hop", 30)
    rows = ran.rows("long_hop")
    ends = {row["ground_truth_answer"] for row in rows}
    assert {row[f"choice_{letter}"] for row in rows for letter in "abcde"} == ends
    assert not [finding for finding in validate(ran.folder) if "choosing" in finding.message]


def test_fewer_than_five_chains_are_refused(generate):
    ran = generate("long_hop", 4)
    assert ran.code == 4
    assert "-n: got 4, expected 5 or more: the wrong options of a chain are the ends of 4 others" in ran.err


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
    assert len(audits[0]) == 39
    assert sorted(len(chains) for chains in audits[1:]) == [19, 20, 20]  # they are asked at once
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


def test_a_chain_damaged_by_hand_is_named(generate):
    first = generate("long_hop", 6)
    raw = first.folder / "raw/long_hop.jsonl"
    raw.write_text(raw.read_text(encoding="utf-8").replace("Where does", "Where, oh where, has", 1), encoding="utf-8")
    assert generate("long_hop", 6, "--force").code == 0
    raw.write_text(raw.read_text(encoding="utf-8").replace("lead me", "lead me? Options: A.", 1), encoding="utf-8")
    ran = generate("long_hop", 6, "--force")
    assert ran.code == 4
    assert "raw/long_hop.jsonl: chains of 1 1: the question holds options" in ran.err
    assert ran.requests == []
