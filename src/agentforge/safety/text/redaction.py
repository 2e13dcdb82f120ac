"""Secrets taken out of text: by vendors' shapes and by known values, never by the names of identifiers alone.

The ways in which a known secret is written: as it is, and in the encodings that programs print.
"""

from __future__ import annotations

import itertools
import math
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from json import dumps

from agentforge.errors import AgentForgeError
from agentforge.frozen import dataclass
from agentforge.safety.text.shapes import SHAPES

_REMEMBERED_CHARS = 64_000
_SHORTEST_KNOWN_VALUE = 8
_SHORTEST_ASSIGNED_VALUE = 8
_SHORTEST_RANDOM_VALUE = 16
_BITS_PER_CHARACTER = 3.0
_QUOTED = "quoted-assignment"
_QUOTED_WORDS = ("pass", "secret", "token", "key")
_KEY_WORDS = ("KEY", "TOKEN", "SECRET", "PASS", "PWD", "CREDENTIAL")
_KEY_VARIABLE = (
    r"(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|AUTH)?_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?(?:_|$)"
)
_PLACEHOLDER = (
    r"(?i)x{4,}|\.{3}|your|example|placeholder|changeme|dummy|redacted|(.)\1{7}"
    r"|tiger|czZCaGRSa3F0Mz|QWxhZGRpb"  # examples of manuals and of RFC 6749 and 7617
    r"|^(?:my|the|some|test)?[-_]?(?:password|passwd|passphrase|secret|token|key)[-_]?\d{0,3}$"
)
_JUDGED = frozenset({"url-password", "bearer", "basic-auth", "openai-key"})
_SECRET_VARIABLE = (
    r"(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|(?:API|ACCESS|AUTH|ENCRYPTION|PRIVATE|SECRET)_?KEY)"
    r"(?:_?\d{1,3})?$"
)
"""Names that hold nothing but a secret: `SORT_KEY` and `TOKEN_URL` are none of them."""
_NO_SECRET = (
    r"^(?:[/~]|\.{1,2}/|[a-z]+://)"  # a place where one lies
    r"|^\d+$"
    r"|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$"  # an attribute in source code
    r"|^(?i:required|optional|undefined|disabled|enabled|unlimited|password|null|none|true|false)$"
)
_ASSIGNMENT = (
    r"(?:(?<![\w$.{%-])|(?<=\\[nrt]))(?P<head>(?P<name>[A-Z][A-Z0-9_]{2,60})=)(?P<quote>[\"']?)"
    rf"(?P<secret>[A-Za-z0-9_+/.~!@#%^&*:-]{{{_SHORTEST_ASSIGNED_VALUE},512}}=*)(?P=quote)(?=[\s;|)\"'`,\\]|$)"
)
"""`NAME=value` as in files of variables, in the shell and in what programs print of them, wherever in a line."""
_QUOTED_ASSIGNMENT = (
    r"(?i:(?<![:\w-])(?P<name>[a-z0-9_-]*(?:password|passwd|passphrase|secret|token|(?:api|access|auth|encryption|private|secret)[_-]?key)))"
    r"(?P<between>(?:\\?[\"'])?\s{0,3}(?::=|=>|[:=])\s{0,3}(?P<quote>\\?[\"']))"
    rf"(?P<secret>[A-Za-z0-9_+/.~!@#%^&*:=-]{{{_SHORTEST_ASSIGNED_VALUE},512}})(?P=quote)"
)
"""The same in source code, JSON and YAML, where the value stands in quotes."""
_KEY_OF_FORTY = r"(?<![A-Za-z0-9+/_.-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_.-])"
"""A secret key of AWS without the name of its variable: exactly forty signs that look like the throw of a die."""
_FEWEST_CHANGES = 17
"""So often at least the kind of sign (upper, lower, digit) changes within forty random ones; in names of four words, 12 times."""

