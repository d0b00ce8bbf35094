"""Keep secrets out of everything that is written or shown.

Three methods work together. A value is masked by its *name* (an option `api_key`, a header), by its *shape* (the
password of a URL, a field of a connection string, a token), or because it is *known*: it was a secret in an option or
in the environment. Every secret is masked as `***`, because even a digest would give a short password away.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from html import escape as html_escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote

from pytest_memfail.safety.secret_names import PUBLIC_HEADERS, names_headers, secret_strength
from pytest_memfail.safety.secret_shapes import MASK, replace_spans, secret_spans

LEAST: Final = 4
"""Minimum length of an option's secret to be searched for in other texts."""
LEAST_OF_ENVIRONMENT: Final = 8
"""The same for environment variables, which serve many purposes."""
ANYWHERE: Final = 8
"""Minimum length of a secret to be found inside a word."""
MOST_READ: Final = 50_000
"""The most characters of an error's text to inspect; only a few hundred are shown."""
NO_SECRETS: Final = frozenset(
    "none null true false test dummy ollama lm-studio not-needed no-key sk-no-key-required empty default changeme unused "
    "example placeholder key token secret password passed failed not_reached header question store footer baseline verdict "
    "record rules ours paper correct summary_error not_stored not_retrieved reasoning_error wrongly_held no_answer "
    "ungraded vacuous error storage summary retrieval answer".split()
)
"""Dummy keys, and words that records consist of."""
SETTINGS: Final = frozenset(
    "auto cpu critical cuda debug development disabled enabled english error fatal info json local localhost log memory normal notice "
    "notset off on plain production quiet silent staging standard strict text trace utf-8 verbose warn warning yes no".split()
)
"""Words with which programs are set up; the value of a variable is no secret if it is one of them."""
NOT_OF_ENVIRONMENT: Final = frozenset({"PWD", "OLDPWD", "PYTEST_CURRENT_TEST"})


class KnownSecrets:
    """The secrets known to this process, in every form they may be written."""

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._in_json: tuple[str, ...] = ()
        """The values as JSON in ASCII has them."""
        self._read: Mapping[Any, Any] = {}
        """The environment when it was last read, as Python keeps it: undecoded."""

    def add(self, value: str) -> None:
        """Remember a secret, unless it is too short or a dummy key."""
        value = value.strip()
        short_number = value.isdecimal() and len(value) < 6
        if len(value) < LEAST or short_number or value.lower() in NO_SECRETS or set(value) == {"*"}:
            return
        written = {form for form in _forms(value) if len(form) >= LEAST}
        if not written <= self._values:
            self._set(self._values | written)

    def _set(self, values: frozenset[str]) -> None:
        self._values, self._in_json = values, tuple(json.dumps(value)[1:-1] for value in values)

    def mask(self, text: str) -> str:
        """Return the text with each known secret masked; a short secret only as a whole word."""
        return _masked(text, self._values)

    def may_be_in(self, text: str) -> bool:
        """Return whether a text of JSON in ASCII may hold a known secret, perhaps inside a word."""
        return any(value in text for value in self._in_json)

    def read_environment(self, environment: Mapping[str, str] = os.environ) -> None:
        """Remember the secrets among the environment variables, including those set since the last call."""
        # each text of a run asks, and pytest sets a variable in each phase of an item: only what has changed is decoded
        kept, known = getattr(environment, "_data", environment), self._read
        if kept == known:
            return
        self._read = dict(kept)
        for name, value in self._read.items() - known.items():
            for secret in _secrets_of_variable(os.fsdecode(name), os.fsdecode(value)):
                self.add(secret)

    def snapshot(self) -> tuple[frozenset[str], Mapping[Any, Any]]:
        """Return the current state for `restore`."""
        return self._values, self._read

    def restore(self, state: tuple[frozenset[str], Mapping[Any, Any]]) -> None:
        """Restore the state that `snapshot` returned."""
        self._set(state[0])
        self._read = state[1]


KNOWN: Final = KnownSecrets()
"""The known secrets of this process."""


def mask_known(text: str) -> str:
    """Return the text with known secrets masked: for memories, questions, ids and program output."""
    KNOWN.read_environment()
    return KNOWN.mask(text)


def mask_text(text: str, *, entropy: bool = True) -> str:
    """Return the text with everything masked that is, or looks like, a secret: for errors, warnings and tracebacks."""
    text = mask_known(text[:MOST_READ])
    return replace_spans(text, secret_spans(text, entropy=entropy))


