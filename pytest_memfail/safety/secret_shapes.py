"""Find secrets in a text by their shape: URLs, connection strings, headers, query parameters, tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_memfail.safety.secret_names import name_parts, secret_strength

Span = tuple[int, int]

MASK: Final = "***"
LONGEST: Final = 2000
"""The most characters of one value to inspect; bounds the time that a malicious text can take."""

_USERINFO: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<=://)(?P<value>[^\s/?#\"'<>@]{0,2000}(?:@[^\s/?#\"'<>@]{0,2000}){0,8})(?=@)",  # up to the last @ before the path
        # a password with a slash in it, but not a port
        r"(?<=://)(?P<value>[^\s/?#\"'<>@:\[]{0,200}:(?!\d{1,5}(?:[/?#\s]|$))[^\s\"'<>@]{0,2000})(?=@)",
        r"(?<=%3A%2F%2F)(?P<value>[^\s%]{0,200}%3A\S{1,2000}?)(?=%40)",  # the same, percent-encoded
        r"(?<![\w/:.@-])(?P<value>[\w.%+-]{1,200}:[^\s@/\"'<>:]{1,2000})(?=@[\w(\[])",  # without a scheme
    )
)
_ANY_SCHEME: Final = re.compile(
    r"\s*[a-z][a-z0-9+.-]*:/{1,3}(?P<value>[^@:/\[]*:(?!\d{1,5}(?:[/?#]|$)).*)@", re.I | re.S
)
"""For a value that is exactly one URL, whose password may contain anything, even spaces."""
_FIELD: Final = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,60})"
    r"(?:(?P<end>\\*[\"'])\s*(?:=>|[=:,])\s*|\s*(?:=>|[=:]{1,2})\s*)"
    r"(?=(?P<value>b?(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\])){0,2000})|[^\s,;&\"'<>\])}|]{1,2000}))",
    re.DOTALL,
)
_CONNECTION: Final = re.compile(
    r"(?P<name>[A-Za-z][\w ]{0,60}?)\s*=\s*(?P<value>\{[^}]*\}|[^;\n\"']{0,2000})(?=;|$|[\"'])"
)
_CONNECTION_VALUE: Final = re.compile(r"(?P<name>[A-Za-z][\w ]{0,60}?)\s*=\s*(?P<value>\{[^}]*\}|[^;]{0,2000})")
_IS_CONNECTION: Final = re.compile(r";\s*[A-Za-z][\w ]{0,60}?\s*=|=[^;=\n]{1,200};")
_AUTHORIZATION: Final = re.compile(
    r"authorization[\"']?\s*[:=]\s*[\"']?(?P<value>(?:[A-Za-z][\w-]{1,20}\s+)?[^\s\"',;]{1,2000})", re.IGNORECASE
)
_COOKIE: Final = re.compile(
    r"cookie[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s=;,\"']{1,200}=[^\s;,\"']{0,2000}(?:;\s*[^\s=;,\"']{1,200}(?:=[^\s;,\"']{0,2000})?)*)",
    re.IGNORECASE,
)
_SCHEME_WORD: Final = re.compile(
    r"\b(?:(?i:bearer)\s+(?!(?:[A-Za-z]?[a-z]+|[A-Z]+)(?![\w.~+/=-]))|(?i:basic|negotiate)\s+(?=\S*[0-9=]))(?P<value>[\w.~+/=-]{6,2000})"
)
_FLAG: Final = re.compile(r"(?<!\S)--(?P<name>[A-Za-z][\w-]{0,60})\s+(?P<value>[^\s-]\S{0,2000})")
_ELEMENT: Final = re.compile(r"<(?P<name>[A-Za-z][\w:.-]{0,60})>(?P<value>[^<]{1,2000})</")
_PREFIXED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<value>(?:sk|pk|rk|key|gsk|pplx|tvly|nvapi|xai|glpat|dapi|pypi|whsec|lsv2|hf|npm|r8|xox[abeoprs])[-_][\w*-]{6,}"
    r"|gh[opsur]_\w{10,}|github_pat_\w{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{10,}|SG\.[\w.-]{10,}"
    r"|eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?)"
)
_PRIVATE_KEY: Final = re.compile(
    r"(?P<value>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z))", re.DOTALL
)
_SECRETS: Final = (*_USERINFO, _AUTHORIZATION, _COOKIE, _SCHEME_WORD, _PREFIXED, _PRIVATE_KEY)
"""Patterns whose `value` is a secret whatever its name."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9_+/=-]{16,}")
_RUN: Final = re.compile(r"[A-Za-z0-9]{16,}")
_WORD: Final = re.compile(r"[A-Za-z]?[a-z_]+|[A-Z][A-Z_]*|\W+")
_CODE: Final = re.compile(r"[A-Za-z_][\w.]*[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
"""What follows `key=` in a traceback: a call, an element, an attribute."""
_EXPRESSION: Final = re.compile(r"self\.\w+$|os\.(?:environ|getenv)\b")
_NOTHING: Final = frozenset(
    {"none", "null", "true", "false", "value", "yes", "no", "on", "off", "str", "bytes", "...", "…", MASK}
)


def secret_spans(text: str, *, is_value: bool = False, entropy: bool = True) -> list[Span]:
    """Return the spans of secrets in the text, sorted and disjoint.

    Args:
        text: the text to search.
        is_value: the text is one option value, so a URL in it ends where the text ends.
        entropy: also look for strings random enough to be a key.
    """
    found = [match.span("value") for pattern in _SECRETS for match in pattern.finditer(text)]
    if is_value and (url := _ANY_SCHEME.match(text)):
        found.append(url.span("value"))
    found += _named(_FIELD, text, _field_is_secret)
    if _IS_CONNECTION.search(text):
        fields = _CONNECTION_VALUE if is_value else _CONNECTION
        found += _named(fields, text, lambda m: _is_secret_field(m["name"].split()[-1], m["value"]))
    for pattern in (_FLAG, _ELEMENT):
        found += _named(pattern, text, lambda match: secret_strength(match["name"]) > 0)
    if entropy:
        found += _random(text, hexadecimal=is_value)
    return _merged(span for span in found if span[0] < span[1])


def replace_spans(text: str, spans: list[Span]) -> str:
    """Return the text with each span replaced by the mask."""
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start], MASK]
        end = stop
    return "".join([*parts, text[end:]])


