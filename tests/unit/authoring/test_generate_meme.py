"""`memfail generate meme`: graphs, outlines, and episodes written by an endpoint that verbalises by rule."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from row_writer import STOP, task_of, wants_anew

from pytest_memfail.authoring.asking import BARREN, CLIENT_TRIES, TRIES
from pytest_memfail.cli import main
from pytest_memfail.core import SuiteRequest
from pytest_memfail.suites import built_in_suite
from pytest_memfail.suites.meme.graph import DOMAINS, NAME, SESSIONS, UNCERTAIN, draw, propagate
from pytest_memfail.testing import Fault, answer_by_rule

MEME = built_in_suite("meme")
OUTLINES = [draw(number, 42) for number in range(1, 101)]
ROLES = ["root", "exact_recall", *["aggregation"] * 3, "tracking", "deletion", *["cascade"] * 2, *["absence"] * 2]


def episodes(ran):
    return json.loads((ran.folder / "episodes.json").read_text(encoding="utf-8"))


def is_filler(row):
    return "facts" not in row


def spoiling(change, *, wanted=lambda row: row["row"] == 3 and not is_filler(row), once=True):
    """Return a writer that changes the sessions of the wanted rows: until something is rejected (`once`), or always."""

    def answer(request):
        reply = json.loads(answer_by_rule(request))
        if not (once and wants_anew(request)):
            for asked, item in zip(task_of(request)["rows"], reply["rows"], strict=True):
                if wanted(asked):
                    change(asked, item["turns"])
        return reply

    return answer


def told(request):
    """Return the faults that the request reports."""
    return request["messages"][1]["content"].partition("turned down")[2]


# -- graph and outline -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.code)
def test_a_graph_is_large_enough_and_has_no_cycle(domain):
    entities = domain.entities
    assert len(entities) >= 25
    assert sum(bool(entity.source) for entity in entities.values()) >= 12
    below = [name for root in domain.roots for name in domain.descendants(root)]
    assert sorted(below) == sorted(
        entity.name for entity in entities.values() if entity.source
    )  # a tree below each root
    for entity in entities.values():
        assert entity.sentence.count("{}") == 1
        assert entity.question.endswith("?")
        assert all(form.count("{}") == 1 and form != "{}" for form in entity.forms)
        assert not entity.source or entity.source in entities


def test_changes_spread_by_rules_and_end_where_there_is_none():
    sources = {"b": "a", "c": "b", "d": "b", "e": "d", "f": "a"}
    before = {name: f"{name}1" for name in "abcdefg"}
    rules = {("b", "a2"): "b2", ("c", "b2"): "c2", ("f", "a3"): "f2", ("e", "d2"): "e2"}
    after = propagate(before, sources, rules, {"a": "a2"})
    assert after == {"a": "a2", "b": "b2", "c": "c2", "d": UNCERTAIN, "e": UNCERTAIN, "f": UNCERTAIN, "g": "g1"}
    assert propagate(before, sources, rules, {"g": "g2"}) == {**before, "g": "g2"}


def test_tasks_follow_from_the_place_in_the_graph():
    for outline in OUTLINES:
        domain, tasks = outline.domain, outline.tasks
        assert list(tasks.values()) == ROLES, outline.number
        inside = {outline.root, *domain.descendants(outline.root)}
        for entity, role in tasks.items():
            assert (entity in inside) == (role in ("root", "cascade", "absence")), outline.number
            assert domain.entities[entity].is_exact == (role == "exact_recall"), outline.number
        for role in ("cascade", "absence"):
            hops = [outline.hop(entity) for entity, other in tasks.items() if other == role]
            assert hops == [1, 2], outline.number
        unknown = {entity for entity in tasks if outline.after[entity] == UNCERTAIN}
        assert unknown == {entity for entity, role in tasks.items() if role == "absence"}, outline.number
        changed = [entity for entity, role in tasks.items() if role == "cascade"]
        assert all(outline.after[e] not in (None, outline.before[e]) for e in changed), outline.number
        assert len(set(outline.steps)) == 4, outline.number


def test_values_are_invented_and_occur_once():
    for outline in OUTLINES:
        facts = [fact for session in outline.sessions for fact in session]
        values = {*outline.before.values(), *outline.steps, *(fact.value for fact in facts if fact.value)}
        # an underscore before a name is part of the same word
        names = [NAME.findall(value.replace("_", " "))[0].casefold() for value in values]
        assert len(set(names)) == len(values), outline.number
        assert not any(one in other for one, other in itertools.permutations(names, 2)), outline.number
        assert len(outline.sessions) == SESSIONS, outline.number
        assert all(1 <= len(session) <= 3 for session in outline.sessions), outline.number
        assert all(len({f.entity for f in session}) == len(session) for session in outline.sessions), outline.number


def test_a_seed_decides_and_domains_take_turns():
    assert draw(3, 42) == OUTLINES[2]
    assert draw(3, 43) != OUTLINES[2]
    assert [outline.domain.code for outline in OUTLINES[:4]] == ["pl", "sw", "pl", "sw"]
    assert {outline.root for outline in OUTLINES} == {root for domain in DOMAINS for root in domain.roots}


# -- episodes ----------------------------------------------------------------------------------------------------------


def test_episodes_load_without_a_finding(generate):
    ran = generate("meme", 4, answer=answer_by_rule)
    assert ran.code == 0, ran.err
    assert list(MEME.faults(ran.folder)) == []
    (task,) = MEME.load(SuiteRequest(ran.folder, "ours"))
    assert [store.id for store in task.stores] == ["pl_g42_001", "sw_g42_002", "pl_g42_003", "sw_g42_004"]
    parts = [question.part for question in task.stores[0].questions]
    assert parts == ["before"] * 5 + "recall aggregation tracking deletion cascade cascade absence absence".split()
    assert ran.out.splitlines()[-1] == f"{ran.folder / 'episodes.json'}: 4 rows"
    assert sorted(path.name for path in ran.folder.iterdir()) == ["episodes.json", "generation_config.json", "raw"]
    account = ran.account("meme")
    assert (account["seed"], account["rows_asked_for"], account["counts"]["questions"]) == (42, 4, 52)
    assert account["files"]["episodes.json"]["rows"] == 4
    assert main(["validate", str(ran.folder)]) == 0


def test_answers_are_those_of_the_graph_and_texts_hold_the_facts(generate):
    for episode, outline in zip(episodes(generate("meme", 2, answer=answer_by_rule)), OUTLINES, strict=False):
        sessions = episode["sessions"]
        given = [fact for session in outline.sessions for fact in session]
        facts = [(at, fact) for at, session in enumerate(sessions) for fact in session["gold_facts"] or ()]
        assert [fact["fact_text"] for _, fact in facts] == [fact.text for fact in given]
        for (at, fact), planned in zip(facts, given, strict=True):
            turn = sessions[at]["conversation"][fact["conveyed_in_turn"]]
            assert turn["role"] == "user"
            assert (planned.text if planned.is_exact else planned.value) in turn["content"]
        evidence = [at for at, session in enumerate(sessions) if session["type"] == "evidence"]
        assert evidence == episode["evidence_session_indices"]
        assert episode["before_questions"]["position_after_session"] == evidence[5]
        assert episode["after_questions"]["position_after_session"] == len(sessions) - 1
        times = [session["timestamp"] for session in sessions]
        assert times == sorted(times)
        assert all(re.fullmatch(r"2024/\d\d/\d\d \([MTWFS][a-z]{2}\) \d\d:\d\d", time) for time in times)
        for item in episode["after_questions"]["questions"]:
            entity, gold = item["entity"][0], item["gold_answer"]
            wanted = {
                "ER": outline.before[entity],
                "Agg": "; ".join(outline.before[name] for name in item["entity"]),
                "Tr": " → ".join(outline.steps),
                "Del": "No information (the user asked to delete it)",
                "Cas": outline.after[entity],
                "Abs": f"Uncertain — previously '{outline.before[entity]}', but the {outline.root.replace('_', ' ')} changed",
            }
            assert gold == wanted[item["task_type"]]
        # what only follows by a rule is never said to hold
        for edge in episode["dependency_edges_used"]:
            new = outline.after[edge["target"]]
            said = [
                turn["content"] for session in sessions for turn in session["conversation"] if new in turn["content"]
            ]
            assert all("If " in text for text in said)
            assert len(said) == (0 if edge["pattern"] == "absence" else 2 if edge["hop"] == 1 else 1)


def test_the_same_seed_gives_the_same_file(generate):
    one, same, other = (
        generate("meme", 2, "--seed", seed, answer=answer_by_rule, out=out)
        for seed, out in ((5, "a"), (5, "b"), (6, "c"))
    )
    content = [(ran.folder / "episodes.json").read_bytes() for ran in (one, same, other)]
    assert content[0] == content[1] != content[2]
    first = generate("meme", 1, "--seed", 5, answer=answer_by_rule, out="d")
    assert episodes(first) == episodes(one)[:1]


def test_fillers_are_as_many_as_asked_for_and_hold_no_value(generate):
    ran = generate("meme", 4, "--fillers", 9, answer=answer_by_rule)
    asked = [row for request in ran.requests for row in task_of(request)["rows"] if is_filler(row)]
    assert len(asked) == 36
    assert len({(row["setting"], row["about"], row["wants"]) for row in asked}) == 36
    for episode in episodes(ran):
        hay = [session for session in episode["sessions"] if session["type"] == "filler"]
        assert len(hay) == 9
        assert all(session["gold_facts"] is None and not NAME.search(json.dumps(session)) for session in hay)
    none = generate("meme", 1, "--fillers", 0, answer=answer_by_rule, out="none")
    assert {session["type"] for session in episodes(none)[0]["sessions"]} == {"evidence"}
    assert generate("meme", 1, "--fillers", -1, out="wrong").err.startswith("memfail: --fillers: got -1, expected 0 to")


# -- a model that errs -------------------------------------------------------------------------------------------------


def is_plain(row):
    return row["row"] == 1 and not is_filler(row)


def first_plain(asked):
    return next(fact for fact in asked["facts"] if not fact["exact"])


def drop_value(asked, turns):
    value = first_plain(asked)["value"]
    turns[:] = json.loads(json.dumps(turns).replace(value, "it"))


def only_possible(asked, turns):
    value = first_plain(asked)["value"]
    for turn in turns:
        if value in turn["user"]:
            turn["user"] = f"We might end up with {value}."


def alone(asked, turns):
    value = first_plain(asked)["value"]
    for turn in turns:
        if value in turn["user"]:
            turn["user"] = f"Hm, {value}, right."


def reword(asked, turns):
    turns[:] = json.loads(json.dumps(turns).replace("one day", "some day").replace("letter, is", "letter is"))


FAULTS = {
    "drops a value": (drop_value, r"no message of the user has '.+', expected it to the letter"),
    "leaves a value open": (only_possible, r"'.+' is only a possibility, expected a sentence that says that it holds"),
    "says a value of nothing": (alone, r"'.+' stands alone, expected it with words of: "),
    "invents a value": (
        lambda asked, turns: turns[0].update(assistant="Better than Oakfield Freight."),
        r"holds 'Oakfield Freight', expected no value but those",
    ),
    "knows a value of another session": (
        lambda asked, turns: turns[0].update(assistant="Like the Brememmer thing."),
        r"holds 'Brememmer', expected no value but those",
    ),
    "too short": (lambda asked, turns: turns.__delitem__(slice(2, None)), "turns: got 2, expected 3 to 7"),
    "nothing said": (lambda asked, turns: turns[0].update(assistant=""), "turns: got nothing, expected a text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_told_and_only_that_session_asked_again(generate, name):
    change, rule = FAULTS[name]
    ran = generate("meme", 1, "--fillers", 0, answer=spoiling(change, wanted=is_plain))
    assert ran.code == 0, ran.err
    again = [request for request in ran.requests if wants_anew(request)]
    assert [[row["row"] for row in task_of(request)["rows"]] for request in again] == [[1]]
    assert re.search(rule, told(again[0])), told(again[0])
    assert list(MEME.faults(ran.folder)) == []


def test_a_value_may_begin_a_sentence(generate):
    def start(asked, turns):
        for fact in asked["facts"]:
            if fact.get("value", "").startswith("the "):
                said = f"T{fact['value'][1:]}: {fact['fact']}".replace(f" {fact['value']}", " that one")
                turns[:] = [{**turn, "user": turn["user"].replace(fact["fact"], said)} for turn in turns]

    ran = generate("meme", 4, "--fillers", 0, answer=spoiling(start, wanted=lambda row: not is_filler(row)))
    assert ran.code == 0, ran.err
    assert not any(wants_anew(request) for request in ran.requests)
    assert re.search(r'"content": "[^"]*\. The \w+ [^"]*that one', (ran.folder / "episodes.json").read_text())
    assert list(MEME.faults(ran.folder)) == []


def test_rules_and_texts_to_keep_are_in_our_words(generate):
    changed = []

    def wanted(row):
        is_changed = any("one day" in fact["fact"] or "letter, is" in fact["fact"] for fact in row.get("facts", ()))
        changed.extend([row["row"]] if is_changed else [])
        return is_changed

    ran = generate("meme", 1, "--fillers", 0, answer=spoiling(reword, wanted=wanted))
    assert ran.code == 0, ran.err
    again = [request for request in ran.requests if wants_anew(request)]
    assert {row["row"] for request in again for row in task_of(request)["rows"]} == set(changed)
    assert len(set(changed)) >= 2
    assert all("no message of the user has, to the letter: " in told(request) for request in again)


def test_a_filler_that_holds_a_value_is_asked_again(generate):
    value = OUTLINES[0].before[OUTLINES[0].root]
    change = lambda asked, turns: turns[1].update(user=f"As in {value}.")  # noqa: E731
    ran = generate("meme", 1, answer=spoiling(change, wanted=lambda row: is_filler(row) and row["row"] == 2))
    assert ran.code == 0, ran.err
    (again,) = (request for request in ran.requests if wants_anew(request))
    assert f"{value!r}, expected no value but those of the facts given" in told(again)
    assert list(MEME.faults(ran.folder)) == []


def test_an_episode_that_is_never_whole_is_left_out_and_named(generate):
    ran = generate("meme", 3, answer=spoiling(drop_value, wanted=is_plain, once=False))
    assert ran.code == 0, ran.err
    asked = [row for request in ran.requests for row in task_of(request)["rows"]]
    assert len([row for row in asked if not is_filler(row) and row["row"] == 1]) == TRIES
    assert "left out: episode 1, session 1: sessions: turns: no message of the user has" in ran.out
    assert [episode["episode_id"] for episode in episodes(ran)] == ["sw_g42_002", "pl_g42_003"]
    assert len([row for row in asked if is_filler(row)]) == 8  # nobody pays for the fillers of the first
    counts = ran.account("meme")["counts"]
    assert (counts["wanted"], counts["given_up"], counts["episodes"]) == (3, 1, 2)


@pytest.mark.parametrize("kind", ["invalid_json", "wrong_schema", "truncated", "refusal"])
def test_nonsense_costs_a_few_calls_and_writes_nothing(generate, kind):
    ran = generate("meme", 30, "--concurrency", "1", answer=answer_by_rule, faults=[Fault(kind, every=1)])
    assert ran.code == 4
    assert len(ran.requests) <= BARREN * 2 * CLIENT_TRIES
    assert re.fullmatch(r"memfail: 3 batches in a row gave nothing usable \(sessions, .*\n", ran.err)
    assert not (ran.folder / "episodes.json").exists()


def test_sessions_that_say_nothing_asked_for_write_nothing(generate):
    nonsense = [{"user": "Blah.", "assistant": "Blah."}] * 3
    change = lambda asked, turns: turns.__setitem__(slice(None), nonsense)  # noqa: E731
    ran = generate("meme", 1, answer=spoiling(change, wanted=lambda row: True, once=False))
    assert ran.code == 4
    assert len(ran.err.splitlines()) == 1
    assert not (ran.folder / "episodes.json").exists()


def test_repeated_fillers_are_dropped_and_named(generate):
    same = [
        {"user": f"Tell me a story of {n} ducks on a pond in the rain, please.", "assistant": "Quack."}
        for n in range(3)
    ]
    change = lambda asked, turns: turns.__setitem__(slice(None), same)  # noqa: E731
    ran = generate("meme", 2, answer=spoiling(change, wanted=is_filler))
    assert ran.code == 0, ran.err
    hay = [[s["type"] for s in episode["sessions"]].count("filler") for episode in episodes(ran)]
    assert hay == [1, 0]
    assert ran.account("meme")["near_duplicates"][0] == "episode 1, filler 2 is 1.00 like episode 1, filler 1"
    assert list(MEME.faults(ran.folder)) == []


# -- resuming and costs ------------------------------------------------------------------------------------------------


def test_an_interrupted_run_goes_on_and_pays_nothing_twice(generate):
    first = generate("meme", 2, "--concurrency", "1", answer=answer_by_rule, faults=[None] * 4 + [STOP])
    assert first.code == 4
    assert not (first.folder / "episodes.json").exists()
    second = generate("meme", 2, answer=answer_by_rule)
    assert second.code == 0, second.err
    asked = [row["row"] for request in second.requests for row in task_of(request)["rows"] if not is_filler(row)]
    assert sorted(asked) == list(range(9, 21))
    whole = generate("meme", 2, answer=answer_by_rule, out="whole")
    assert episodes(second) == episodes(whole)


def test_more_episodes_or_fillers_later_cost_only_the_new_ones(generate):
    first = episodes(generate("meme", 1, answer=answer_by_rule))
    second = generate("meme", 2, "--force", answer=answer_by_rule)
    assert episodes(second)[:1] == first
    assert len(second.requests) == 5 + 2
    third = generate("meme", 2, "--fillers", "6", "--force", answer=answer_by_rule)
    assert len(third.requests) == 2
    assert "already has episodes.json; give another --out, or --force" in generate("meme", 2).err


def test_the_estimate_is_of_what_is_left(generate):
    ran = generate("meme", 10, "--estimate", answer=answer_by_rule)
    assert (ran.code, ran.requests, ran.folder.exists()) == (0, [], False)
    assert ran.out.startswith("estimate for gpt-5-mini: 70 calls, ")
    generate("meme", 1, answer=answer_by_rule)
    assert " 0 calls, " in generate("meme", 1, "--estimate").out


def test_the_endpoint_writes_only_chats(generate):
    ran = generate("coexisting_facts", 2, answer=answer_by_rule)
    assert ran.code == 4
    assert "memfail: no row is left to write" in ran.err


def test_short_options(tmp_path, capsys):
    options = ["--n", "4", "--model", "gpt-5-mini", "-o", str(tmp_path / "out"), "--estimate"]
    assert main(["generate", "meme", *options]) == 0
    assert "28 calls" in capsys.readouterr().out
