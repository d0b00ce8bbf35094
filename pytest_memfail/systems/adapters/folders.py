"""Stores that are a folder: written to and read back from a snapshot."""

from __future__ import annotations

import shutil
from pathlib import Path


def save_folder(folder: Path, snapshot: Path) -> None:
    """Copy the folder of a closed store into the snapshot."""
    shutil.copytree(folder, snapshot / folder.name, dirs_exist_ok=True)


def load_folder(folder: Path, snapshot: Path) -> None:
    """Replace the folder of a closed store by the one in the snapshot; nothing of what was there is left."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(snapshot / folder.name, folder)
