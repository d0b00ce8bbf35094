"""The page in a real browser: filters, life lines, the store browser, hostile text, and 20,000 questions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import Kept, Memory, QuestionRecord, Session
from pytest_memfail.records import StoreRecord, from_json
from pytest_memfail.report.html import html
from pytest_memfail.results import load_record

sys.path.insert(0, str(Path(__file__).parent.parent / "unit" / "report"))
from recorded_runs import question, store, write

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
HOSTILE = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script> \u202e"
WORDS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=WORDS.split())
        yield found
        found.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """`visit(records, fragment, width)` opens their page; nothing in it may raise."""
    raised: list[object] = []
    opened = []

    def go(paths: list[Path], fragment: str = "", width: int = 1280) -> Any:
        page = tmp_path / "x.html"
        page.write_text(html([load_record(path) for path in paths]), "utf-8")
        tab = browser.new_page(viewport={"width": width, "height": 900})
        opened.append(tab)
        tab.on("pageerror", lambda error: raised.append(error))
        tab.on("request", lambda request: raised.append(request.url) if not request.url.startswith("file:") else None)
        tab.goto(page.as_uri() + fragment)
        tab.wait_for_selector("html[data-ready]")
        return tab

    yield go
    for tab in opened:
        tab.close()
    assert raised == []


def memory(text: str, **fields: Any) -> Memory:
    return Memory(text=text, **fields)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    questions = [question(i, v) for i, v in enumerate(["correct", "summary_error", "not_retrieved", "not_stored"])]
    listing = (memory("Ada bakes bread."), memory("Nothing to do with it, elephants swim."))
    sessions = (Session("c-0", 30, 0.0), Session("c-1", 35, 0.5))
    held = replace(store(), listings=(listing,), sessions=sessions, origins=((1,), ()), likely=(1,))
    return write(tmp_path / "a.jsonl", *questions, held)


def test_a_cell_of_the_heat_map_filters(visit: Any, run: Path) -> None:
    tab = visit([run])
    assert "3 of 4" in tab.inner_text("#status")  # failures first
    tab.click("button[aria-label='t, not retrieved: 1 of 4']")
    assert tab.inner_text("#status") == "1 of 4 questions match"
    assert "verdict=not_retrieved" in tab.url
    again = visit([run], tab.url[tab.url.index("#") :])
    assert again.inner_text("#status") == "1 of 4 questions match"
    again.click("#reset")
    assert again.inner_text("#status") == "4 of 4 questions match"


@pytest.mark.parametrize(
    ("verdict", "marks"),
    [
        ("not_stored", ["ok", "broken", "none", "none", "none"]),
        ("summary_error", ["ok", "broken", "none", "none", "none"]),
        ("not_retrieved", ["ok", "ok", "ok", "broken", "none"]),
    ],
)
def test_a_life_line_breaks_where_the_verdict_falls(visit: Any, run: Path, verdict: str, marks: list[str]) -> None:
    tab = visit([run], f"#verdict={verdict}")
    assert [one.get_attribute("class") for one in tab.query_selector_all(".line li")] == marks
    if verdict == "summary_error":
        assert tab.inner_text(".line .broken small") == "without only when it rains"
        assert tab.inner_text("mark.lost") == "only when it rains"


@pytest.mark.parametrize(
    ("said", "stored", "lost"),
    [
        ("She owns three ovens and two cats.", "She owns ovens and cats.", ["three", "two"]),
        ("The cat Miso sleeps at nine", "Miso cat sleeps the", ["at nine"]),  # another order loses nothing
        ("one and one and one more", "one and one more", ["and one"]),
        ("The tram leaves at seven from the harbour", "Elephants swim", []),  # a memory of something else
        ("The tram leaves Harrow at seven", "Elephants swim", []),  # the lost "row" is not within a word
    ],
)
def test_the_words_lost(visit: Any, tmp_path: Path, said: str, stored: str, lost: list[str]) -> None:
    asked = question(0, "summary_error", source=said, stored=stored, lost="row")
    tab = visit([write(tmp_path / "d.jsonl", asked, store())])
    assert [one.inner_text() for one in tab.query_selector_all("mark.lost")] == lost


def test_the_list_is_walked_by_keys(visit: Any, run: Path) -> None:
    tab = visit([run], "#sort=verdict")
    tab.focus("#list")
    tab.keyboard.press("End")
    assert tab.inner_text("#detail code") == "memfail/t::q-0"
    tab.keyboard.press("ArrowUp")
    chosen = tab.get_attribute("#list", "aria-activedescendant")
    assert tab.get_attribute(f"#{chosen}", "aria-selected") == "true"
    assert "q=0%3Amemfail" in tab.url


def test_the_store_browser(visit: Any, run: Path) -> None:
    tab = visit([run], "#view=store")
    assert "2 of 2 memories listed; 1 unclaimed (50 %)" in tab.inner_text("#store [role=status]")
    tab.select_option("#m-kind", "unclaimed")
    assert tab.query_selector_all("#memories .row")[0].inner_text().startswith("Nothing to do with it")
    tab.select_option("#m-kind", "")
    tab.click("#memories .row >> nth=0")
    assert tab.inner_text("#store .chosen mark.lost").startswith("only")
    assert "1 of 2 conversations left nothing" in tab.inner_text("#store [role=status]")
    dropped, cut = (one.inner_text().split("\n") for one in tab.query_selector_all("#conversations .row"))
    assert dropped == ["c-0", "nothing kept"]
    assert cut == ["Ada bakes bread only when it rains.", "50 % of its words are kept, in 1 memory"]
    tab.click("#conversations .row >> nth=0")
    assert "nothing" in tab.inner_text("#store .chosen")


def test_a_fact_that_is_not_stored_shows_what_is_left_of_its_conversation(visit: Any, tmp_path: Path) -> None:
    asked = question(0, "not_stored")
    asked = replace(asked, facts=(replace(asked.facts[0], kept=Kept((1,), ("Ada likes rain.",), is_likely=True)),))
    text = visit([write(tmp_path / "k.jsonl", asked, store())]).inner_text("#detail")
    assert text.index("1 entry (likely)") < text.index("Ada likes rain.") < text.index("closest")


def test_the_store_over_time(visit: Any, tmp_path: Path) -> None:
    line = {
        "store": "t", "task": "t", "conversations": 2, "fill_seconds": 1, "memories": 1, "tokens": 5,
        "changed_by_queries": [0, 0], "listings": [],
        "history": [
            {"number": 0, "added": [{"text": "Ada lives in Lund."}], "gone": []},
            {"number": 1, "added": [{"text": "Ada lives in Oslo."}], "gone": [0]},
        ],
    }  # fmt: skip
    tab = visit([write(tmp_path / "t.jsonl", question(0, "correct"), from_json(StoreRecord, line))], "#view=store")
    assert "Oslo" in tab.inner_text("#memories")
    tab.focus("#m-time")
    tab.keyboard.press("ArrowLeft")
    assert "Lund" in tab.inner_text("#memories")
    assert "Oslo" not in tab.inner_text("#memories")


def test_two_records_show_what_changed_first(visit: Any, run: Path, tmp_path: Path) -> None:
    worse = [question(i, v) for i, v in enumerate(["summary_error", "summary_error", "correct", "not_stored"])]
    other = write(tmp_path / "b.jsonl", *worse, store(), system="other")
    tab = visit([run, other])
    assert tab.inner_text("#status") == "2 of 8 questions match"
    assert [one.inner_text() for one in tab.query_selector_all(".moved .badge")] == ["correct", "summary error"]
    assert len(tab.query_selector_all(".pair .line")) == 2
    tab.select_option("#change", "better")
    assert tab.inner_text("#status") == "1 of 8 questions match"


def test_hostile_text_stays_text(visit: Any, tmp_path: Path) -> None:
    texts = dict.fromkeys(("text", "gold", "source", "stored", "reason", "lost"), HOSTILE)
    record = write(
        tmp_path / "h.jsonl",
        question(0, "summary_error", **texts),
        replace(store(), listings=((memory(HOSTILE, id=HOSTILE),),)),
        system=HOSTILE,
    )
    for fragment in ("", "#view=store", "#view=figures", f"#task={HOSTILE}"):
        tab = visit([record], fragment)
        assert tab.title() != "pwned"
        assert tab.query_selector_all("img") == []
    assert "onerror" in visit([record], "#view=store").inner_text("#memories")


def test_nothing_is_wider_than_a_phone(visit: Any, run: Path) -> None:
    for fragment in ("", "#view=store", "#view=figures"):
        tab = visit([run], fragment, width=400)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_cell_tapped_on_a_phone_scrolls_to_its_questions(visit: Any, run: Path) -> None:
    tab = visit([run], width=390)
    assert tab.evaluate("document.getElementById('list').getBoundingClientRect().top > 0.7 * innerHeight")
    tab.click("#heat tbody tr:first-child .cell >> nth=1")
    assert tab.evaluate("document.getElementById('list').getBoundingClientRect().top < 0.2 * innerHeight")


def test_rows_say_what_differs_and_a_failure_is_in_sight(visit: Any, run: Path) -> None:
    tab = visit([run], "#verdict=not_stored")
    [row] = tab.query_selector_all("#list .row")
    assert row.inner_text().split("\n") == ["not storedq-3 t", "Does Ada bake today?"]
    assert row.bounding_box()["y"] + row.bounding_box()["height"] < 900


def test_twenty_thousand_questions_open_at_once(visit: Any, tmp_path: Path) -> None:
    lines = [
        question(i, "summary_error", source=f"{i} said at length", stored=f"{i} kept", shown=5) for i in range(20_000)
    ]
    tab = visit([write(tmp_path / "many.jsonl", *lines, store())])
    assert "20000 of 20000" in tab.inner_text("#status")
    assert len(tab.query_selector_all("#list .row")) < 100
    tab.focus("#list")
    tab.keyboard.press("End")
    assert tab.inner_text("#detail code") == "memfail/t::q-19999"
    print(f"ready after {tab.evaluate('performance.now()'):.0f} ms")


def ranked(number: int, k: int, rank: int | None) -> QuestionRecord:
    """A question whose needed memory has this rank; None: it was not shown."""
    asked = question(number, "not_retrieved" if rank is None else "correct", k=k)
    return replace(asked, facts=tuple(replace(fact, ranks=(rank,)) for fact in asked.facts))


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([(5, None, 5), (20, 12, 5)], "Of 5 missed at a smaller k, k=20 shows 5: k is too small."),
        ([(5, None, 5), (20, None, 5)], "Of 5 missed at a smaller k, k=20 shows 0: the ranking is wrong, not k."),
        ([(5, 1, 6), (5, None, 4)], "0 of the 6 others rank in the lower half: what is found ranks high"),
        ([(5, 4, 3), (5, 5, 3), (5, None, 4)], "6 of the 6 others rank in the lower half: ranks reach down to k"),
    ],
)
def test_a_small_k_and_a_wrong_ranking_read_differently(
    visit: Any, tmp_path: Path, ranks: list[tuple[int, int | None, int]], says: str
) -> None:
    several = len({k for k, _, _ in ranks}) > 1
    lines, number = [], 0
    for k, rank, count in ranks:
        number = 0 if several else number
        lines += [ranked(number + i, k, rank) for i in range(count)]
        number += count
    tab = visit([write(tmp_path / "k.jsonl", *lines, store(), k=sorted({k for k, _, _ in ranks}))])
    assert says in tab.inner_text("#ranks")
    missed = sum(count for _, rank, count in ranks if rank is None)
    tab.click(f"button[aria-label='not shown: {missed} questions']")
    assert tab.inner_text("#status").startswith(f"{missed} of ")


def test_it_prints_what_is_shown(visit: Any, run: Path, tmp_path: Path) -> None:
    tab = visit([run], "#sort=verdict")
    tab.emulate_media(media="print")
    assert not tab.is_visible("#filters")
    assert tab.is_visible(".line")
    assert len(tab.pdf()) > 10_000
