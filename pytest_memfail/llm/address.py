"""The address of an endpoint; keeps its secrets out of every message."""

from __future__ import annotations

import base64
import os
import re
from importlib.util import find_spec
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from pytest_memfail.core import UsageError, one_line
from pytest_memfail.llm.errors import AuthError
from pytest_memfail.safety import KNOWN, is_common

OPENAI_URL: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"
"""Sent to other endpoints than OpenAI's if no key is set: most local ones need none, but the SDK requires one."""
PLACEHOLDER_KEY: Final = "memfail-no-key"
"""Stands in OPENAI_API_KEY where the proxy runs and no key is set, because SDKs want one; never sent."""
MASK: Final = "***"
LEAST_KNOWN: Final = 8
"""The minimum length of an ordinary word to be masked in replies too, if it is the key; `ollama` is shorter."""
_KEY_LIKE: Final = re.compile(r"\b(sk|pk|key)-[\w*-]{6,}")


def check_sdk() -> None:
    """Refuse to ask a model without the package that sends requests, which is not loaded for it.

    Raises `UsageError`.
    """
    if find_spec("openai") is None:
        raise UsageError("a model is named, but the package openai is not installed; run: pip install openai")


def check_address(url: str | None = None) -> None:
    """Raise `UsageError` unless this, or OPENAI_BASE_URL, is a base URL; its secrets are masked from now on."""
    Address(url, None)


class Address:
    """The base URL and credentials of an endpoint; its repr shows only the host."""

    def __init__(self, base_url: str | None, api_key: str | None) -> None:
        """Take the given URL and key, or those of the SDK's environment variables.

        Raises `UsageError` if the URL is invalid.
        """
        given = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        try:
            parts = urlsplit(given.strip())
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            # not shown: it may contain a password
            raise UsageError("the base URL of the model endpoint is invalid; expected http(s)://HOST[:PORT]/PATH")
        if parts.query:
            # the HTTP library logs whole addresses, and a query may contain a key
            raise UsageError(
                f"the base URL of {parts.hostname} has a query after `?`, which is not supported; remove it"
            )
        self.host = parts.hostname if port is None else f"{parts.hostname}:{port}"
        """Host and port: all that messages show."""
        place = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        place = place if port is None else f"{place}:{port}"
        self.url = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
        """Without user and password; identifies the endpoint in the cache."""
        self.login: str | None = None
        """The value of a Basic authorization header, if the URL has a user and password."""
        self._key = (api_key if api_key is not None else os.environ.get("OPENAI_API_KEY", "")).strip()
        if self._key == PLACEHOLDER_KEY:
            self._key = ""
        secrets = [self._key]
        if parts.username is not None:
            user, password = unquote(parts.username), unquote(parts.password or "")
            token = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
            self.login = f"Basic {token}"
            secrets += [token, password, parts.password or ""]
        self._secrets = sorted({secret for secret in secrets if len(secret) > 2}, key=len, reverse=True)
        for secret in self._secrets:
            # an endpoint may echo it in a reply, and a library may log it
            if len(secret) >= LEAST_KNOWN or not is_common(secret):
                KNOWN.add(secret)

    def __repr__(self) -> str:
        return f"<endpoint {self.host}>"

    def key(self) -> str:
        """Return the key to send.

        Raises `AuthError` if there is none, or if no header can carry it.
        """
        if not self._key and self.url == OPENAI_URL:
            raise AuthError(
                f"no API key for {self.host}: set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint)"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise AuthError(f"the API key for {self.host} contains characters that no key has; check OPENAI_API_KEY")
        return self._key or NO_KEY

    def clean(self, text: object, limit: int = 200) -> str:
        """Return the text on one line, without the key or other secrets."""
        line = str(text)
        for secret in self._secrets:
            line = line.replace(secret, MASK)
        return one_line(_KEY_LIKE.sub(MASK, line), limit)
