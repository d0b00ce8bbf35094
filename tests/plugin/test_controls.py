"""Control sequences in memories, exceptions and what systems say are shown, never obeyed."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re

import pytest

from plugin.project import Project
from pytest_memfail.cli import main
from pytest_memfail.running import TerminalLine

ATTACK = (
    "\x1b]52;c;ZXZpbA==\x07\x1b]0;owned\x07\x1b[2J\x1b]8;;http://e.example\x1b\\x\x9b1A\u202egpj\u2066\x7f\x08\u200f"
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;]*m)")
"""What a terminal would obey; colours are pytest's own."""

SYSTEM = f"""
    import warnings
    ATTACK = {ATTACK!r}

    class Attacker(Toy):
        def retrieve_memories(self, query, conversation, k):
            print("printed " + ATTACK)
            logging.getLogger("toy").warning("logged " + ATTACK)
            warnings.warn("warned " + ATTACK)
            if "ce-3" in query:
                raise ValueError("raised " + ATTACK)
            return [{{"text": text + ATTACK, "id": text + ATTACK}} for text in super().retrieve_memories(query, conversation, k)]

        def get_all_memories(self):
            return [{{"text": text + ATTACK, "id": text + ATTACK}} for text in self.memories]

        def describe(self):
            return {{"version": ATTACK}}

    def pytest_memfail_make_system(config, name):
        if name == "broken":
            raise ValueError(ATTACK)
        return lambda context: Attacker(context, config.rootpath / "events.log")
"""


@pytest.mark.parametrize("n", [None, 1])
def test_no_control_character_of_others_is_obeyed(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, n: int | None
) -> None:
    project.conftest(SYSTEM)
    project.script(ce_1="not_retrieved", ce_2="summary_error")
    reports = [f"--memfail-report=x.{ending}" for ending in ("html", "md")]
    words = ["memfail/coexisting_facts", "-v", "-rA", "-Wdefault", "--junitxml=x.xml", "-ojunit_logging=all", *reports]
    result = project.run(*words, "--memfail-record=r.jsonl", "--color=yes", system="attacker", n=n)
    result.assert_outcomes(passed=3, failed=2, errors=1)
    said = result.stdout.str()
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    main(["show", "r.jsonl", "--verdict=error"])
    main(["show", "r.jsonl"])
    shown = capsys.readouterr().out
    files = {name: (project.path / name).read_text(encoding="utf-8") for name in ("x.html", "x.md", "x.xml")}
    for name, text in {"terminal": said, "show": shown, **files}.items():
        found = OBEYED.search(text.replace("\x1b[?25h", ""))
        assert found is None, (name, text[max(0, found.start() - 80) : found.end() + 20])
    for word in ("printed", "logged", "warned", "raised"):
        assert rf"{word} \x1b]52;c;" in said
    assert r"\x1b]52;c;" in shown
    assert r"\x1b\]52;c;" in files["x.md"].replace("\\\\", "\\")
    packed = re.findall(r'id="data">(.*?)</script>', files["x.html"])[0]
    texts = json.loads(gzip.decompress(base64.b64decode(packed)))["texts"]
    assert not any(map(OBEYED.search, texts))
    (line, *_) = [line for line in project.record("r.jsonl") if line["type"] == "question" and "retrieved" in line]
    assert line["retrieved"][0]["text"].endswith(ATTACK)  # the record keeps what was said


def test_a_usage_error_shows_what_the_users_code_said(project: Project) -> None:
    project.conftest(SYSTEM)
    result = project.run("memfail/coexisting_facts", system="broken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert OBEYED.search(result.stderr.str()) is None
    assert r"\x1b]52;c;" in result.stderr.str()


def test_the_progress_line_shows_what_is_in_a_name() -> None:
    read, write = os.pipe()
    line = TerminalLine(write)
    line.show("a\x1b[2Jb\u202e")
    line.show("")
    line.show("")  # nothing is shown, so nothing is removed
    line.close()
    shown = os.read(read, 1000).decode()
    os.close(read)
    # on the line below, with the cursor back where it was
    assert shown == "\x1bD\x1bM\x1b7\x1b[B\r\x1b[K" + r"a\x1b[2Jb\u202e" + "\x1b8" + "\x1b[J"