_TEST_ID = re.compile(r"[^\s:]+\.\w+(?:::[\w$.<>-]+)+(?:\[.*\])?")
"""A path, names, and perhaps the parameters of a row; a sentence behind it is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """Text without secrets: how many were taken out and of which kinds, sorted."""

    text: str
    count: int
    kinds: tuple[str, ...]


def redact(text: str, *, secrets: tuple[str, ...] = (), shapes: bool = True) -> Redacted:
    """Replace every secret by `[redacted: kind]`.

    A secret is a value that is known (`secrets`, of at least 8 characters), a token in the shape of a vendor's, the value
    that is assigned to a variable whose name ends in PASSWORD, SECRET, TOKEN, API_KEY and the like (`PASSWORD=your-own-words`),
    the random-looking value of another key variable, what stands in quotes behind such a name in source code, JSON or YAML and
    has digits in it, or forty signs alone that look like the throw of a die.

    Args:
        shapes: False takes out the known values alone.
    Source: known formats as published by the vendors' secret-scanning pages.
    """
    if not shapes:
        found: list[str] = []
        known = _known_values(text, secrets, found)
        return Redacted(text=known, count=len(found), kinds=tuple(sorted(set(found))))
    return _remembered(text, secrets) if len(text) <= _REMEMBERED_CHARS else _searched(text, secrets)


@lru_cache(maxsize=512)
def _remembered(text: str, secrets: tuple[str, ...]) -> Redacted:
    """Most of what is sent to a model was sent the step before: searched once."""
    return _searched(text, secrets)


def _searched(text: str, secrets: tuple[str, ...]) -> Redacted:
    found: list[str] = []
    text = _known_values(text, secrets, found)
    for shape in SHAPES:
        if any(hint in text for hint in shape.hints):
            text = re.sub(shape.form, lambda match, kind=shape.kind: _cut_out(match, kind, found), text)  # type: ignore[misc]
    if any(word in text for word in _KEY_WORDS):
        text = re.sub(_ASSIGNMENT, lambda match: _cut_assigned(match, found), text)
    lowered = text.lower()
    if any(word in lowered for word in _QUOTED_WORDS):
        text = re.sub(_QUOTED_ASSIGNMENT, lambda match: _cut_quoted(match, found), text)
    if len(text) >= 40:
        text = re.sub(_KEY_OF_FORTY, lambda match: _cut_forty(match, found), text)
    return Redacted(text=text, count=len(found), kinds=tuple(sorted(set(found))))


def secret_lines(text: str) -> list[tuple[int, str]]:
    """Where secrets stand in a text, without showing them: (line from 1, kind), in order.

    What source code assigns in quotes is hidden from models, and is not held against it here: a test needs its passwords.
    """
    whole = redact(text)
    if not whole.count:
        return []
    lines = text.splitlines()
    found = [
        (number, kind) for number, line in enumerate(lines, start=1) for kind in redact(line).kinds if kind != _QUOTED
    ]
    if "private-key" in whole.kinds:
        heads = [number for number, line in enumerate(lines, start=1) if "PRIVATE KEY" in line and "BEGIN" in line]
        found += [(number, "private-key") for number in heads if (number, "private-key") not in found]
    return sorted(found)


def redact_value(value: object, *, secrets: tuple[str, ...] = ()) -> object:
    """Redact every string of a JSON value, keys included; the same value when it holds no secret.

    Of the id of a test, known secrets alone are taken out: runs are compared by ids, and their text stands in the repository.
    """
    texts = "\n".join(_texts(value))
    return _redacted(value, secrets) if redact(texts, secrets=secrets).count else value


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _redacted(value: object, secrets: tuple[str, ...]) -> object:
    if isinstance(value, str):
        return redact(value, secrets=secrets, shapes=not _TEST_ID.fullmatch(value)).text
    if isinstance(value, Mapping):
        return {str(_redacted(str(key), secrets)): _redacted(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = (_redacted(item, secrets) for item in value)
        return tuple(items) if isinstance(value, tuple) else list(items)
    return value


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of key variables of an environment that are worth hiding: long enough, no paths; the longest first."""
    values = {
        value
        for name, value in environment.items()
        if re.search(_KEY_VARIABLE, name.upper())
        and len(value) >= _SHORTEST_KNOWN_VALUE
        and not value.startswith(("/", "~", "./"))
    }
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _known_values(text: str, secrets: tuple[str, ...], found: list[str]) -> str:
    for secret in secrets:
        if len(secret) < _SHORTEST_KNOWN_VALUE:
            continue
        for form in written_forms(secret):
            if form in text:
                found.extend(["known-value"] * text.count(form))
                text = text.replace(form, "[redacted: known-value]")
    return text


