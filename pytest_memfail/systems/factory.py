"""The factory of a shipped system: its settings, the packages that it needs, and the models that it asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from pytest_memfail.core import SystemContext, UnknownNameError, UsageError

YES_NO: Final = ("true", "false")


@dataclass(frozen=True, slots=True)
class Setting:
    """One `--memfail-system-option`."""

    default: str
    choices: tuple[str, ...] = ()
    """The allowed values; empty if any value is allowed."""
    number: bool = False
    """A whole number of at least 1, or empty."""


MODEL_SETTINGS: Final = {"llm": Setting("gpt-4o-mini"), "embedding": Setting("text-embedding-3-small")}
"""The models of a system that uses an OpenAI-compatible endpoint for both."""


@dataclass(frozen=True, slots=True)
class SystemFactory:
    """Create the systems of one name: `factory(context) -> system`."""

    name: str
    """The system's name, and that of the extra that installs its packages, if it needs any."""
    make: Callable[[SystemContext, Mapping[str, str]], Any]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    requires: Callable[[Mapping[str, str]], tuple[str, ...]] = lambda settings: ()
    """Returns the packages that these settings need, as requirements with the tested versions."""
    asks: Callable[[Mapping[str, str], str | None], tuple[str, ...]] = lambda settings, default: ()
    """Returns the models that the system asks through its context with these settings, given the run's own model."""
    asks_models: bool = False
    """Whether the system itself asks models at an endpoint."""
    calls_model: bool = False
    """Whether the system asks models at all. If not, it stores all conversations even when few questions are asked."""

    def __call__(self, context: SystemContext) -> Any:
        """Create an empty system."""
        return self.make(context, self.read(context.options))

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise `UsageError` for an invalid setting, a missing package, or a missing API key."""
        settings = self.read(options)
        for problem in self.missing(settings):
            raise UsageError(
                f"--memfail-system={self.name} needs {problem}; run: pip install 'pytest-memfail[{self.name}]'"
            )
        if self.asks_models and not os.environ.get("OPENAI_API_KEY"):
            raise UsageError(
                f"--memfail-system={self.name} asks the models of an OpenAI-compatible endpoint (OPENAI_BASE_URL), and "
                "OPENAI_API_KEY is not set; set it (to any word if the endpoint needs no key)"
            )

    def models(self, options: Mapping[str, str], default: str | None) -> tuple[str, ...]:
        """Return the models that the system asks through its context; `default` is the run's model.

        Raises `UsageError` if it needs one and none is named.
        """
        return self.asks(self.read(options), default)

    def versions(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the versions of the packages that these settings need."""
        from packaging.requirements import Requirement

        return versions(*(Requirement(needed).name for needed in self.requires(self.read(options))))

    def missing(self, settings: Mapping[str, str]) -> Iterator[str]:
        """Yield the packages missing in a tested version, each with the installed version."""
        from packaging.requirements import Requirement

        for requirement in map(Requirement, self.requires(settings)):
            try:
                found = version(requirement.name)
            except PackageNotFoundError:
                yield f"{requirement}, which is not installed"
            else:
                if not requirement.specifier.contains(found, prereleases=True):
                    yield f"{requirement}, and {found} is installed"

    def read(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return all settings, with defaults for those not given.

        Raises `UsageError` for an unknown setting or an invalid value.
        """
        for name in options:
            if name not in self.settings:
                raise UnknownNameError(f"--memfail-system-option of {self.name}", name, self.settings)
        read = {name: options.get(name, setting.default) for name, setting in self.settings.items()}
        for name, setting in self.settings.items():
            if setting.choices and read[name] not in setting.choices:
                raise self._wrong(name, read[name], " or ".join(setting.choices))
            if setting.number and read[name] and not (read[name].isdecimal() and int(read[name])):
                raise self._wrong(name, read[name], "a whole number of at least 1")
        return read

    def _wrong(self, name: str, got: str, expected: str) -> UsageError:
        return UsageError(f"--memfail-system-option {name} of {self.name}: got {got!r}, expected {expected}")


def versions(*packages: str) -> dict[str, str]:
    """Return the installed version of each package, for the record."""
    return {package: version(package) for package in packages}
