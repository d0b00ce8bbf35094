"""Memories described by a YAML file, one module per kind; nothing is imported from a memory."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import SystemContext, UnknownNameError, UsageError
from pytest_memfail.systems.connectors.agent import AgentSystem
from pytest_memfail.systems.connectors.command import CommandSystem
from pytest_memfail.systems.connectors.config import (
    CommandMemory,
    FilesMemory,
    HttpMemory,
    McpMemory,
    Memory,
    json_schema,
    plain_folder,
    read,
)
from pytest_memfail.systems.connectors.files import FilesSystem
from pytest_memfail.systems.connectors.templates import proxied

MODES: Final = ("direct", "agent")
"""direct: the question is the query. agent: a model calls the memory's tools."""


@dataclass(frozen=True)
class ConnectorFactory:
    """Create the systems that a YAML file describes: `factory(context) -> system`."""

    config: Memory
    always_agent: bool = False
    """Whether `agent` is the only mode."""

    def calls_model(self, options: Mapping[str, str]) -> bool:
        """Return whether storing may cost money."""
        of_program = not isinstance(self.config, FilesMemory) or self.config.write is not None
        return self._is_agent(options) or (self.config.calls_model and of_program)

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
        known: tuple[str, ...] = ("mode", "model") if isinstance(self.config, (FilesMemory, McpMemory)) else ()
        known = ("model",) if self.always_agent else known
        for name in options:
            if name not in known:
                raise UnknownNameError(f"--memfail-system-option of {file.name}", name, known)
        if (mode := options.get("mode", "direct")) not in MODES:
            raise UsageError(f"--memfail-system-option mode: got {mode!r}, expected {' or '.join(MODES)}")
        if isinstance(self.config, McpMemory) and importlib.util.find_spec("mcp") is None:
            raise UsageError(f"{file}: kind: mcp needs the package mcp; run: pip install 'pytest-memfail[mcp]'")
        for key in ("command", "write"):
            if isinstance(command := getattr(self.config, key, None), list):
                check_program(command[0], self.config, key)

    def _is_agent(self, options: Mapping[str, str]) -> bool:
        """Return whether a model calls the memory's tools."""
        return self.always_agent or options.get("mode") == "agent"

    async def __call__(self, context: SystemContext) -> Any:
        """Open an empty system."""
        system = _system(context, self.config)
        if not isinstance(system, FilesSystem):
            await system.open()
        return (
            AgentSystem(context, system, context.options.get("model", ""))
            if self._is_agent(context.options)
            else system
        )


def memory_tool() -> ConnectorFactory:
    """Return the factory of a folder that a model maintains with the six commands of the memory tool."""
    return ConnectorFactory(plain_folder("memory-tool"), always_agent=True)


def _system(context: SystemContext, config: Memory) -> Any:
    if isinstance(config, FilesMemory):
        return FilesSystem(context, config)
    if isinstance(config, HttpMemory):
        from pytest_memfail.systems.connectors.http_service import HttpConnection
        from pytest_memfail.systems.connectors.remote import RemoteSystem

        return RemoteSystem(context, config, HttpConnection(config))
    if isinstance(config, McpMemory):
        from pytest_memfail.systems.connectors.mcp_server import McpConnection
        from pytest_memfail.systems.connectors.remote import RemoteSystem

        return RemoteSystem(context, config, McpConnection(config, proxied(context)))
    assert isinstance(config, CommandMemory)
    return CommandSystem(context, config)


def check_program(program: str, config: Memory, key: str) -> None:
    """Raise `UsageError` if the program is not on the path, or, if it contains a slash, relative to the file's folder."""
    place = str(config.file.parent / program) if "/" in program else program
    if shutil.which(place) is None:
        raise UsageError(
            f"{config.given}: {key}: got {program!r}, expected an executable program; install it, or give its path"
        )


__all__ = ["AgentSystem", "ConnectorFactory", "json_schema", "memory_tool", "read"]
