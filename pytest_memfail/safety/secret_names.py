"""Decide from a name whether its value is a secret: an option, a mapping key, a header, a query parameter, a connection
field.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Strength = Literal[0, 1, 2]
"""0: not a secret's name; 1: ambiguous (`key`); 2: certainly a secret's name (`password`)."""

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SURE: Final = re.compile(
    r"passw(?!ordless)|passphrase|passcode|pgpass|secret|credential|bearer|cookie|authorization|jwt"
    r"|(api|access|account|private|auth|subscription|encryption|signing|master|service)key"
    r"|(api|access|auth|refresh|session|user|id|bot|csrf|xsrf)token"
)
_SURE_PARTS: Final = frozenset({"pw", "pwd", "dbpass", "userpass", "mypass", "rootpass", "sas"})
_UNSURE_PARTS: Final = frozenset(
    {"key", "token", "pass", "auth", "sig", "signature", "pat", "otp", "cred", "creds", "psk", "pin"}
)
_COMPOUND: Final = re.compile(
    r"(app|client|shared|admin|db|user|login|root|hf|gh|ssh|server|host|license)(key|token|pwd|pw)"
)
_NOT_KEYS: Final = frozenset(
    "primary foreign sort partition cache group public index lookup hash routing row dedup shard memory entity".split()
)
_NOT_TOKENS: Final = frozenset(
    "next stop eos bos pad unk sep mask cls start end first last special page continuation per new".split()
)
_TAILS: Final = frozenset("value str string text raw plain b64 base64".split())
"""Words that may follow the noun: `token_value` is a token, `token_limit` is not."""
_ABOUT: Final = frozenset(
    "id name type file path dir url uri length size count limit ttl expiry policy version".split()
)
"""Words for metadata about a secret, such as its location or length."""
_FAULTS: Final = frozenset({"error", "exception", "warning"})


def name_parts(name: str) -> list[str]:
    """Return the words and numbers in a name.

    >>> name_parts("X-Api-Key2"), name_parts("maxTokens")
    (['X', 'Api', 'Key', '2'], ['max', 'Tokens'])
    """
    return _PARTS.findall(name)


@lru_cache(maxsize=4096)
def secret_strength(name: str) -> Strength:
    """Return how certainly a value with this name is a secret.

    >>> [secret_strength(name) for name in ("max_tokens", "token", "dbPassword")]
    [0, 1, 2]
    """
    parts = [part.lower() for part in name_parts(name)]
    while parts and (parts[-1].isdecimal() or (len(parts) > 1 and parts[-1] in _TAILS)):
        parts.pop()
    if not parts or parts[-1] in _FAULTS:
        return 0
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if (last == "key" and before in _NOT_KEYS) or (last == "token" and before in _NOT_TOKENS):
        return 0
    if last in _SURE_PARTS or (_SURE.search("".join(parts)) and last not in _ABOUT):
        return 2
    return 1 if last in _UNSURE_PARTS or _COMPOUND.fullmatch(last) else 0


@lru_cache(maxsize=1024)
def names_headers(name: str) -> bool:
    """Return whether the name is that of a set of request headers, any of which may be secret."""
    return bool({"header", "headers"} & {part.lower() for part in name_parts(name)})


PUBLIC_HEADERS: Final = frozenset(
    "accept accept-encoding accept-language connection content-type content-length host http-referer openai-beta "
    "openai-organization openai-project user-agent x-title".split()
)
