"""Memories that a YAML file describes, one file a kind; nothing is imported from a memory."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_memfail.core import SystemContext, UsageError
from pytest_memfail.systems.base import no_options
from pytest_memfail.systems.connectors.command import CommandSystem
from pytest_memfail.systems.connectors.config import (
    CommandMemory,
    FilesMemory,
    HttpMemory,
    McpMemory,
    Memory,
    json_schema,
    read,
)
from pytest_memfail.systems.connectors.files import FilesSystem


@dataclass(frozen=True)
class ConnectorFactory:
    """Create the systems that a file describes: `factory(context) -> system`."""

    config: Memory

    @property
    def calls_model(self) -> bool:
        """Whether storing may cost something."""
        of_program = not isinstance(self.config, FilesMemory) or self.config.write is not None
        return self.config.calls_model and of_program

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise `UsageError` for any option: the file says everything; and for a program that is not there."""
        no_options(self.config.file.name)(options)
        if isinstance(self.config, McpMemory) and importlib.util.find_spec("mcp") is None:
            raise UsageError(
                f"{self.config.file}: kind: mcp needs the package mcp; run: pip install 'pytest-memfail[mcp]'"
            )
        for key in ("command", "write"):
            if isinstance(command := getattr(self.config, key, None), list):
                check_program(command[0], self.config.file, key)

    async def __call__(self, context: SystemContext) -> Any:
        """Open an empty system."""
        if isinstance(self.config, FilesMemory):
            return FilesSystem(context, self.config)
        system = _system(context, self.config)
        await system.open()
        return system


def _system(context: SystemContext, config: Memory) -> Any:
    if isinstance(config, HttpMemory):
        from pytest_memfail.systems.connectors.http_service import HttpConnection
        from pytest_memfail.systems.connectors.remote import RemoteSystem

        return RemoteSystem(context, config, HttpConnection(config))
    if isinstance(config, McpMemory):
        from pytest_memfail.systems.connectors.mcp_server import McpConnection
        from pytest_memfail.systems.connectors.remote import RemoteSystem

        return RemoteSystem(context, config, McpConnection(config))
    assert isinstance(config, CommandMemory)
    return CommandSystem(context, config)


def check_program(program: str, file: Path, key: str) -> None:
    """Raise `UsageError` if there is no such program on the path or, with a slash, from the file's folder."""
    place = str(file.parent / program) if "/" in program else program
    if shutil.which(place) is None:
        raise UsageError(
            f"{file}: {key}: got {program!r}, expected a program that can be run; install it, or give its path"
        )


__all__ = ["ConnectorFactory", "json_schema", "read"]
