"""Make the README's pictures from a run over shipped rows: `python tools/pictures.py`. Needs Chromium and Pillow.

The system `lossy` drops details on purpose, so the pictures show what a loss looks like.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
RUN = ("--memfail-system=lossy", "--memfail-system-option=rate=0.3")
SIZE = (1280, 900)
COLOURS = 48
"""Few enough for a small file; the page has no photographs."""
LINE, CHARACTER, MARGIN = 18, 8.43, 16
"""Pixels of the terminal's picture."""
FLAGS = "--headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=8000"


def run(folder: Path) -> str:
    """Run the benchmark in a folder, write its page there, and return what the terminal shows from the verdict table on."""
    command = [sys.executable, "-m", "pytest", *RUN, "--memfail-report=page.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    table = done.stdout.rfind(" memory held %")
    if table < 0:
        raise SystemExit(done.stdout + done.stderr)
    end = done.stdout[done.stdout.rfind("\n", 0, table) + 1 :]
    return f"$ pytest {' '.join(RUN)}\n\n{end.partition('record: ')[0].rstrip()}"


def terminal(text: str) -> str:
    """Return a text as the SVG of a terminal."""
    lines = text.splitlines()
    width, height = max(map(len, lines)) * CHARACTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    rows = "".join(
        f'<text x="{MARGIN}" y="{MARGIN + (at + 0.75) * LINE:.0f}" xml:space="preserve">{escape(line)}</text>\n'
        for at, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e3e7ee">\n{rows}</g>\n</svg>\n'
    )


def photograph(page: Path, picture: Path) -> None:
    """Write the first screen of a page as a small PNG."""
    from PIL import Image

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("tools/pictures.py needs Chromium on the path: apt-get install chromium")
    shot = page.with_suffix(".png")
    profile = f"--user-data-dir={page.parent / 'profile'}"
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    subprocess.run(
        [browser, *FLAGS.split(), profile, size, f"--screenshot={shot}", page.as_uri()], check=True, capture_output=True
    )
    with Image.open(shot) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def main() -> None:
    """Write both pictures."""
    FOLDER.mkdir(exist_ok=True)
    os.environ.pop("PYTEST_ADDOPTS", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (FOLDER / "terminal.svg").write_text(terminal(run(folder)), encoding="utf-8")
        photograph(folder / "page.html", FOLDER / "page.png")


if __name__ == "__main__":
    main()
