"""Find a judge by name: the offline judge, a model, the cascade of both, or one of the user's own."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pytest_memfail.core import (
    UnknownNameError,
    UsageError,
    fingerprint,
    one_line,
    os_reason,
)
from pytest_memfail.finding import lookup

if TYPE_CHECKING:
    from pytest_memfail.core import AnswerKind, Judge, Kind, Suite
    from pytest_memfail.judges import OfflineJudge
    from pytest_memfail.llm import ModelClient

T = TypeVar("T")
OFFLINE: Final = "offline"
CASCADE: Final = OFFLINE + "+"
GROUP: Final = "pytest_memfail.judges"
_WEIGHTS: Final = Path(__file__).parents[1] / "judges" / "offline" / "weights.json.gz"
STAGES: Final = ("storage", "summary", "retrieval", "answer")


def kinds_of(suites: Iterable[Suite]) -> dict[str, Any]:
    """Return the kinds of facts and answers that judges receive, by the name of the parameter.

    MemFail's are always among them, because a user's own tasks use them.

    Raises `UsageError` for a kind that two suites define differently.
    """
    from pytest_memfail.suites import MEMFAIL_ANSWERS, MEMFAIL_KINDS

    kinds: dict[str, Kind] = dict(MEMFAIL_KINDS)
    answers: dict[str, AnswerKind] = dict(MEMFAIL_ANSWERS)
    for suite in suites:
        _add(kinds, suite.kinds, suite.name)
        _add(answers, suite.answers, suite.name)
    return {"kinds": kinds, "answers": answers}


def _add(known: dict[str, T], own: Mapping[str, T], suite: str) -> None:
    if taken := sorted(name for name in known.keys() & own.keys() if known[name] != own[name]):
        raise UsageError(
            f"the suite {suite!r} defines {', '.join(map(repr, taken))}, which MemFail or another suite of the run has as "
            "another kind; expected names of its own"
        )
    known.update(own)


def named_judge(
    name: str,
    protocol: str,
    *,
    option: str,
    hook: Callable[[], Any] = lambda: None,
    rootdir: Path | None = None,
    judge_options: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = MappingProxyType({}),
    answers: Mapping[str, AnswerKind] = MappingProxyType({}),
) -> Any:
    """Return the judge with this name, unless it is a model; None if there is none.

    `kinds` and `answers` are those of the run's suites; a user's judge receives them if its factory has these parameters.

    Raises `UsageError` for an object that is not a judge.
    """
    found = _found(name, option, hook, rootdir)
    if found is None:
        return None
    if found is OFFLINE:
        return offline_judge(protocol, judge_options, option=option, kinds=kinds, answers=answers)
    _check_option_names(name, judge_options, option=option)
    return _checked(found, name, option, {"kinds": kinds, "answers": answers})


def is_named(name: str, *, option: str, hook: Callable[[], Any] = lambda: None, rootdir: Path | None = None) -> bool:
    """Return whether a judge other than a model has this name, without loading the offline judge.

    Raises `UsageError` for an object that is not a judge.
    """
    found = _found(name, option, hook, rootdir)
    if found is not None and found is not OFFLINE:
        _checked(found, name, option, {"kinds": {}, "answers": {}})
    return found is not None


def _found(name: str, option: str, hook: Callable[[], Any], rootdir: Path | None) -> Any:
    return lookup.find_or_none(
        name, option=option, group=GROUP, built_in={OFFLINE: lambda: OFFLINE}, hook=hook, rootdir=rootdir
    )


def _checked(found: Any, name: str, option: str, given: Mapping[str, Any]) -> Any:
    try:
        is_made = isinstance(found, type) or (callable(found) and not hasattr(found, "storage"))
        judge = found(**{key: given[key] for key in given.keys() & _parameters(found)}) if is_made else found
    except Exception as error:
        raise UsageError(
            f"{option}: making the judge {name!r} raised {type(error).__name__}: {one_line(error)}; expected a judge, or "
            "a class or function without arguments that gives one"
        ) from error
    missing = [stage for stage in STAGES if not callable(getattr(judge, stage, None))]
    if missing:
        raise UsageError(
            f"{option}: {name!r} has no {'(), '.join(missing)}(); expected a judge with {'(), '.join(STAGES)}()"
        )
    return judge


def _parameters(factory: Any) -> set[str]:
    """Return the names of the parameters; none for a builtin without a signature."""
    try:
        return set(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return set()


def judge_model(
    name: str, is_named: Callable[[], bool], *, option: str, replays: bool = False, hook: str = ""
) -> str | None:
    """Return the model that judges under this name; None for another kind of judge.

    Args:
        name: the user's name for the judge.
        is_named: returns whether a judge other than a model has this name.
        option: the option that the user gave.
        replays: whether the name may be a model without a known endpoint (cached replies).
        hook: another way to provide a judge, for the message.

    Raises `UsageError` for a name that is not a judge and cannot be a model.
    """
    if name.startswith(CASCADE):
        if not (model := name.removeprefix(CASCADE)):
            raise UsageError(f"{option}: got {CASCADE!r}, expected {CASCADE}MODEL")
        return model
    if not _is_model_tag(name) and is_named():
        return None
    known = [OFFLINE, *lookup.names(GROUP)]
    others = f"module:attribute, an entry point of {GROUP}{hook}"
    if get_close_matches(name, known, 1, cutoff=0.75):
        raise UnknownNameError("judge", name, known, f"or a model name, {others}")
    if not (has_endpoint() or replays):
        raise UsageError(f"{option}: {needs_endpoint(name)}; judges that are no model: {', '.join(known)}, {others}")
    return name


def model_judge(
    name: str,
    model: str,
    protocol: Any,
    client: ModelClient,
    options: Mapping[str, Any] | None = None,
    repeat: int = 0,
    judge_options: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = MappingProxyType({}),
    answers: Mapping[str, AnswerKind] = MappingProxyType({}),
) -> Judge:
    """Return the judge that asks the model, alone or behind the offline judge, depending on the name."""
    from pytest_memfail.judges import CascadeJudge, ModelJudge

    judge = ModelJudge(client, model, protocol, options or {}, repeat, kinds=kinds, answers=answers)
    if name.startswith(CASCADE):
        offline = offline_judge(protocol, judge_options, option="--memfail-judge", kinds=kinds, answers=answers)
        return CascadeJudge(offline, judge)
    _check_option_names(name, judge_options, option="--memfail-judge")
    return judge


def check_options(name: str, judge_options: Mapping[str, str] | None, *, option: str) -> None:
    """Raise `UsageError` for options that this judge does not take, and for weights that cannot be read.

    Call it before anything is judged.
    """
    _check_option_names(name, judge_options, option=option)
    if judge_options:
        from pytest_memfail.judges import OfflineJudge

        OfflineJudge(weights=judge_options["weights"])


def _check_option_names(name: str, judge_options: Mapping[str, str] | None, *, option: str) -> None:
    """Raise `UsageError` for options that this judge does not take, without reading any weights."""
    if not judge_options:
        return
    if name != OFFLINE and not name.startswith(CASCADE):
        raise UsageError(f"{option}-option: the judge {name!r} takes no options; {OFFLINE} takes weights=PATH")
    if unknown := sorted(judge_options.keys() - {"weights"}):
        raise UsageError(f"{option}-option: got {', '.join(unknown)}, expected weights=PATH")


def offline_judge(
    protocol: Any,
    judge_options: Mapping[str, str] | None,
    *,
    option: str,
    kinds: Mapping[str, Kind] = MappingProxyType({}),
    answers: Mapping[str, AnswerKind] = MappingProxyType({}),
) -> OfflineJudge:
    """Return the offline judge with the user's options.

    Raises `UsageError` for an unknown option or weights that cannot be read.
    """
    from pytest_memfail.judges import OfflineJudge

    _check_option_names(OFFLINE, judge_options, option=option)
    return OfflineJudge(protocol, (judge_options or {}).get("weights"), kinds, answers)


def judge_weights(name: str, judge_options: Mapping[str, str]) -> str | None:
    """Return the fingerprint of the offline judge's weights; None for a judge without weights."""
    if name != OFFLINE and not name.startswith(CASCADE):
        return None
    found = [_WEIGHTS, *([Path(judge_options["weights"])] if "weights" in judge_options else [])]
    try:  # without loading the judge, because the process that starts a run may not judge anything
        return "+".join(fingerprint(path.read_bytes()) for path in found)
    except OSError as error:
        raise UsageError(f"weights={found[-1]}: cannot be read ({os_reason(error)})") from None


def needs_endpoint(model: str) -> str:
    """Return what to do if a model is named and the environment has no endpoint."""
    return f"the model {model!r} needs OPENAI_API_KEY (or OPENAI_BASE_URL for another endpoint; see the README)"


def has_endpoint() -> bool:
    """Return whether the environment configures an endpoint."""
    from pytest_memfail.llm import PLACEHOLDER_KEY

    key = os.environ.get("OPENAI_API_KEY")
    return bool((key and key != PLACEHOLDER_KEY) or os.environ.get("OPENAI_BASE_URL"))


def _is_model_tag(name: str) -> bool:
    """Return whether a name with a colon is a model (`llama3:8b`): there is no module of that name."""
    if ":" not in name or not has_endpoint():
        return False
    try:
        return find_spec(name.partition(":")[0].partition(".")[0]) is None
    except (ImportError, ValueError):
        return True