def _named(pattern: re.Pattern[str], text: str, is_secret: Callable[[re.Match[str]], bool]) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if is_secret(match):
            quoted = match.groupdict().get("quoted") is not None
            yield match.span("quoted" if quoted else "value")


def _field_is_secret(match: re.Match[str]) -> bool:
    name, value, quoted = match["name"], match["value"], match["quoted"]
    between = match[0][len(name) :]
    if quoted is None and "," in between:
        return False  # two words of a list: in a name-value pair both would be quoted
    if match.start() > 0 and match.string[match.start() - 1] in "?&":
        return _is_secret_field(name, value)
    if quoted is None and (_EXPRESSION if secret_strength(name) == 2 else _CODE).match(value):
        return False
    return _is_secret_field(name, value if quoted is None else quoted, wordy=quoted is None or "=" not in between)


def _is_secret_field(name: str, value: str, *, wordy: bool = False) -> bool:
    """Return whether a field is secret. In prose and code (`wordy`), a plain word after `key:` is not."""
    strength = secret_strength(name)
    if not strength or value.strip("\"'").lower() in _NOTHING or not value.strip():
        return False
    return strength == 2 or not (wordy and _WORD.fullmatch(value))


def _random(text: str, *, hexadecimal: bool) -> Iterator[Span]:
    """Find tokens that look random. Outside of options, hex digits are usually a hash, not a secret."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        is_path = token.startswith("/") or token.count("/") > 2
        for part in re.finditer(r"[^/]+", token) if is_path else (re.match(r".*", token),):
            assert part is not None
            if _looks_random(part[0], hexadecimal=hexadecimal):
                yield match.start() + part.start(), match.start() + part.end()


def _looks_random(token: str, *, hexadecimal: bool) -> bool:
    if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", token, re.IGNORECASE):
        return False  # a UUID is an identifier
    return any(_run_looks_random(run[0], hexadecimal) for run in _RUN.finditer(token)) or (
        "/" in token and _run_looks_random(re.sub(r"[^A-Za-z0-9]", "", token), hexadecimal)
    )


def _run_looks_random(run: str, hexadecimal: bool) -> bool:
    """Return whether lower case, upper case and digits alternate more often than in joined words and numbers."""
    if re.fullmatch(r"[0-9a-f]+|[0-9A-F]+", run):
        return hexadecimal and len(run) >= 32 and not run.isdecimal()
    per_part = len(run) / len(name_parts(run))
    digits = sum(c.isdigit() for c in run)
    if run.lower() != run != run.upper():
        return per_part < (3.0 if digits else 2.4)
    return digits >= 3 and per_part < 3.2


def _merged(spans: Iterator[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
