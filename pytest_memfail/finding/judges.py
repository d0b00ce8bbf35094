"""Find a judge by name: the offline judge, a model, the cascade of both, or one of the user's own."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pytest_memfail.core import STAGES, UnknownNameError, UsageError, fingerprint, one_line
from pytest_memfail.finding import lookup

if TYPE_CHECKING:
    from pytest_memfail.core import AnswerKind, Judge, Kind, ProtocolName, Suite
    from pytest_memfail.judges import NliModel, OfflineJudge
    from pytest_memfail.llm import ModelClient

    Kinds = Mapping[str, Any]
    """What `kinds_of` returns."""

T = TypeVar("T")
_OFFLINE: Final = Path(__file__).parents[1] / "judges" / "offline"
_WEIGHTS: Final = ("weights.json.gz", "weights_encoder.json.gz")
"""Of the offline judge without and with the encoder."""
OFFLINE: Final = "offline"
CASCADE: Final = OFFLINE + "+"
NLI: Final = "nli:"
YES_NO: Final = "form=yesno"
GROUP: Final = "pytest_memfail.judges"
PYTHON: Final = re.compile(r"(?:[^\W\d]\w*\.)*[^\W\d]\w*:[A-Z]\w*[a-z][\w.]*|.*\.py:.*", re.ASCII)
"""The name of a class in a module, which no tag of a model looks like (`llama3.1:8b`, `model:Q4_K_M`)."""
TYPO: Final = 0.75
"""How similar a name must be to one of ours to be a misspelling of it rather than a model."""
OF_OFFLINE: Final = {"weights": "weights=PATH", "encoder": "encoder=on"}
"""The options of the offline judge."""


def kinds_of(suites: Iterable[Suite]) -> dict[str, Any]:
    """Return the kinds of facts and answers that judges receive, by the name of the parameter.

    Those of the default suites are always among them, because a user's own tasks use them.

    Raises `UsageError` for a kind that two suites define differently.
    """
    from pytest_memfail.suites import DEFAULT, built_in_suite

    kinds: dict[str, Kind] = {}
    answers: dict[str, AnswerKind] = {}
    for suite in (*map(built_in_suite, DEFAULT), *suites):
        _add(kinds, suite.kinds, suite.name)
        _add(answers, suite.answers, suite.name)
    return {"kinds": kinds, "answers": answers}


def _add(known: dict[str, T], own: Mapping[str, T], suite: str) -> None:
    if taken := sorted(name for name in known.keys() & own.keys() if known[name] != own[name]):
        raise UsageError(
            f"the suite {suite!r} defines {', '.join(map(repr, taken))}, which another suite has as "
            "another kind; expected names of its own"
        )
    known.update(own)


@dataclass(frozen=True)
class NamedJudge:
    """A judge as the user names it, and where to look for it."""

    name: str
    option: str
    """The option that names it, for errors."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options of the judge itself."""
    rootdir: Path | None = None
    """The folder from which the user's modules are imported."""
    hook: Callable[[], Any] = lambda: None
    """Returns the user's own judge of this name; None if there is none."""
    hook_name: str = ""

    @property
    def is_cascade(self) -> bool:
        """Whether a model decides what the offline judge is unsure of."""
        return self.name.startswith(CASCADE)

    def model(self, *, replays: bool = False) -> str | None:
        """Return the model that judges; None for another kind of judge.

        With `replays` the name may be a model without a known endpoint, whose replies are kept. Raises `UsageError` for a name that
        is not a judge and cannot be a model, and for an object that is not a judge.
        """
        if self.name.startswith(NLI):
            _ = self.nli_model  # there is one
            return None
        has_model, asked = has_endpoint() or replays, self.name.removeprefix(CASCADE)
        # a misspelt judge must not become a model, because memories would leave the machine
        is_ours = bool(
            get_close_matches(re.split("[+:]", asked.lower())[0], [OFFLINE, NLI[:-1]], 1, TYPO)
            or get_close_matches(asked, lookup.names(GROUP), 1, TYPO)
        )
        if self.is_cascade:
            if not asked or is_ours or PYTHON.fullmatch(asked):
                raise UsageError(
                    f"{self.option}: got {self.name!r}, expected {CASCADE}MODEL, where MODEL is a model at the endpoint; name a "
                    f"judge that is no model alone, without {CASCADE}"
                )
            return asked
        if (found := self._found(imports=not (has_model and self._is_model_tag()))) is not None:
            if found is not OFFLINE:
                self._made(found, {"kinds": {}, "answers": {}})
            return None
        known = [OFFLINE, *lookup.names(GROUP)]
        hook = f", or the hook {self.hook_name}" if self.hook_name else ""
        others = f"{NLI}FOLDER_OR_MODEL, module:attribute, an entry point of {GROUP}{hook}"
        if is_ours:
            raise UnknownNameError("judge", self.name, known, f"or a model name, {others}")
        if not has_model:
            raise UsageError(
                f"{self.option}: {needs_endpoint(self.name)}; judges that are no model: {', '.join(known)}, {others}"
            )
        return self.name

    def check_options(self, *, is_model: bool = False) -> None:
        """Raise `UsageError` for options that this judge does not take; `is_model` says that its name is that of a model."""
        if not self.options:
            return
        known = {"entailment": "entailment=LABEL"} if self.name.startswith(NLI) else {}
        known |= OF_OFFLINE if self.name == OFFLINE or self.is_cascade else {}
        known |= {"form": YES_NO} if is_model or self.is_cascade else {}
        given = ", ".join(f"{name}={value}" for name, value in sorted(self.options.items()) if name not in known)
        if not known:
            raise UsageError(
                f"{self.option}-option: got {given}, but the judge {self.name!r} takes no options; {OFFLINE} takes "
                f"{' or '.join(OF_OFFLINE.values())}, {NLI}MODEL entailment=LABEL, a model {YES_NO}"
            )
        if given:
            is_form = "form" in self.options.keys() - known.keys()
            hint = f"; {YES_NO} needs a model as judge ({self.option}=MODEL)" if is_form else ""
            raise UsageError(f"{self.option}-option: got {given}, expected {' or '.join(known.values())}{hint}")
        if (form := self.options.get("form", "yesno")) != "yesno":
            raise UsageError(f"{self.option}-option: got form={form}, expected {YES_NO}")
        if self.has_encoder:
            from pytest_memfail.judges import check_packages

            with self._naming_option():
                check_packages()

    @property
    def has_encoder(self) -> bool:
        """Whether the offline judge compares meanings by the encoder too.

        Raises `UsageError` for another value than on or off.
        """
        value = self.options.get("encoder", "off")
        if value not in ("on", "off"):
            raise UsageError(f"{self.option}-option: got encoder={value}, expected encoder=on or encoder=off")
        return value == "on"

    def make(self, protocol: str, kinds: Kinds | None = None) -> Any:
        """Return the judge, if it is no model.

        A user's judge receives the kinds of the run's suites and the protocol if its factory has parameters of their names:
        `kinds`, `answers`, `protocol`. Raises `UsageError` for an object that is not a judge, and for options that the judge
        does not take.
        """
        if self.name.startswith(NLI):
            from pytest_memfail.judges import NliJudge

            return NliJudge(self.nli_model, cast("ProtocolName", protocol), **(kinds or {}))
        found = self._found()
        if found is OFFLINE:
            return self.offline(protocol, kinds)
        self.check_options()
        return self._made(found, {"kinds": {}, "answers": {}, "protocol": protocol, **(kinds or {})})

    def make_model(
        self,
        model: str,
        protocol: Any,
        client: ModelClient,
        parameters: Mapping[str, Any] | None = None,
        kinds: Kinds | None = None,
        repeat: int = 0,
    ) -> Judge:
        """Return the judge that asks the model with these parameters, alone or behind the offline judge, depending on the name."""
        from pytest_memfail.judges import CascadeJudge, ModelJudge, YesNoJudge

        self.check_options(is_model=True)
        form: type[ModelJudge | YesNoJudge] = YesNoJudge if "form" in self.options else ModelJudge
        judge = form(client, model, protocol, parameters or {}, repeat, **(kinds or {}))
        return CascadeJudge(self.offline(protocol, kinds), judge) if self.is_cascade else judge

    @cached_property
    def nli_model(self) -> NliModel:
        """The local classifier that judges.

        Raises `UsageError` if there is none of this name, a package is missing, or its labels are not understood.
        """
        from pytest_memfail.judges import NliModel

        self.check_options()
        try:
            return NliModel(self.name.removeprefix(NLI), self.options.get("entailment"), f"{self.option}-option")
        except UsageError as error:
            raise UsageError(f"{self.option}: {error}") from None

    def offline(self, protocol: Any, kinds: Kinds | None = None) -> OfflineJudge:
        """Return the offline judge with the user's options.

        Raises `UsageError` for an unknown option or weights that cannot be read.
        """
        from pytest_memfail.judges import OfflineJudge

        self.check_options()
        with self._naming_option():
            return OfflineJudge(protocol, self.options.get("weights"), **(kinds or {}), encoder=self.has_encoder)

    @contextmanager
    def _naming_option(self) -> Iterator[None]:
        """Say in what is raised about the value of an option that it is one of the judge."""
        try:
            yield
        except UsageError as error:
            raise UsageError(f"{self.option}-option: {error}") from None

    @property
    def weights(self) -> str | None:
        """The fingerprint of the weights, and of the form of a model's replies; None for a judge without either.

        Raises `UsageError` if they cannot be read.
        """
        form = self.options.get("form")
        if self.name != OFFLINE and not self.is_cascade and not self.name.startswith(NLI):
            return form
        if "weights" in self.options:
            offline = self.offline("ours").identity.removeprefix(f"{OFFLINE} ")
        else:  # without loading the judge, because the process that starts a run may not judge anything
            offline = fingerprint((_OFFLINE / _WEIGHTS[self.has_encoder]).read_bytes())
        first = self.nli_model.digest if self.name.startswith(NLI) else form
        return offline if first is None else f"{first}+{offline}"

    def _is_model_tag(self) -> bool:
        """Return whether a name with a colon is a model (`llama3:8b`): it names no class, and there is no module of that name."""
        if PYTHON.fullmatch(self.name):
            return False
        module = self.name.partition(":")[0].partition(".")[0]
        try:
            return find_spec(module) is None and PathFinder.find_spec(module, [str(self.rootdir)]) is None
        except (ImportError, ValueError):
            return True

    def _found(self, *, imports: bool = True) -> Any:
        return lookup.find_or_none(
            self.name,
            option=self.option,
            group=GROUP,
            built_in={OFFLINE: lambda: OFFLINE},
            hook=self.hook,
            rootdir=self.rootdir,
            imports=imports,
        )

    def _made(self, found: Any, given: Mapping[str, Any]) -> Any:
        try:
            is_made = isinstance(found, type) or (callable(found) and not hasattr(found, "storage"))
            judge = found(**{key: given[key] for key in given.keys() & _parameters(found)}) if is_made else found
        except Exception as error:
            raise UsageError(
                f"{self.option}: making the judge {self.name!r} raised {type(error).__name__}: {one_line(error)}; expected a "
                "judge, or a class or function without arguments that gives one"
            ) from error
        missing = [stage for stage in STAGES if not callable(getattr(judge, stage, None))]
        if missing:
            raise UsageError(
                f"{self.option}: {self.name!r} has no {'(), '.join(missing)}(); expected a judge with {'(), '.join(STAGES)}()"
            )
        return judge


def _parameters(factory: Any) -> set[str]:
    """Return the names of the parameters; none for a builtin without a signature."""
    try:
        return set(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return set()


def needs_endpoint(model: str) -> str:
    """Return what to do if a model is named and the environment has no endpoint."""
    return f"the model {model!r} needs OPENAI_API_KEY (or OPENAI_BASE_URL for another endpoint; see the README)"


def has_endpoint() -> bool:
    """Return whether the environment configures an endpoint."""
    from pytest_memfail.llm import PLACEHOLDER_KEY

    key = os.environ.get("OPENAI_API_KEY")
    return bool((key and key != PLACEHOLDER_KEY) or os.environ.get("OPENAI_BASE_URL"))
