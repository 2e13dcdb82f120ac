"""How a forge is asked: through the user's `gh` or `glab`, which hold the login, or over HTTP with a token."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from agentforge.errors import ForgeError
from agentforge.forges.place import ForgePlace
from agentforge.frozen import dataclass

_TIMEOUT_S = 60
_LARGEST_BYTES = 16 << 20
_PAGE = 100
_MOST_PAGES = 20
_TOKENS = {"github": ("GH_TOKEN", "GITHUB_TOKEN"), "gitlab": ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN")}
_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HOSTED = ("github.com", "gitlab.com")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeAnswer:
    """What came back."""

    status: int
    body: bytes


class ForgeWire(Protocol):
    """One way to ask.

    Attributes:
        name: of the program that asks, or "http".
    """

    name: str

    def send(self, method: str, path: str, body: Mapping[str, object] | None) -> ForgeAnswer:
        """Send one request.

        Args:
            path: below the API, without a slash at the beginning.
        Raises:
            ForgeError: nobody answered.
        """


def ask(wire: ForgeWire, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
    """Ask for JSON.

    Raises:
        ForgeError: it was refused, or the answer means nothing.
    """
    return _json(_accepted(wire.send(method, path, body), method, path, wire).body, path)


def ask_text(wire: ForgeWire, path: str) -> str | None:
    """Ask for text; None when there is none (any more)."""
    answer = wire.send("GET", path, None)
    if answer.status in (404, 410):
        return None
    return _accepted(answer, "GET", path, wire).body.decode("utf-8", "replace")


def pages(wire: ForgeWire, path: str, *, key: str = "", optional: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a listing, page by page.

    Args:
        key: under which each page holds its rows; "" = a page is the list.
        optional: a forge that does not know the listing (404) has no rows; else it is an error.
    """
    mark = "&" if "?" in path else "?"
    for number in range(1, _MOST_PAGES + 1):
        asked = f"{path}{mark}per_page={_PAGE}&page={number}"
        text = ask_text(wire, asked) if optional else None
        if optional and text is None:
            return
        value = ask(wire, "GET", asked) if text is None else _json(text.encode(), asked)
        rows = value.get(key, []) if key and isinstance(value, dict) else value
        if not isinstance(rows, list):
            raise ForgeError(f"GET {path}: the forge did not answer with a list", hint="is forge.kind right?")
        yield from (row for row in rows if isinstance(row, dict))
        if len(rows) < _PAGE:
            return


def open_wire(place: ForgePlace, environ: Mapping[str, str]) -> ForgeWire | None:
    """Choose how to ask: the forge's own program when it is logged in there, else a token, else None.

    A token from the environment goes to the forge that it is for: to github.com or gitlab.com, to the API that the user's
    settings name, and from the variables for enterprise servers to any other host.
    """
    program = {"github": "gh", "gitlab": "glab"}[place.kind]
    if not place.own_api and _logged_in(program, place.host, environ):
        return CommandWire(program, place.host, environ)
    token = _token(place, environ)
    return HttpWire(place, token) if token else None


class CommandWire:
    """Asks through `gh api` or `glab api`.

    Args:
        program: "gh" or "glab".
        host: of the forge; the program knows its login and its API.
    """

    def __init__(self, program: str, host: str, environ: Mapping[str, str]) -> None:
        self.name = program
        self._host = host
        self._environ = environ

    def send(self, method: str, path: str, body: Mapping[str, object] | None) -> ForgeAnswer:
        """Send one request through the program, and read the status that it shows."""
        argv = [self.name, "api", path, "--method", method, "--hostname", self._host, "--include"]
        data = b""
        if body is not None:
            argv += ["--header", "Content-Type: application/json", "--input", "-"]
            data = json.dumps(body).encode()
        done = _ran(argv, self._environ, stdin=data)
        head, *rest = _END_OF_HEAD.split(done.stdout, maxsplit=1)
        words = head.split(b"\n", 1)[0].split()
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ForgeError(
                f"{self.name} api {path}: {said[-1] if said else 'no answer'}",
                hint=f"{self.name} auth status --hostname {self._host}",
            )
        return ForgeAnswer(status=int(words[1]), body=rest[0] if rest else b"")


