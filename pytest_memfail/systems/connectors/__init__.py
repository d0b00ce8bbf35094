"""Memories described by a YAML file, one module per kind; nothing is imported from a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import SystemContext, UnknownNameError, UsageError
from pytest_memfail.systems.connectors.agent import AgentSystem
from pytest_memfail.systems.connectors.config import MemoryFile
from pytest_memfail.systems.connectors.files import FilesMemory
from pytest_memfail.systems.connectors.reading import json_schema, read

MODES: Final = ("direct", "agent")
"""direct: the question is the query. agent: a model calls the memory's tools."""


@dataclass(frozen=True)
class ConnectorFactory:
    """Create the systems that a YAML file describes: `factory(context) -> system`."""

    config: MemoryFile
    always_agent: bool = False
    """Whether `agent` is the only mode."""

    def calls_model(self, options: Mapping[str, str]) -> bool:
        """Return whether storing may cost money."""
        return self._is_agent(options) or self.config.may_call_model

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, which is the system's source, like the programs that it names."""
        return (self.config.file,)

    @property
    def replay_ignore(self) -> list[str]:
        """What differs in the memory's prompts from run to run."""
        return self.config.replay_ignore

    def models(self, options: Mapping[str, str], default: str | None) -> tuple[str, ...]:
        """Return the model that calls the tools in mode `agent`: the setting `model`, else the run's.

        Raises `UsageError` if there is neither.
        """
        if not self._is_agent(options):
            return ()
        if not (model := options.get("model") or default):
            what = "system=memory-tool" if self.always_agent else "system-option mode=agent"
            raise UsageError(
                f"--memfail-{what} needs a model that calls tools; give --memfail-model, or the setting model "
                "(--memfail-system-option model=NAME)"
            )
        return (model,)

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise `UsageError` for an invalid option, a missing package or a missing program."""
        file = self.config.given
        known = ("model",) if self.always_agent else self.config.settings
        for name in options:
            if name not in known:
                raise UnknownNameError(f"--memfail-system-option of {file.name}", name, known)
        if (mode := options.get("mode", "direct")) not in MODES:
            raise UsageError(f"--memfail-system-option mode: got {mode!r}, expected {' or '.join(MODES)}")
        for lack in self.config.needs():
            raise UsageError(f"{file}: {lack}")

    def _is_agent(self, options: Mapping[str, str]) -> bool:
        """Return whether a model calls the memory's tools."""
        return self.always_agent or options.get("mode") == "agent"

    async def __call__(self, context: SystemContext) -> Any:
        """Open an empty system."""
        system = await self.config.opened(context)
        if not self._is_agent(context.options):
            return system
        return AgentSystem(context, system, context.options.get("model", ""))


_FOLDER: Final = FilesMemory(kind="files")
_FOLDER.of_file(Path("memory-tool"), "built-in")
MEMORY_TOOL: Final = ConnectorFactory(_FOLDER, always_agent=True)
"""A folder that a model maintains with the six commands of the memory tool."""

__all__ = ["MEMORY_TOOL", "AgentSystem", "ConnectorFactory", "json_schema", "read"]
