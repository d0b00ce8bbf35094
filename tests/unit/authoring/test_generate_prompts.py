"""The prompts use our own words, and start the same so that providers can cache them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_memfail.authoring import messages, spanned
from pytest_memfail.suites.meme import recipe
from pytest_memfail.suites.memfail.recipes import prompts

PAPERS = Path(__file__).parents[4] / "shared" / "papers"
RUN = 8
ALL = {
    name: value
    for module in (prompts, recipe)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}


def runs(text):
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


@pytest.mark.parametrize("name", ALL)
def test_no_prompt_repeats_a_paper(name):
    papers = sorted(PAPERS.glob("*.txt"))
    if not papers:
        pytest.skip(f"the papers are not here: {PAPERS}")
    for paper in papers:
        assert not runs(ALL[name]) & runs(paper.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ALL)
def test_prompts_are_short(name):
    assert len(ALL[name].split()) < 320


def test_the_spans_are_filled_in():
    assert "a piece of 8 to 12 sentences" in spanned(prompts.HARD, (8, 12))
    assert "{" not in spanned(prompts.EASY, (5, 8)).replace('{"rows"', "").replace("{...}", "")


def test_what_was_wrong_comes_last():
    first = messages("do", {"rows": [1]}, {})
    again = messages("do", {"rows": [1]}, {"row 1": ["too short", "too plain"]})
    assert again[0] == first[0]
    assert again[1]["content"].startswith(first[1]["content"])
    assert "- row 1: too short; too plain" in again[1]["content"]