def mask_option(name: str, value: Any) -> Any:
    """Return the value of an option, header or parameter with its secrets masked, also in nested values."""
    return _walk(name, value, lambda _: None)


def mask_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return named values with their secrets masked.

    >>> mask_options({"k": "5", "api_key": "abc", "dsn": "pg://u:p@host/db"})
    {'k': '5', 'api_key': '***', 'dsn': 'pg://***@host/db'}
    """
    KNOWN.read_environment()
    return {name: mask_option(name, value) for name, value in options.items()}


def learn_options(options: Mapping[str, Any]) -> None:
    """Remember the secrets in option values, so that later texts are masked."""
    for name, value in options.items():
        _walk(str(name), value, KNOWN.add)


def is_setting(name: str, value: str) -> bool:
    """Return whether a variable holds a word with which programs are set up, unless its name is a secret's.

    Any other word may be a password, whatever the variable is called.

    >>> [is_setting(*said) for said in (("LOG_LEVEL", "warning"), ("DB_PASSWORD", "warning"), ("LOG_LEVEL", "swordfish"))]
    [True, False, False]
    """
    return not secret_strength(name) and value.strip().lower() in SETTINGS


def is_common(value: str) -> bool:
    """Return whether a value is an ordinary word, a few short ones, a number or a date, which texts contain anyway.

    >>> [is_common(value) for value in ("conversation.", "2024-05-01", "10am", "lm-studio", "k3y9", "qwertzuiopasdfghjklyx")]
    [True, True, True, True, False, False]
    """
    value = value.strip(string.punctuation + string.whitespace)
    if not any(character.isalpha() for character in value):
        return len(value) < 12
    words = re.split(r"[ ._-]+", value)
    usual = {str.lower, str.upper, str.title}  # of a script without cases, all three change nothing
    if not all(word.isalpha() and any(word == case(word) for case in usual) for word in words):
        return re.fullmatch(r"\d{1,4}[A-Za-z]{1,3}", value) is not None  # 2nd, 10am, 5kg
    return len(value) < (20 if len(words) == 1 else 16)


def learn_sent(sent: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Remember the secrets among the headers, cookies, query parameters and fields that someone sent; return all of them.

    Ordinary words are only returned: otherwise the sender could have any word masked in every text.
    """
    found: set[str] = set()
    for name, value in sent:
        if secret_strength(name):
            login = value.split()[1:] if "authorization" in name.lower() else []  # the first word names its kind
            for secret in login or [value]:
                found.update(_parts(secret))
    found -= {"", *NO_SECRETS}
    for value in found:
        if not is_common(value):
            KNOWN.add(value)
    return frozenset(found)


def mask_values(text: str, values: Iterable[str]) -> str:
    """Return the text with these values masked, in every form that they may have; a short one only as a whole word."""
    return _masked(text, {form for value in values for form in _forms(value) if form})


def _masked(text: str, values: Iterable[str]) -> str:
    found = [value for value in values if value in text]
    if not found:
        return text
    alternatives = (
        re.escape(value) if len(value) >= ANYWHERE else rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
        for value in sorted(found, key=len, reverse=True)
    )
    return re.sub("|".join(alternatives), MASK, text)


def public(value: Any, *, keys: bool = False) -> Any:
    """Return plain data ready for JSON: known secrets masked, numbers that JSON cannot represent replaced by None.

    With `keys`, the keys of mappings are masked too; use it if foreign code chose them.
    """
    KNOWN.read_environment()
    return _public(value, keys)


def may_hold_secrets(text: str) -> bool:
    """Return whether a text of JSON in ASCII may hold a known secret, in an escaped form or inside a word too."""
    KNOWN.read_environment()
    return KNOWN.may_be_in(text)


_FOREIGN_KEYS: Final = frozenset({"metadata", "system", "system_options", "model_options"})
"""Record fields whose keys a system or a user chose."""


def _public(value: Any, keys: bool) -> Any:
    if isinstance(value, str):
        return KNOWN.mask(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            KNOWN.mask(key) if keys and isinstance(key, str) else key: _public(item, keys or key in _FOREIGN_KEYS)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_public(item, keys) for item in value]
    return value


