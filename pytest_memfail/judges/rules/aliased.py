"""Sentences as one reads them who looks for certain keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import overload

from pytest_memfail.judges.rules.text import Sentence


class Aliased(Sequence[Sentence]):
    """Sentences as one reads them who takes a synonym for the key it stands for; each made when it is first looked at."""

    def __init__(self, base: Sequence[Sentence], alias: Mapping[str, str], changed: Iterable[int]) -> None:
        self._base = base
        self._alias = alias
        self._changed: dict[int, Sentence | None] = dict.fromkeys(changed)

    def __len__(self) -> int:
        return len(self._base)

    @overload
    def __getitem__(self, at: int) -> Sentence: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Sentence]: ...
    def __getitem__(self, at: int | slice) -> Sentence | Sequence[Sentence]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = at + len(self) if at < 0 else at
        if at not in self._changed:
            return self._base[at]
        read = self._changed[at]
        if read is None:
            read = self._changed[at] = self._base[at].with_keys(self._alias)
        return read
