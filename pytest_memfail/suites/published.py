"""Find, load and check the files of a suite that has one file per variant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_memfail.core import OURS, RowError, Source, SuiteFault, SuiteRequest, UnknownNameError, UsageError

OWN_LICENCE: Final = "the user's own"


@dataclass(frozen=True, slots=True)
class Published:
    """The files of a suite; the file of `ours` has its own sample, or a user's rows in the same format."""

    name: str
    """The name of the suite, and of its subfolder in the user's folder."""
    source: Source
    rows: str
    """The noun for its rows, such as "episodes"."""
    shipped: Callable[[], Path]
    """Returns the file of the suite's own sample."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """The size of a variant in words, if it differs from that of the source."""

    def to_load(self, request: SuiteRequest) -> tuple[Path, str, str]:
        """Return the file to load, its variant and its licence.

        Raises `UsageError` for an unknown variant or a missing file.
        """
        files = self.source.files
        if request.variant not in ("", *files):
            raise UnknownNameError(f"variant of {self.name}", request.variant, tuple(files))
        if request.folder is None and request.variant in ("", OURS):
            return self.shipped(), OURS, "MIT"
        variant = request.variant or next(iter(files))
        (file,), (own,) = files[variant], files[OURS]
        if request.folder is not None and (path := self._inside(request.folder, file)):
            return path, variant, OWN_LICENCE if variant == OURS else self.source.licence
        about = f"{self.sizes.get(variant, self.source.size)}, {self.source.licence}, not shipped"
        expected = f"{file} ({about}) from {self.source.url}" if variant != OURS else f"{file}, {self.rows} of your own"
        where = f"in {request.folder}" if request.folder is not None else "without --memfail-data DIR"
        hint = f"; {own} there is {self.name}:{OURS}" if request.folder and self._inside(request.folder, own) else ""
        raise UsageError(f"no file of {self.name}:{variant} {where}; expected {expected}{hint}")

    def present(self, folder: Path) -> list[Path]:
        """Return the files of all variants in a folder.

        Raises `UsageError` if it has none.
        """
        names = [name for group in self.source.files.values() for name in group]
        paths = [path for name in names if (path := self._inside(folder, name))]
        if not paths:
            raise UsageError(
                f"no file of {self.name} in {folder}; expected one of {', '.join(names)} from {self.source.url}"
            )
        return paths

    def _inside(self, folder: Path, name: str) -> Path | None:
        """Return a file in a folder, or in the suite's subfolder."""
        return next((path for path in (folder / name, folder / self.name / name) if path.is_file()), None)


def as_faults(errors: Iterable[RowError], warnings: Iterable[RowError] = ()) -> Iterator[SuiteFault]:
    """Yield the faults of rows as `memfail validate` reports them, errors first."""
    for found, is_error in ((errors, True), (warnings, False)):
        yield from (SuiteFault(fault.file, fault.field, fault.problem, is_error, fault.line) for fault in found)