def _cut_out(match: re.Match[str], kind: str, found: list[str]) -> str:
    named = "secret" in match.re.groupindex
    secret = match["secret"] if named else match.group()
    if kind in _JUDGED and (re.search(_PLACEHOLDER, secret) or (kind == "url-password" and not _looks_chosen(secret))):
        return match.group()
    found.append(kind)
    start, end = (
        (match.start("secret") - match.start(), match.end("secret") - match.start()) if named else (0, len(secret))
    )
    whole = match.group()
    return f"{whole[:start]}[redacted: {kind}]{whole[end:]}"


def _looks_chosen(password: str) -> bool:
    """A password, not the word of an example: it has a digit or a sign beside its letters."""
    return not password.isalpha() and not password.isdigit()


def _cut_assigned(match: re.Match[str], found: list[str]) -> str:
    name, secret = match["name"], match["secret"]
    if re.search(_PLACEHOLDER, secret) or re.search(_NO_SECRET, secret):
        return match.group()
    if not re.search(_SECRET_VARIABLE, name) and not (re.search(_KEY_VARIABLE, name) and _looks_random(secret)):
        return match.group()
    found.append("assignment")
    return f"{match['head']}{match['quote']}[redacted: assignment]{match['quote']}"


def _cut_quoted(match: re.Match[str], found: list[str]) -> str:
    secret = match["secret"]
    if re.search(_PLACEHOLDER, secret) or re.search(_NO_SECRET, secret) or not any(sign.isdigit() for sign in secret):
        return match.group()
    if not _looks_chosen(secret) or not _looks_random(secret.ljust(_SHORTEST_RANDOM_VALUE, secret[-1])):
        return match.group()
    found.append(_QUOTED)
    return f"{match['name']}{match['between']}[redacted: {_QUOTED}]{match['quote']}"


def _cut_forty(match: re.Match[str], found: list[str]) -> str:
    kinds = [sign.isupper() + 2 * sign.islower() + 3 * sign.isdigit() for sign in match.group()]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    if changes < _FEWEST_CHANGES or {1, 2, 3} - set(kinds):
        return match.group()
    found.append("aws-secret")
    return "[redacted: aws-secret]"


def _looks_random(value: str) -> bool:
    """Long, digits among letters, and many different signs for the length."""
    if len(value) < _SHORTEST_RANDOM_VALUE:
        return False
    has_both = any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)
    counts = [value.count(sign) for sign in set(value)]
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return has_both and bits >= _BITS_PER_CHARACTER


_SHORTEST_ENCODED = 12
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


@lru_cache(maxsize=256)
def written_forms(secret: str) -> tuple[str, ...]:
    """The value itself, and what it reads like in JSON, in an address, in hexadecimal digits, in base64 and backwards.

    In base64 a value reads in three ways, by what stands in front of it; the signs that its neighbours change are left out.
    """
    found = [secret, *(form for form in _encoded(secret) if len(form) >= _SHORTEST_ENCODED)]
    return tuple(dict.fromkeys(sorted(found, key=lambda form: -len(form))))


def _encoded(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield from (dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1])
    yield from (_percent(raw, "/"), _percent(raw, ""), _percent(raw, " ").replace(" ", "+"))
    yield from (raw.hex(), raw.hex().upper(), secret[::-1])
    for before in range(3):
        first, last = -(-before * 4 // 3), (before + len(raw)) * 8 // 6
        plain = b64encode(b"\0" * before + raw).decode("ascii")[first:last]
        yield from (plain, plain.replace("+", "-").replace("/", "_"))


def _percent(raw: bytes, kept: str) -> str:
    """As in an address: signs that mean something there become `%2F`, those in `kept` excepted."""
    plain = _UNRESERVED | set(kept.encode("ascii"))
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in raw)


def hidden_keys(text: str, environ: Mapping[str, str]) -> str:
    """A text in which neither the values of the user's key variables nor anything shaped like a key stands."""
    return redact(text, secrets=known_secrets(environ)).text


def without_secrets(error: AgentForgeError, environ: Mapping[str, str]) -> AgentForgeError:
    """The same error; its words may repeat what a provider or a file said."""
    error.message = hidden_keys(error.message, environ)
    error.hint = hidden_keys(error.hint, environ)
    return error
