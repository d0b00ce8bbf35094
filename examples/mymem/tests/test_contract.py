"""Check that mymem does what the benchmark requires of any memory system."""

from __future__ import annotations

from conftest import Adapter
from pytest_memfail.testing import check_memory_system


def test_mymem_keeps_its_contract():
    check_memory_system(Adapter)
