"""Records in memory: load, summarize and merge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_memfail.core import Key, QuestionRecord, Suite, UsageError, added_up, counted, described_apart
from pytest_memfail.records import (
    SCHEMA_VERSION,
    Footer,
    Header,
    Record,
    StoreRecord,
    differences,
    judge_in_words,
    read_record,
)
from pytest_memfail.results.reference import joined, with_reference
from pytest_memfail.results.summary import Summary, suite_records, summarize


@dataclass(frozen=True)
class Loaded:
    """The record of a run in memory, read from a file or collected during the run."""

    path: str
    header: Header
    questions: tuple[QuestionRecord, ...]
    """In the order asked; a question with a rerun appears once, with its last result."""
    stores: tuple[StoreRecord, ...]
    footer: Footer | None
    """None if the run was killed or is still running."""
    suites: tuple[Suite, ...] = ()
    """The suites of the record that are installed, if the caller needs their measures."""

    @property
    def complete(self) -> bool:
        """Whether every selected question has a result."""
        return self.footer is not None and self.footer.complete

    @property
    def whole(self) -> bool:
        """Whether every question that the run's options select has a result, even those that ids, -k or -m leave out."""
        return self.footer is not None and self.footer.whole

    @property
    def protocol(self) -> str:
        """The protocol of the run."""
        return self.header.protocol

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return self.header.repeats or 1

    @property
    def ks(self) -> tuple[int, ...]:
        """The values of k of the questions, in ascending order."""
        return tuple(sorted({question.k for question in self.questions}))

    @property
    def outcomes(self) -> dict[Key, QuestionRecord]:
        """The outcome of each question, by question and k; the last outcome if two items ask it."""
        return {question.key: question for question in self.questions}

    @cached_property
    def _counted(self) -> Summary:
        """The summary of the questions, without what the footer says."""
        return self.summary_of(self.questions)

    def summary(self) -> Summary:
        """Return the summary of the run; its questions are counted once."""
        if self.footer is None:
            return self._counted
        footer = self.footer
        found = replace(
            self._counted,
            models=footer.models,
            gate=footer.gate,
            suites=footer.suites,
            reference=footer.reference,
            clues=footer.clues,
        )
        return found.with_doubts(footer.doubts)

    def summary_of(self, questions: Iterable[QuestionRecord]) -> Summary:
        """Return the summary of some questions of the run."""
        header = self.header
        return summarize(
            questions,
            self.stores,
            protocol=header.protocol,
            judge=judge_in_words(header.judge, header.judge_options),
            tasks=header.tasks,
            record=self.path or None,
            approximate=header.approximate_tokens,
        )

    def ended(self, footer: Footer) -> Loaded:
        """Return the record with another footer, without computing the summary of its questions again."""
        found = replace(self, footer=footer)
        vars(found)["_counted"] = self._counted
        return found


def load_record(path: Path) -> Loaded:
    """Read a record.

    Raises `UsageError` if the file is no record, or if its schema differs.
    """
    header: Header | None = None
    questions: dict[str, QuestionRecord] = {}
    stores: list[StoreRecord] = []
    footer: Footer | None = None
    for record in read_record(path):
        match record:
            case Header():
                if header is not None:
                    raise UsageError(f"{path}: two records in one file, expected one; join shards with memfail merge")
                header = record
            case QuestionRecord():
                questions[record.id] = record
            case StoreRecord():
                stores.append(record)
            case Footer():
                footer = record
    if header is None or header.schema_version != SCHEMA_VERSION:
        version = None if header is None else header.schema_version
        raise UsageError(f"{path}: schema_version is {version!r}, this memfail reads {SCHEMA_VERSION}")
    asked = with_reference(questions.values(), footer.reference if footer is not None else None)
    return Loaded(str(path), header, asked, tuple(stores), footer)


def labels(records: Sequence[Loaded]) -> list[str]:
    """Return a short, unique name for each record: its system, its system and k, or else the file's name."""
    ways = (
        [record.header.system for record in records],
        [f"{r.header.system} k={','.join(map(str, r.ks))}" for r in records],
        [Path(record.path).stem for record in records],
    )
    for names in ways:
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i})" for i, name in enumerate(ways[-1], 1)]


def merge(records: Sequence[Loaded], suites: Sequence[Suite] = ()) -> tuple[list[Record], list[str]]:
    """Return the lines of the merged record, and what it still lacks of the whole run (one text each).

    `suites` are the suites whose own measures are computed over all questions.

    Raises `UsageError` if the records do not belong together, or overlap.
    """
    first = records[0]
    origin: dict[str, str] = {}
    for record in records:
        for name, before, now in differences(first.header, record.header):
            raise UsageError(f"{record.path} is of another run: {name} is {now!r}, in {first.path} {before!r}")
        if (apart := described_apart(*([store.system for store in one.stores] for one in (first, record)))) is not None:
            raise UsageError(f"{record.path} is of another system than {first.path}: {apart}")
        for question in record.questions:
            if (other := origin.setdefault(question.id, record.path)) != record.path:
                raise UsageError(f"{record.path} and {other} overlap: both hold {question.id}")
    missing = list(_missing(records))
    merged = {**first.header.extra, "merged": [record.header.shard for record in records]}
    approximate = next((why for record in records if (why := record.header.approximate_tokens)), None)
    header = replace(first.header, shard=None, approximate_tokens=approximate, extra=merged)
    footer = Footer(
        exit_code=max((record.footer.exit_code for record in records if record.footer), default=1),
        complete=not missing,
        whole=not missing,
        models=tuple(_models(records)),
        suites=suite_records(
            (q for record in records for q in record.questions), suites, header.tasks, header.protocol
        ),
        doubts=added_up(doubt for record in records if record.footer for doubt in record.footer.doubts),
        reference=joined(record.footer.reference for record in records if record.footer),
    )
    lines: list[Record] = [header]
    for record in records:
        lines += [*record.questions, *record.stores]
    return [*lines, footer], missing


def _missing(records: Sequence[Loaded]) -> Iterator[str]:
    shards = [record.header.shard for record in records if record.header.shard]
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1:
        raise UsageError(f"the records are of runs in different numbers of shards: {', '.join(sorted(shards))}")
    for count in counts:
        for number in range(1, int(count) + 1):
            if f"{number}/{count}" not in shards:
                yield f"shard {number}/{count}"
    for record in records:
        if not record.complete:
            yield f"{record.path}: the run did not end, or not all that was selected has a result"
    # count results: a shard may have run only some of its questions
    have = Counter(
        q.task if q.store == q.task else f"{q.task}::{q.store}" for record in records for q in record.questions
    )
    for store, n in records[0].header.stores.items():
        if have[store] < n:
            yield f"{n - have[store]} of {counted(n, 'question')} of {store}"


def _models(records: Sequence[Loaded]) -> list[dict[str, Any]]:
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        for row in record.footer.models if record.footer is not None else ():
            known = sums.setdefault((row["stage"], row["model"]), {})
            for name, value in row.items():
                if name in ("stage", "model"):
                    known[name] = value
                elif value is None or known.get(name, 0) is None:
                    known[name] = None  # an unknown price stays unknown
                else:
                    known[name] = known.get(name, 0) + value
    return list(sums.values())
