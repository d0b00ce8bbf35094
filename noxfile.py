"""All checks, one session each; `.ci/run`, the workflows and contributors use this list.

nox                          # lint, types, data, docs and tests, each in its own environment
nox -s tests -- -k gate      # options for pytest
nox --no-venv -s lint types  # in the current environment, which has everything installed
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "data", "docs", "tests"]
nox.options.reuse_existing_virtualenvs = True


def prepare(session: nox.Session, *what: str) -> None:
    """Install into the session's environment; with `--no-venv` it is installed already."""
    if session.venv_backend != "none":
        session.install(*what)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and layout of the code."""
    prepare(session, "ruff>=0.9")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    prepare(session, "-e", ".[dev]")
    session.run("mypy")


@nox.session
def data(session: nox.Session) -> None:
    """Check the shipped rows."""
    prepare(session, "-e", ".")
    session.run("memfail", "validate", "--strict", "datasets")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, with every link and anchor checked."""
    prepare(session, "-e", ".[docs]")
    session.run("mkdocs", "build", "--strict", "--quiet", "--site-dir", session.create_tmp())


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; pass options to pytest (default: two workers)."""
    prepare(session, "-e", ".[dev,docs]")
    # worksteal: the slow tests come first, and one worker would otherwise run most of them
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "2", "--dist", "worksteal"]))


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure what tests/unit covers in this process, and compare it with the minimum in pyproject.toml."""
    prepare(session, "-e", ".[dev]", "coverage>=7.6")
    session.run("coverage", "run", "-m", "pytest", "-q", "-n", "0", "tests/unit", *session.posargs)
    session.run("coverage", "report")


@nox.session
def pytest_main(session: nox.Session) -> None:
    """Run the tests with pytest's main branch, which may fail."""
    prepare(session, "-e", ".[dev]")
    session.install("pytest @ git+https://github.com/pytest-dev/pytest@main")
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "2", "--dist", "worksteal"]))


@nox.session(venv_backend="none")
def lowest(session: nox.Session) -> None:
    """Run the tests on the lowest versions that pyproject.toml allows; pass options to pytest."""
    session.run(".ci/lowest", *session.posargs, external=True)


@nox.session(venv_backend="none")
def package(session: nox.Session) -> None:
    """Build sdist and wheel, check their content, and use them as users do."""
    session.run(".ci/package", external=True)