class HttpWire:
    """Asks the REST API itself.

    Args:
        token: goes to the API and nowhere else, not even where a redirection leads.
    """

    name = "http"

    def __init__(self, place: ForgePlace, token: str) -> None:
        self._api = place.api
        self._headers = {
            "User-Agent": "agentforge",
            "Accept": "application/vnd.github+json" if place.kind == "github" else "application/json",
            **({"Authorization": f"Bearer {token}"} if place.kind == "github" else {"PRIVATE-TOKEN": token}),
        }

    def send(self, method: str, path: str, body: Mapping[str, object] | None) -> ForgeAnswer:
        """Send one request; proxies and certificates are those of the environment."""
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request, build_opener

        data = json.dumps(body).encode() if body is not None else None
        request = Request(f"{self._api}/{path}", data=data, method=method)  # forge.api is the user's own
        for name, value in self._headers.items():
            request.add_unredirected_header(name, value)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with build_opener().open(request, timeout=_TIMEOUT_S) as answer:
                return ForgeAnswer(status=answer.status, body=answer.read(_LARGEST_BYTES))
        except HTTPError as exc:
            with exc:
                return ForgeAnswer(status=exc.code, body=exc.read(_LARGEST_BYTES))
        except (URLError, OSError, HTTPException) as exc:
            reason = getattr(exc, "reason", None) or exc
            raise ForgeError(f"{self._api} does not answer: {reason}", hint="is the network there?") from exc


def _json(body: bytes, path: str) -> Any:
    try:
        return json.loads(body)
    except ValueError as exc:
        raise ForgeError(f"{path}: the forge did not answer in JSON", hint="is forge.api right?") from exc


def _accepted(answer: ForgeAnswer, method: str, path: str, wire: ForgeWire) -> ForgeAnswer:
    if answer.status < 300:
        return answer
    hints = {
        401: "the login or the token is not valid (any more)",
        403: "the token may not do this, or too much was asked for in this hour",
        404: "the repository is not there, or the token may not see it",
        429: "too much was asked for; try again in a minute",
    }
    hint = hints.get(answer.status, "try again" if answer.status >= 500 else "")
    raise ForgeError(f"{method} {path}: HTTP {answer.status}, {_reason(answer.body)} (through {wire.name})", hint=hint)


def _reason(body: bytes) -> str:
    """What the forge says of a refusal."""
    try:
        value = json.loads(body)
    except ValueError:
        return "no reason given"
    if not isinstance(value, dict):
        return "no reason given"
    told = value.get("message") or value.get("error") or ""
    more = [
        str(row.get("message") or row.get("code") or row) if isinstance(row, dict) else str(row)
        for row in cast("list[object]", value.get("errors") if isinstance(value.get("errors"), list) else [])
    ]
    return " ".join("; ".join([_flat(told), *more]).split())[:400] or "no reason given"


def _flat(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _logged_in(program: str, host: str, environ: Mapping[str, str]) -> bool:
    """Whether the program is there and has a login for the host; nothing is asked over the network."""
    argv = [program, "auth", "token", "--hostname", host]
    if program == "glab":
        argv = [program, "config", "get", "token", "--host", host]
    try:
        done = _ran(argv, environ)
    except ForgeError:
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def _token(place: ForgePlace, environ: Mapping[str, str]) -> str:
    names: tuple[str, ...] = _TOKENS[place.kind]
    if not place.own_api and place.host not in (*_HOSTED, *_LOOPBACK):
        own = environ.get("GITLAB_HOST", "").rpartition("://")[2].partition("/")[0].partition(":")[0]
        names = _ENTERPRISE if place.kind == "github" else names if own == place.host else ()
    return next((environ[name] for name in names if environ.get(name)), "")


def _ran(argv: list[str], environ: Mapping[str, str], *, stdin: bytes = b"") -> Any:
    quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1", "NO_PROMPT": "1"}
    try:
        return subprocess.run(
            argv, env={**environ, **quiet}, input=stdin, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except (FileNotFoundError, PermissionError) as exc:
        raise ForgeError(f"{argv[0]} is not installed", hint="or set a token in the environment") from exc
    except subprocess.TimeoutExpired as exc:
        raise ForgeError(f"{argv[0]} did not answer within {_TIMEOUT_S} s", hint="is the network there?") from exc
