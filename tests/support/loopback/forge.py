"""A forge on loopback that speaks GitHub's and GitLab's REST API, over one bare repository, and remembers what it was asked.

Run it by hand: `python -m tests.support.loopback.forge BARE_REPOSITORY [PORT]`; the project is acme/textkit.
"""

from __future__ import annotations

import json
import re
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PROJECT = "acme/textkit"
TOKEN = "token-of-the-tests"

Row = dict[str, Any]


@dataclass
class Forge:
    """One project: what is pushed is in `bare`, the rest here.

    Attributes:
        checks: by commit: {name, conclusion or "" while it runs, summary, log}.
        comments: {kind: review, line or whole; id, author, association, body, path, line, resolved}.
        pipelines: of GitLab, beside the checks: {id, sha, status, jobs}.
        asked: (method, path) of every request that was let in.
        refuse: status and message with which the next request of (method, end of path) is answered.
    """

    bare: Path
    address: str = ""
    pulls: list[Row] = field(default_factory=list)
    checks: dict[str, list[Row]] = field(default_factory=dict)
    comments: list[Row] = field(default_factory=list)
    pipelines: list[Row] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    refuse: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def tip(self, branch: str) -> str:
        """The commit that a branch stands on, "" when there is none."""
        argv = ["git", "-C", str(self.bare), "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()

    def answer(self, method: str, path: str, query: dict[str, str], body: Row) -> tuple[int, object]:
        """Status and value of one request."""
        self.asked.append((method, path))
        for (verb, end), refusal in list(self.refuse.items()):
            if verb == method and path.endswith(end):
                del self.refuse[verb, end]
                return refusal[0], {"message": refusal[1]}
        ways = _GITHUB if path.startswith("/repos/") else _GITLAB
        name = re.sub(r"^/(repos/acme/textkit|projects/acme/textkit)", "", path)
        for verb, pattern, way in ways:
            match = re.fullmatch(pattern, name)
            if verb == method and match and name != path:
                return way(self, {**query, **match.groupdict()}, body)
        return 404, {"message": "Not Found"}

    # -- what both have

    def open(self, branch: str, base: str, title: str, text: str, *, draft: bool) -> tuple[int, object]:
        if not self.tip(branch):
            return 422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]}
        if any(row["branch"] == branch and row["state"] == "open" for row in self.pulls):
            return 422, {"message": "Validation Failed", "errors": [{"message": f"A pull request exists for {branch}"}]}
        row = {"number": len(self.pulls) + 1, "branch": branch, "base": base, "title": title, "body": text}
        self.pulls.append({**row, "draft": draft, "state": "open"})
        return 201, self.pulls[-1]

    def standing(self, branch: str) -> list[Row]:
        return [row for row in self.pulls if row["branch"] == branch and row["state"] == "open"]


# -- GitHub


def _gh_pull(forge: Forge, row: Row) -> Row:
    return {
        "number": row["number"],
        "html_url": f"https://github.com/{PROJECT}/pull/{row['number']}",
        "title": row["title"],
        "body": row["body"],
        "draft": row["draft"],
        "head": {"ref": row["branch"], "sha": forge.tip(row["branch"])},
        "base": {"ref": row["base"]},
    }


