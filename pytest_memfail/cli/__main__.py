"""`python -m pytest_memfail.cli`."""

from __future__ import annotations

from pytest_memfail.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
