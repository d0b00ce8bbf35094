"""What all tests have in common."""

from __future__ import annotations

import gc
import os
import ssl
import sys
from collections.abc import Iterator
from functools import cache

import pytest


def pytest_collection_finish() -> None:
    """Leave modules and tests out of garbage collection: to go through all of them takes a quarter of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def certificates_are_read_once() -> Iterator[None]:
    """Share what TLS needs: each client of a model reads the certificates of the machine, and those of tests use none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def no_module_of_another_test(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that a test wrote into its folder: the next test writes others of the same names."""
    before = set(sys.modules)
    yield
    folders = f"{tmp_path_factory.getbasetemp().parent}{os.sep}"
    for name in sys.modules.keys() - before:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and file.startswith(folders):
            del sys.modules[name]
