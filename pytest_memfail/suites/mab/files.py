"""The published format of MemoryAgentBench (arXiv 2507.05257): each row is a context with its questions; files are splits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pytest_memfail.core import RowError, UsageError
from pytest_memfail.rows import JsonRow, digest, numbered, read_json_rows, read_row_again, row_faults
from pytest_memfail.suites.turns import read_date

NAME: Final = "mab"
RETRIEVAL: Final = "mab_retrieval"
LEARNING: Final = "mab_learning"
UNDERSTANDING: Final = "mab_understanding"
FORGETTING: Final = "mab_forgetting"
SPLITS: Final = {
    RETRIEVAL: "Accurate_Retrieval",
    LEARNING: "Test_Time_Learning",
    UNDERSTANDING: "Long_Range_Understanding",
    FORGETTING: "Conflict_Resolution",
}
"""Task to the name of its split; file names start with it."""
SIZES: Final = ("1k", "6k", "32k", "64k", "262k")
"""Lengths of FactConsolidation in tokens; the shortest is that of our sample."""


TITLES: Final = "entity2id.json"


@dataclass(frozen=True, slots=True)
class Family:
    """The rows of one origin: their part, and how they are stored and graded."""

    pattern: str
    """Pattern that `metadata.source` matches."""
    task: str
    part: str
    """Name of the part; may refer to groups of the pattern."""
    short: str
    """Prefix of the ids of its questions."""
    answer: str
    """The kind of its questions."""
    reply_tokens: int
    """The limit of a reply in the paper (table 13)."""
    chunk: int = 4096
    """Tokens per chunk in the paper (table 14)."""
    in_paper: bool = True
    """Whether it is in the paper's main table."""


FAMILIES: Final = (
    Family(r"ruler_qa1", RETRIEVAL, "ruler_qa1", "qa1", "mab_substring", 50, 512),
    Family(r"ruler_qa2", RETRIEVAL, "ruler_qa2", "qa2", "mab_substring", 50, 512),
    Family(r"longmemeval_s\*", RETRIEVAL, "longmemeval", "lme", "mab_open", 100, 512),
    Family(r"eventqa_full", RETRIEVAL, "eventqa_full", "event", "mab_events", 40),
    Family(r"eventqa_(65536|131072)", RETRIEVAL, r"eventqa_\1", "event", "mab_events", 40, in_paper=False),
    Family(r"icl_(banking77|clinic150|nlu|trec_coarse|trec_fine)", LEARNING, r"\1", "icl", "mab_label", 20),
    Family(r"recsys_redial", LEARNING, "recommendation", "rec", "mab_titles", 300),
    Family(r"infbench_sum", UNDERSTANDING, "summary", "sum", "mab_summary", 1200),
    Family(r"detective_?qa", UNDERSTANDING, "detective", "det", "mab_exact", 500),
    Family(r"factconsolidation_(sh|mh)_(262k)", FORGETTING, r"\1_\2", r"\1", "mab_substring", 10, 512),
    Family(r"factconsolidation_(sh|mh)_(1k|6k|32k|64k)", FORGETTING, r"\1_\2", r"\1", "mab_substring", 10, 512, False),
)


def _at(values: list[str | None] | None, at: int) -> str:
    return (values[at] or "") if values is not None and at < len(values) else ""


def _texts(value: Any) -> Any:
    """Return the gold answers of one question as texts; a single one need not be a list."""
    found = value if isinstance(value, list) else [value]
    return [str(one) if isinstance(one, int | float) else one for one in found]


def _turns_with_answers(value: Any) -> Iterator[str]:
    """Yield the texts of the turns that carry an answer; sessions may be nested to any depth."""
    if isinstance(value, dict):
        if value.get("has_answer") and isinstance(value.get("content"), str):
            yield value["content"]
    elif isinstance(value, list):
        for one in value:
            yield from _turns_with_answers(one)


def _answering(value: Any) -> Any:
    """Return the turns with answers by question; the rest of a haystack is in the context anyway."""
    return [list(_turns_with_answers(of)) for of in value] if isinstance(value, list) else None


def _strings(value: Any) -> Any:
    """Return a list of texts: a single text becomes a list, null becomes an empty list, and nested lists are joined."""
    if not isinstance(value, list):
        return [] if value is None else [value]
    return [text for one in value for text in (_strings(one) if isinstance(one, list) else [one])]


def _ids(value: Any) -> Any:
    """Return ids as texts."""
    return _texts(value) if isinstance(value, list) else value


class Metadata(BaseModel):
    """What a row says about its questions; every field but the source may be null."""

    model_config = ConfigDict(extra="ignore")
    source: str = Field(min_length=1)
    qa_pair_ids: Annotated[list[str] | None, BeforeValidator(_ids)] = None
    question_types: list[str | None] | None = None
    """LongMemEval only: the ability that each question tests."""
    question_dates: list[str | None] | None = None
    """LongMemEval only: when each question is asked, `2023/05/30 (Tue) 23:40`."""
    keypoints: Annotated[list[str], BeforeValidator(_strings)] = []
    """Summaries only: the key points of a right summary."""
    haystack_sessions: Annotated[list[list[str]] | None, BeforeValidator(_answering)] = None
    """LongMemEval only: the turns that carry the answer, by question."""