def _walk(name: str, value: Any, found: Callable[[str], None]) -> Any:
    """Return the value masked; call `found` with each secret in it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping) and names_headers(name) and not secret_strength(name):
        return {
            key: item if str(key).lower() in PUBLIC_HEADERS else _hide(str(key), item, found)
            for key, item in value.items()
        }
    if isinstance(value, (Mapping, list, tuple)):
        if secret_strength(name):
            return _hide(name, value, found)
        if isinstance(value, Mapping):
            return {key: _walk(str(key), item, found) for key, item in value.items()}
        return [_walk(name, item, found) for item in value]
    if secret_strength(name):
        return _hide(name, value, found)
    return _walk_text(name, value, found) if isinstance(value, str) else value


def _walk_text(name: str, text: str, found: Callable[[str], None]) -> str:
    if text.lstrip()[:1] in ("{", "["):
        try:
            nested = json.loads(text)
        except (ValueError, RecursionError):
            nested = None
        if nested is not None:
            masked = _walk(name, nested, found)
            return text if masked == nested else json.dumps(masked, ensure_ascii=False)
    text = KNOWN.mask(text)
    spans = secret_spans(text, is_value=True, entropy=not _HASHED.search(name))
    for start, end in spans:
        for secret in _parts(text[start:end]):
            found(secret)
    return replace_spans(text, spans)


_HASHED: Final = re.compile(r"(?i)revision|commit|sha|hash|digest|checksum|uuid|version|(^|[_-])(id|ref|rev)$")
"""Names of values that look random but are public."""


def _hide(name: str, value: Any, found: Callable[[str], None]) -> Any:
    """Return the mask for a whole value; an empty value is returned unchanged."""
    leaves = list(_leaves(value))
    is_sure = secret_strength(name) > 0 and name.lower() != "key"
    for leaf in leaves:
        for secret in _parts(leaf):
            if is_sure or not is_common(secret):  # `key: note` must not mask each note
                found(secret)
    return MASK if any(leaves) else value


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            yield from _leaves(json.loads(value))
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _parts(secret: str) -> Iterator[str]:
    """Yield a secret and those inside it: the password of `user:password`, the token of `Bearer token`, the values of
    cookies.
    """
    yield secret
    for start, end in secret_spans(secret, is_value=True):
        if (start, end) != (0, len(secret)):
            yield from _parts(secret[start:end])
    if (decoded := unquote(secret)) != secret:
        yield from _parts(decoded)
    user, colon, password = secret.partition(":")
    if colon and "://" not in secret and not re.search(r"\s", user):
        yield password or user
        yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode(errors="replace")).decode()
    scheme, _, token = secret.partition(" ")
    if scheme.lower() in ("basic", "bearer", "digest", "negotiate", "token") or (
        token and " " not in token and not is_common(token)
    ):
        yield token
    if re.search(r"[\w-]=", secret):
        for pair in secret.split(";"):
            yield pair.partition("=")[2]


def _forms(value: str) -> Iterator[str]:
    """Yield the forms in which a secret appears in texts, addresses and data."""
    lines = [line.strip() for line in value.splitlines()]
    yield value
    yield " ".join(value.split())
    yield from (line for line in lines if len(line) >= 16)
    yield unquote(value)
    for form in (value, unquote(value)):
        yield quote(form, safe="")
        yield quote(form)
        yield quote_plus(form)
        yield json.dumps(form)[1:-1]
        yield repr(form)[1:-1]
        yield html_escape(form)
        if len(form) >= ANYWHERE:
            yield base64.b64encode(form.encode(errors="replace")).decode().rstrip("=")


def _secrets_of_variable(name: str, value: str) -> Iterable[str]:
    """Yield the secrets in an environment variable; its value may be harmless, such as a file name."""
    if name in NOT_OF_ENVIRONMENT or not value.strip():
        return
    strength = secret_strength(name)
    if strength:
        said = value.strip()
        mixed = any(c.isdigit() for c in said) and any(c.isalpha() for c in said) and len(said) >= 6
        is_word = re.fullmatch(r"[A-Za-z]+", said) is not None and strength < 2
        is_long = len(said) >= LEAST_OF_ENVIRONMENT or mixed or (strength == 2 and not is_common(said))
        if is_long and not is_word and not _is_file(said):
            yield from _parts(said)
    elif "@" in value or ";" in value or "?" in value:
        for start, end in secret_spans(value, is_value=True, entropy=False):
            if end - start >= LEAST_OF_ENVIRONMENT or "://" in value[:start]:
                yield from _parts(value[start:end])


def _is_file(value: str) -> bool:
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False
