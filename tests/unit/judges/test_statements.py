"""Memory texts are read as statements with headings and owner."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from pytest_memfail.judges.offline.statements import MAX_TOKENS, Statement, read_entry
from pytest_memfail.texts import statements

FEW = settings(max_examples=40, deadline=None, database=None, derandomize=True)
QUILLON, OTTOLINE, ZEV, USER = ("quillon",), ("ottoline",), ("zev",), ("user",)


def texts(entry: str) -> list[str]:
    return [statement.text for statement in read_entry(entry)]


def context(statement: Statement) -> str:
    return " ".join(token.surface for token in statement.context)


def owners(entry: str) -> list[tuple[str, ...]]:
    return [statement.owner for statement in read_entry(entry)]


def about(entry: str, words: str) -> Statement:
    """Return the one statement that has these words."""
    (found,) = [statement for statement in read_entry(entry) if words in statement.text]
    return found


# -- JSON ------------------------------------------------------------------------------------------------------------

PROFILE = {"name": "Quillon", "likes": ["rye bread", "geese"], "work": {"job_title": "weir keeper", "start": "7 am"}}


def test_a_json_profile_is_a_field_a_statement() -> None:
    assert texts(json.dumps(PROFILE)) == [
        "name: Quillon",
        "likes: rye bread, geese",
        "job title: weir keeper",
        "start: 7 am",
    ]


def test_a_json_profile_is_about_whom_it_names() -> None:
    assert set(owners(json.dumps(PROFILE))) == {QUILLON}


def test_the_keys_above_a_json_field_are_its_context() -> None:
    assert "work" in context(about(json.dumps(PROFILE), "weir keeper"))
    assert "work" not in context(about(json.dumps(PROFILE), "geese"))


@pytest.mark.parametrize("indent", [None, 2])
def test_each_person_of_a_json_profile_owns_what_is_below(indent: int | None) -> None:
    keyed = {"Quillon": {"diet": "vegan", "notes": "Fears geese. Rows."}, "Ottoline": {"diet": "kosher"}}
    listed = {"people": [{"name": "Quillon", "diet": "vegan"}, {"name": "Ottoline", "diet": "kosher"}]}
    for profile in (keyed, listed):
        entry = json.dumps(profile, indent=indent)
        assert about(entry, "vegan").owner == QUILLON
        assert about(entry, "kosher").owner == OTTOLINE


def test_a_json_profile_of_the_user_is_about_the_user() -> None:
    profile = {"user": {"diet": "vegan", "pets": [{"name": "Zev", "kind": "ferret"}], "city": "Porto"}}
    entry = json.dumps(profile)
    assert about(entry, "vegan").owner == USER
    assert about(entry, "Porto").owner == USER
    assert about(entry, "ferret").owner == ZEV


def test_what_follows_somebody_nested_in_json_is_not_about_them() -> None:
    entry = json.dumps({"pets": [{"name": "Zev", "kind": "ferret"}], "diet": "vegan"})
    assert about(entry, "vegan").owner != ZEV


def test_a_key_in_camel_case_is_nobodys_name() -> None:
    entry = json.dumps({"user": {"startTime": "7 am", "favouriteDrink": "tea"}})
    assert about(entry, "7 am").owner == USER
    assert about(entry, "tea").text == "favourite drink: tea"
    assert about(entry, "tea").owner == USER


def test_json_in_a_code_fence_is_json() -> None:
    fenced = f"```json\n{json.dumps(PROFILE)}\n```"
    assert "job title: weir keeper" in texts(fenced)
    assert about(fenced, "weir keeper").owner == QUILLON


def test_sentences_in_a_json_value_are_statements_of_their_own() -> None:
    entry = json.dumps({"notes": "Quillon bakes at dawn. He fears geese."})
    assert texts(entry) == ["notes: Quillon bakes at dawn.", "notes: He fears geese."]


@pytest.mark.parametrize("text", ["{", '{"a": 1', "[1, 2", '{"a": tea}', "42", "null", '"tea"', "[]", "{}", "[" * 9000])
def test_what_only_looks_like_json_is_read_without_an_error(text: str) -> None:
    assert isinstance(read_entry(text), tuple)


JSON_VALUES = st.recursive(
    st.text("abc de\n.:|-", min_size=1, max_size=12) | st.integers(0, 99),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcXY_", min_size=1, max_size=6), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@FEW
@given(JSON_VALUES)
def test_every_word_of_a_json_value_is_in_a_statement(value: object) -> None:
    found = " ".join(texts(json.dumps({"top": value})))
    for leaf in leaves(value):
        for word in "".join(c if c.isalnum() else " " for c in str(leaf)).split():
            assert word in found


def leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


# -- YAML, fields, bullets, tables -------------------------------------------------------------------------------------


def test_a_yaml_profile_is_about_whom_it_names() -> None:
    entry = "name: Quillon\nlikes:\n  - rye bread\n  - geese\njob: weir keeper"
    assert set(owners(entry)) == {QUILLON}
    assert "likes" in context(about(entry, "rye bread"))
    assert "likes" not in context(about(entry, "weir keeper"))


def test_each_person_of_a_yaml_profile_owns_what_is_indented() -> None:
    entry = "Quillon:\n  diet: vegan\n  pets:\n    - ferret\nOttoline:\n  diet: kosher"
    assert about(entry, "vegan").owner == QUILLON
    assert about(entry, "ferret").owner == QUILLON
    assert about(entry, "kosher").owner == OTTOLINE


@pytest.mark.parametrize("head", ["", "people:\n"])
def test_each_person_of_a_yaml_list_owns_their_own_item(head: str) -> None:
    entry = f"{head}- name: Quillon\n  diet: vegan\n- name: Ottoline\n  diet: kosher"
    assert about(entry, "vegan").owner == QUILLON
    assert about(entry, "kosher").owner == OTTOLINE
    assert "Quillon" not in context(about(entry, "kosher"))


def test_the_depth_of_indentation_tells_what_is_below_what() -> None:
    entry = "home:\n  city: Porto\n  street:\n    number: 7\nwork:\n  city: Lisbon"
    assert context(about(entry, "Porto")) == "home"
    assert context(about(entry, "7")) == "home street"
    assert context(about(entry, "Lisbon")) == "work"


@pytest.mark.parametrize("sign", [": ", " = ", " : "])
def test_a_field_keeps_its_key(sign: str) -> None:
    (statement,) = read_entry(f"favourite drink{sign}rye coffee")
    assert {"favourite", "drink", "rye", "coffee"} <= statement.keys


def test_a_field_of_a_person_is_about_that_person() -> None:
    assert about("Quillon: polishes the kettle\nOttoline: sings", "polishes").owner == QUILLON
    assert about("Quillon: polishes the kettle\nOttoline: sings", "sings").owner == OTTOLINE


def test_a_name_in_the_value_of_a_field_is_not_whom_it_is_about() -> None:
    assert about("user's dentist: Quillon\nbest friend: Ottoline", "dentist").owner != QUILLON


@pytest.mark.parametrize("heading", ["# {}", "### {} ###", "**{}**", "**{}:**", "{}:", "- {}:"])
@pytest.mark.parametrize("bullet", ["- ", "* ", "• ", "1. ", "2) "])
def test_bullets_below_a_heading_are_about_it(heading: str, bullet: str) -> None:
    indent = "  " if heading.startswith("- ") else ""
    blocks = [
        f"{heading.format(name)}\n" + "\n".join(f"{indent}{bullet}{thing}" for thing in things)
        for name, things in (("Quillon", ("rye bread", "kettles")), ("Ottoline", ("geese",)))
    ]
    entry = "\n\n".join(blocks)
    assert texts(entry) == ["rye bread", "kettles", "geese"]
    assert owners(entry) == [QUILLON, QUILLON, OTTOLINE]
    assert [context(statement) for statement in read_entry(entry)] == ["Quillon", "Quillon", "Ottoline"]


def test_a_heading_of_a_topic_is_context_and_no_owner() -> None:
    entry = "Food:\n- rye bread\n- geese\nTravel:\n- night trains"
    assert set(owners(entry)) == {()}
    assert [context(statement) for statement in read_entry(entry)] == ["Food", "Food", "Travel"]


def test_a_line_above_bullets_is_their_context() -> None:
    entry = "Quillon at work\n- polishes the kettle\n- sings"
    assert about(entry, "sings").owner == QUILLON
    assert "work" in context(about(entry, "polishes"))


def test_a_table_has_a_statement_a_row_with_the_names_of_the_columns() -> None:
    entry = "| name | likes |\n|------|:-----:|\n| Quillon | rye bread |\n| Ottoline | tea |"
    assert texts(entry) == ["name: Quillon, likes: rye bread", "name: Ottoline, likes: tea"]
    assert owners(entry) == [QUILLON, OTTOLINE]


def test_cells_of_an_unbalanced_table_are_kept() -> None:
    words = "Quillon rye Ottoline geese tea".split()
    entry = "| name | likes |\n|---|\n| Quillon |\n| Ottoline | rye | geese |\n|| tea |"
    found = " ".join(texts(entry))
    assert all(word in found for word in words)


# -- notes, dialogue, paragraphs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Tags", "Keywords", "keywords", "Topics", "labels", "Category"])
def test_a_list_of_keywords_is_marked_and_the_note_beside_it_is_not(name: str) -> None:
    entry = f"Quillon polishes the kettle at night.\n{name}: kettle, polish, night"
    assert [statement.is_tags for statement in read_entry(entry)] == [False, True]
    assert not any(statement.is_tags for statement in read_entry("Quillon polishes the kettle at night."))


def test_words_a_line_each_are_read_together() -> None:
    assert texts("kettle\ncopper\npolish") == ["kettle copper polish"]


def test_dialogue_is_about_who_speaks() -> None:
    entry = "Quillon: I love rye bread.\nOttoline: I hate it.\nQuillon: And I bake it."
    assert owners(entry) == [QUILLON, OTTOLINE, QUILLON]
    assert texts(entry) == ["I love rye bread.", "I hate it.", "And I bake it."]


@pytest.mark.parametrize("role", ["User", "user", "USER", "Human"])
def test_the_user_speaks_of_the_user(role: str) -> None:
    entry = f"{role}: I live in Porto.\n{role}: I bake rye bread."
    assert owners(entry) == [USER, USER]
    assert [context(statement) for statement in read_entry(entry)] == ["", ""]


@pytest.mark.parametrize(("user", "assistant"), [("User", "Assistant"), ("user", "assistant"), ("Human", "AI")])
def test_what_the_assistant_says_of_itself_is_not_about_the_user(user: str, assistant: str) -> None:
    entry = f"{user}: I live in Porto.\n{assistant}: I like your kettle.\n{user}: I bake rye bread."
    assert about(entry, "kettle").owner != USER
    assert about(entry, "Porto").owner == USER
    assert about(entry, "rye").owner == USER


def test_a_quotation_is_about_who_said_it() -> None:
    assert set(owners('Quillon said: "I never drink tea."')) == {QUILLON}


def test_pronouns_are_resolved_to_the_person_before() -> None:
    entry = "Quillon lives in Porto. He drinks tea. They call him a giant.\nOttoline rows. She sings."
    assert owners(entry) == [QUILLON, QUILLON, QUILLON, OTTOLINE, OTTOLINE]


def test_an_elided_subject_is_the_person_before() -> None:
    assert owners("Quillon bakes bread. Sings at night. Fears geese.") == [QUILLON] * 3


def test_a_place_is_not_whom_a_sentence_without_a_subject_is_about() -> None:
    assert owners("Quillon bakes bread. Lives in Porto. Sings at night.") == [QUILLON] * 3


def test_a_place_that_opens_a_sentence_is_not_whom_it_is_about() -> None:
    assert owners("In Porto, Quillon drinks tea.") == [QUILLON]
    assert owners("In Porto I drink tea.") == [USER]


@pytest.mark.parametrize(
    "text", ["I live in Porto.", "The user lives in Porto.", "User lives in Porto.", "My home is in Porto."]
)
def test_the_user_is_one_owner_in_whatever_words(text: str) -> None:
    assert owners(text) == [USER]


@pytest.mark.parametrize("whose", ["My", "The user's", "User's"])
def test_a_relative_of_the_user_is_not_the_user(whose: str) -> None:
    (owner,) = owners(f"{whose} sister lives in Porto.")
    assert owner != USER
    assert owner
    (named,) = owners(f"{whose} sister Keziah lives in Porto.")
    assert "keziah" in named


def test_a_relative_of_somebody_is_not_that_person() -> None:
    entry = "Quillon lives in Porto. His sister Keziah drinks coffee. Quillon's brother is a baker."
    assert owners(entry)[0] == QUILLON
    assert all("quillon" not in owner for owner in owners(entry)[1:])


def test_what_belongs_to_somebody_is_about_that_person() -> None:
    assert owners("Quillon's kettle is copper.") == [QUILLON]
    assert owners("Quillon’s kettle is copper.") == [QUILLON]


def test_a_full_name_is_one_owner() -> None:
    assert owners("Quillon Marwood likes tea.") == [("quillon", "marwood")]


def test_a_sentence_about_nobody_has_no_owner() -> None:
    assert owners("the kettle is made of copper.") == [()]


@pytest.mark.parametrize("stamp", ["2024-05-01: ", "[2024-05-01 10:30] ", "(2024-05-01T10:30:00Z) ", "2024-05-01 - "])
def test_a_stamp_before_a_sentence_is_not_part_of_it(stamp: str) -> None:
    assert texts(f"{stamp}Quillon likes tea.") == ["Quillon likes tea."]
    assert owners(f"{stamp}Quillon likes tea.") == [QUILLON]


def test_sentences_end_where_they_end() -> None:
    text = "Dr. Quillon met Mrs. Zev at 8 a.m. and paid 2.50 euros. They ate! Did they talk? Yes; for hours."
    assert len(statements(text)) == 5
    assert statements(text)[0].endswith("euros.")


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t", "\u00a0"])
def test_an_empty_text_has_no_statements(text: str) -> None:
    assert read_entry(text) == ()


# -- what holds for any text -------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    ["Quillon bakes.", "- geese", "* tea:", "# Food", "diet: vegan", "| a | b |", "|---|---|", "User: I row.", "kettle",
     "2024-05-01: rain", "**Work**", "  - nested", "Tags: a, b", "She sings; he rows.", "{", "[1]", "", "He said: no."]
)  # fmt: skip


@FEW
@given(st.lists(LINES, max_size=8).map("\n".join) | st.text(max_size=80))
def test_tokens_are_where_the_text_says(text: str) -> None:
    for statement in read_entry(text):
        assert len(statement.tokens) <= MAX_TOKENS
        for token in statement.tokens:
            assert statement.text[token.start : token.end] == token.surface


def test_a_long_stretch_without_a_full_stop_is_cut_and_nothing_is_lost() -> None:
    words = [f"word{i}" for i in range(500)]
    statements = read_entry(" ".join(words))
    assert len(statements) > 1
    assert "".join(statement.text.replace(" ", "") for statement in statements) == "".join(words)


@FEW
@given(st.lists(LINES, max_size=6).map("\n".join))
def test_reading_twice_gives_the_same(text: str) -> None:
    once, twice = read_entry(text), read_entry(text + " " * 5000)
    assert [(s.text, s.owner, s.is_tags) for s in once] == [(s.text, s.owner, s.is_tags) for s in twice]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('{"isVegan": true, "city": "Leeds"}', ["is vegan", "city: Leeds"]),
        ('{"profile": {"hasPets": false}}', ["not has pets"]),
        ("- vegan: yes\n- Smokes: No.", ["vegan", "not Smokes"]),
        ("note: yes, he is vegan", ["note: yes, he is vegan"]),
    ],
)
def test_a_field_that_asks_yes_or_no_is_a_statement(entry, said):
    assert [statement.text for statement in read_entry(entry)] == said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I don't go to the lido any more.", "The user does not go to the lido any more."),
        ("I'm AB negative.", "I am AB negative."),
        ("You needn't remind me about Ivo.", "You need not remind the user about Ivo."),
        ("I take the coach to my aunt's.", "The user takes the coach to the user's aunt's."),
        ("I can't swim, and I've tried.", "User cannot swim, and the user has tried."),
        ("It won't rain, they're sure.", "It will not rain, they are sure."),
    ],
)
def test_the_same_words_of_the_user_are_the_same_in_both_forms(one, other):
    assert [s.words for s in read_entry(one)] == [s.words for s in read_entry(other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have a dog.", "The user had a dog."),
        ("I walk the dog.", "The user walks the dogs."),
        ("Ivo's paid.", "Ivo is paid."),
        ("I row.", "He rows."),
        ("I can row.", "I can't row."),
    ],
)
def test_other_words_are_others(one, other):
    assert [s.words for s in read_entry(one)] != [s.words for s in read_entry(other)]
