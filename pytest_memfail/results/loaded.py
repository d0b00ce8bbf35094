"""A record read back whole, and what it adds up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_memfail.core import UsageError
from pytest_memfail.results.gate import read_gate
from pytest_memfail.results.record import Line, read_record
from pytest_memfail.results.summary import Summary, SummaryBuilder


@dataclass(frozen=True, slots=True)
class Loaded:
    """The lines of a record by kind."""

    path: str
    header: Line
    questions: tuple[Line, ...]
    """In the order asked; one asked again (a rerun) is there once, as it was last."""
    stores: tuple[Line, ...]
    footer: Line | None
    """None if the run was killed."""

    @property
    def complete(self) -> bool:
        """Whether everything that was selected has a result."""
        return self.footer is not None and bool(self.footer.get("complete"))

    @property
    def whole(self) -> bool:
        """Whether every question that the run's options select has a result; ids, -k or -m leave a part."""
        return self.footer is not None and bool(self.footer.get("whole"))

    @property
    def protocol(self) -> str:
        """The protocol of the run."""
        return str(self.header.get("protocol", "ours"))

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return int(self.header.get("repeats") or 1)

    def summary(self, questions: Iterable[Line] | None = None) -> Summary:
        """What it adds up to; of some of its questions, if given."""
        builder = SummaryBuilder(self.protocol)
        for line in (*(self.questions if questions is None else questions), *self.stores):
            builder.add(line)
        models = () if self.footer is None or questions is not None else self.footer.get("models", ())
        about_tokens = self.header.get("approximate_tokens")
        found = builder.build(self.header.get("tasks", {}), self.path, models, about_tokens)
        gate = None if self.footer is None or questions is not None else self.footer.get("gate")
        return found if gate is None else replace(found, gate=read_gate(gate))

    @property
    def ks(self) -> tuple[int, ...]:
        """The values of k that were asked with, least first."""
        return tuple(sorted({line["k"] for line in self.questions}))


def load_record(path: Path) -> Loaded:
    """Read a record.

    Raises `UsageError` for a file that is none.
    """
    from pytest_memfail.results.line_models import checked

    return loaded(checked(read_record(path), str(path)), str(path))


def loaded(lines: Iterable[Line], path: str) -> Loaded:
    """The lines of a record, sorted by kind; `path` is what it is called.

    Raises `UsageError` for one of another schema.
    """
    header: Line = {}
    questions: dict[str, Line] = {}
    stores: list[Line] = []
    footer: Line | None = None
    for line in lines:
        match line.get("type"):
            case "header":
                header = line
            case "question":
                questions[line["id"]] = line
            case "store":
                stores.append(line)
            case "footer":
                footer = line
    if header.get("schema_version") != 1:
        raise UsageError(f"{path}: schema_version is {header.get('schema_version')!r}, this memfail reads 1")
    return Loaded(path, header, tuple(questions.values()), tuple(stores), footer)


def is_whole_record(path: Path) -> bool:
    """Whether a file is the record of a whole run that came to its end."""
    try:
        return path.exists() and load_record(path).whole
    except UsageError:
        return False


def labels(records: Sequence[Loaded]) -> list[str]:
    """A short name for each of several records, all different: the system, its options, k, or else the file's name."""
    ways = (
        [str(record.header.get("system")) for record in records],
        [f"{r.header.get('system')} k={','.join(map(str, r.ks))}" for r in records],
        [Path(record.path).stem for record in records],
    )
    for names in ways:
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i})" for i, name in enumerate(ways[-1], 1)]