class Row(BaseModel):
    """One row of a file: a text to remember, and questions about it."""

    model_config = ConfigDict(extra="ignore")
    context: str = Field(min_length=1)
    questions: list[str] = Field(min_length=1)
    answers: list[Annotated[list[str], BeforeValidator(_texts)]]
    metadata: Metadata

    @model_validator(mode="after")
    def _lengths(self) -> Row:
        wanted, ids = len(self.questions), self.metadata.qa_pair_ids
        if len(self.answers) != wanted:
            raise ValueError(f"answers: got {len(self.answers)}, expected {wanted}, one for each question")
        if ids is not None and len(ids) != wanted:
            raise ValueError(f"metadata.qa_pair_ids: got {len(ids)}, expected {wanted}, one for each question")
        return self

    @property
    def family(self) -> Family | None:
        """Return the family of the row; None if the suite does not run its source."""
        source = self.metadata.source
        return next((family for family in FAMILIES if re.match(rf"{family.pattern}(?![0-9a-z])", source)), None)

    @property
    def part(self) -> str:
        """Return the part of its questions; empty without a family."""
        return self._of_family("part")

    @property
    def store(self) -> str:
        """Return an id of its context, which rows with the same context share."""
        name = re.sub(r"^ruler_qa\d", "documents", re.sub(r"^[sm]h_", "facts_", self.part))
        return f"{name}-{digest(self.context, 8)}"

    def turns(self, at: int) -> list[str]:
        """Return the turns that carry the answer to a question; empty if the row does not list them by question."""
        found = self.metadata.haystack_sessions
        return found[at] if found is not None and len(found) == len(self.questions) else []

    def asked_at(self, at: int) -> datetime | None:
        """Return when a question is asked; None without a date, or if it has another format."""
        return read_date(_at(self.metadata.question_dates, at))

    def question_type(self, at: int) -> str:
        """Return the type of a question; empty without one."""
        return _at(self.metadata.question_types, at)

    def question_ids(self) -> list[str]:
        """Return an id per question: the published id without its source, with a number appended to repetitions."""
        source, short = self.metadata.source, self._of_family("short")
        given = self.metadata.qa_pair_ids or [f"no{at}" for at in range(len(self.questions))]
        tails = (
            re.sub(r"[^A-Za-z0-9_.]+", "-", name.removeprefix(source).strip("_- ")) or f"no{at}"
            for at, name in enumerate(given)
        )
        return [f"{short}-{tail}" for tail in numbered(tails)]

    def _of_family(self, field: str) -> str:
        family = self.family
        if family is None:
            return ""
        match = re.match(family.pattern, self.metadata.source)
        assert match is not None
        return match.expand(getattr(family, field))


def files_in(folder: Path) -> list[Path]:
    """Return the files of each split in a folder, or in its subfolder `mab` or `data`; JSON if a split has both formats."""
    for place in (folder, folder / NAME, folder / "data", folder / NAME / "data"):
        found: list[Path] = []
        for split in SPLITS.values():
            named = [path for path in sorted(place.glob(f"{split}*")) if path.is_file()]
            as_json = [path for path in named if path.suffix in (".json", ".jsonl")]
            found += as_json or [path for path in named if path.suffix == ".parquet"]
        if found:
            return found
    return []


def titles_in(paths: Sequence[Path]) -> Path | None:
    """Return the entity table for the files of rows, from the same folder or the one above."""
    places = dict.fromkeys(place for path in paths for place in (path.parent, path.parent.parent))
    return next((place / TITLES for place in places if (place / TITLES).is_file()), None)


def read_rows(path: Path) -> tuple[list[JsonRow[Row]], list[RowError], str]:
    """Return the rows of a file, its faults and its SHA-256.

    Raises `UsageError` for a parquet file without pyarrow.
    """
    if path.suffix != ".parquet":
        return read_json_rows(path, Row)
    rows: list[JsonRow[Row]] = []
    faults: list[RowError] = []
    for number, value in enumerate(_parquet_rows(path)):
        try:
            rows.append(JsonRow(Row.model_validate(value), number + 1))
        except ValidationError as error:
            for fault in row_faults(str(path), number + 1, error):
                faults.append(RowError(str(path), number + 1, f"row {number}: {fault.field}", fault.problem))
    if not rows and not faults:
        faults.append(RowError(str(path), 1, "file", "has no rows"))
    return rows, faults, hashlib.sha256(path.read_bytes()).hexdigest()


def read_context(path: Path, row: JsonRow[Any]) -> str:
    """Return the text of a row, without keeping the other rows of its file.

    Raises `RowError` if the file has changed since it was read.
    """
    if path.suffix != ".parquet":
        value = read_row_again(path, row)
    else:
        value = next(islice(_parquet_rows(path, ["context"]), row.line - 1, None), None)
    found = value.get("context") if isinstance(value, dict) else None
    if not isinstance(found, str):
        raise RowError(str(path), row.line, "file", "has changed since it was read; start the run again")
    return found


def _parquet_rows(path: Path, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file, one in memory at a time."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise UsageError(
            f"{path} needs pyarrow: pip install 'pytest-memfail[parquet]', or give the same rows as {path.stem}.json"
        ) from None
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1, columns=columns):
                yield from batch.to_pylist()
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as parquet ({str(error).splitlines()[0]})") from None