def _gh_find(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    owner, _, branch = str(given["head"]).partition(":")
    assert owner == "acme" and given["state"] == "open"
    return 200, [_gh_pull(forge, row) for row in forge.standing(branch)]


def _gh_open(forge: Forge, _given: Row, body: Row) -> tuple[int, object]:
    status, row = forge.open(body["head"], body["base"], body["title"], body["body"], draft=body["draft"])
    return status, _gh_pull(forge, row) if status == 201 else row


def _gh_update(forge: Forge, given: Row, body: Row) -> tuple[int, object]:
    row = forge.pulls[int(given["number"]) - 1]
    row.update(body)
    return 200, _gh_pull(forge, row)


def _gh_runs(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    rows = [
        {
            "id": 100 + number,
            "name": check["name"],
            "status": "completed" if check["conclusion"] else "in_progress",
            "conclusion": check["conclusion"] or None,
            "html_url": f"https://github.com/{PROJECT}/actions/runs/7/job/{100 + number}",
            "output": {"title": None, "summary": check.get("summary", "")},
        }
        for number, check in enumerate(forge.checks.get(given["sha"], []))
    ]
    return 200, {"total_count": len(rows), "check_runs": rows}


def _gh_status(_forge: Forge, _given: Row, _body: Row) -> tuple[int, object]:
    return 200, {"state": "pending", "statuses": []}


def _gh_annotations(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    return 200, _check(forge, int(given["id"]) - 100).get("annotations", [])


def _log(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    text = _check(forge, int(given["id"]) - 100).get("log")
    return (404, {"message": "Not Found"}) if text is None else (200, text)


def _check(forge: Forge, number: int) -> Row:
    return next(rows[number] for rows in reversed(list(forge.checks.values())) if len(rows) > number)


def _gh_comments(kind: str) -> Callable[[Forge, Row, Row], tuple[int, object]]:
    def listed(forge: Forge, _given: Row, _body: Row) -> tuple[int, object]:
        rows = [
            {
                "id": row["id"],
                "user": {"login": row["author"], "type": row.get("type", "User")},
                "author_association": row.get("association", "MEMBER"),
                "body": row["body"],
                "state": row.get("state", "CHANGES_REQUESTED"),
                **({"path": row["path"], "line": row["line"], "position": 1} if kind == "line" else {}),
            }
            for row in forge.comments
            if row["kind"] == kind
        ]
        return 200, rows

    return listed


_GITHUB = (
    ("GET", "", lambda _forge, _given, _body: (200, {"default_branch": "main"})),
    ("GET", "/pulls", _gh_find),
    ("POST", "/pulls", _gh_open),
    ("PATCH", r"/pulls/(?P<number>\d+)", _gh_update),
    ("GET", r"/commits/(?P<sha>[0-9a-f]{40})/check-runs", _gh_runs),
    ("GET", r"/commits/(?P<sha>[0-9a-f]{40})/status", _gh_status),
    ("GET", r"/check-runs/(?P<id>\d+)/annotations", _gh_annotations),
    ("GET", r"/actions/jobs/(?P<id>\d+)/logs", _log),
    ("GET", r"/pulls/\d+/reviews", _gh_comments("review")),
    ("GET", r"/pulls/\d+/comments", _gh_comments("line")),
    ("GET", r"/issues/\d+/comments", _gh_comments("whole")),
)


# -- GitLab


def _gl_pull(forge: Forge, row: Row) -> Row:
    return {
        "iid": row["number"],
        "web_url": f"https://gitlab.com/{PROJECT}/-/merge_requests/{row['number']}",
        "title": row["title"],
        "description": row["body"],
        "sha": forge.tip(row["branch"]),
        "target_branch": row["base"],
    }


def _gl_find(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    assert given["state"] == "opened"
    return 200, [_gl_pull(forge, row) for row in forge.standing(given["source_branch"])]


def _gl_open(forge: Forge, _given: Row, body: Row) -> tuple[int, object]:
    draft = body["title"].startswith("Draft: ")
    branches = body["source_branch"], body["target_branch"]
    status, row = forge.open(*branches, body["title"], body["description"], draft=draft)
    return status, _gl_pull(forge, row) if status == 201 else row


def _gl_update(forge: Forge, given: Row, body: Row) -> tuple[int, object]:
    row = forge.pulls[int(given["number"]) - 1]
    row["body"] = body["description"]
    return 200, _gl_pull(forge, row)


def _gl_statuses(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    words = {"": "running", "failure": "failed"}
    rows = [
        {
            "id": 100 + number,
            "name": check["name"],
            "status": words.get(check["conclusion"], check["conclusion"]),
            "allow_failure": check.get("allowed", False),
            "description": check.get("summary"),
            "target_url": f"https://gitlab.com/{PROJECT}/-/jobs/{100 + number}",
        }
        for number, check in enumerate(forge.checks.get(given["sha"], []))
    ]
    return 200, rows


def _gl_pipelines(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    return 200, [{"id": row["id"], "status": row["status"]} for row in forge.pipelines if row["sha"] == given["sha"]]


def _gl_jobs(forge: Forge, given: Row, _body: Row) -> tuple[int, object]:
    return 200, next(row["jobs"] for row in forge.pipelines if row["id"] == int(given["id"]))


def _gl_discussions(forge: Forge, _given: Row, _body: Row) -> tuple[int, object]:
    def note(row: Row) -> Row:
        place = {"new_path": row["path"], "new_line": row["line"]} if row["kind"] == "line" else None
        told = {"id": row["id"], "author": {"username": row["author"]}, "body": row["body"], "position": place}
        return {**told, "system": row.get("system", False), "resolvable": True, "resolved": row.get("resolved", False)}

    return 200, [{"id": str(row["id"]), "notes": [note(row)]} for row in forge.comments]


def _gl_members(forge: Forge, _given: Row, _body: Row) -> tuple[int, object]:
    writers = {row["author"] for row in forge.comments if row.get("association", "MEMBER") == "MEMBER"}
    return 200, [{"username": name, "access_level": 40} for name in sorted(writers)]


_GITLAB = (
    ("GET", "", lambda _forge, _given, _body: (200, {"default_branch": "main"})),
    ("GET", "/merge_requests", _gl_find),
    ("POST", "/merge_requests", _gl_open),
    ("PUT", r"/merge_requests/(?P<number>\d+)", _gl_update),
    ("GET", r"/repository/commits/(?P<sha>[0-9a-f]{40})/statuses", _gl_statuses),
    ("GET", "/pipelines", _gl_pipelines),
    ("GET", r"/pipelines/(?P<id>\d+)/jobs", _gl_jobs),
    ("GET", r"/jobs/(?P<id>\d+)/trace", _log),
    ("GET", r"/merge_requests/\d+/discussions", _gl_discussions),
    ("GET", "/members/all", _gl_members),
)


# -- the wire


def _door(forge: Forge) -> type[BaseHTTPRequestHandler]:
    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = json.loads(self._body() or b"{}")
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            path = unquote(parts.path).removeprefix("/api/v3").removeprefix("/api/v4")
            given = self.headers.get("Authorization", "").split(" ")[-1] or self.headers.get("PRIVATE-TOKEN", "")
            if given != TOKEN:
                self._send(401, {"message": "Bad credentials"})
                return
            if int(query.get("page", 1)) > 1:
                self._send(200, [])
                return
            self._send(*forge.answer(self.command, path, query, body))

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _send(self, status: int, value: object) -> None:
            text = value if isinstance(value, str) else json.dumps(value)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(value, str) else "application/json")
            data = text.encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None:
            pass

        def address_string(self) -> str:
            return "loopback"

    return Door


class _Socket(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self) -> tuple[socket.socket, Any]:
        request, _ = super().get_request()
        return request, ("loopback", 0)


class Serving:
    """The forge while it is open; `address` is of its HTTP port, `socket` (when asked for) of the same on a Unix socket."""

    def __init__(self, forge: Forge, *, port: int = 0, unix: Path | None = None) -> None:
        self._servers: list[socketserver.BaseServer] = [ThreadingHTTPServer(("127.0.0.1", port), _door(forge))]
        if unix is not None:
            self._servers.append(_Socket(str(unix), _door(forge)))
        forge.address = f"http://127.0.0.1:{self._servers[0].server_address[1]}"
        self.forge = forge

    def __enter__(self) -> Forge:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self.forge

    def __exit__(self, *_error: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    with Serving(Forge(bare=Path(sys.argv[1])), port=int((sys.argv[2:] or ["0"])[0])) as running:
        print(running.address, flush=True)
        threading.Event().wait()
