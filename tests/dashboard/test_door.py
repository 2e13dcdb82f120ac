"""Who gets in: token, cookie, host names, origins, forms. All over a real socket."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.scene import Served

_PAGES = ("/", "/waiting", "/measures", "/metrics", "/live", "/t/0000000000/task-x", "/nowhere")


@pytest.mark.parametrize("path", _PAGES)
def test_nothing_is_shown_without_the_token(served: Served, path: str) -> None:
    answer = served.ask(path, as_program=False)
    assert answer.status == 401
    assert "task-2026" not in answer.body
    assert "paste its token" in answer.body


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "bearer\u00e9", "Bearer {token}x"]
)
def test_a_wrong_token_does_not_open(served: Served, header: str) -> None:
    told = header.replace("{token}", served.token).encode("utf-8").decode("latin-1")
    assert served.ask("/", as_program=False, authorization=told).status == 401


def test_the_token_becomes_a_cookie_that_scripts_cannot_read_and_other_sites_cannot_use(served: Served) -> None:
    answer = served.ask("/login", method="POST", form={"token": served.token}, as_program=False, origin=served.base)
    cookie = answer.headers["set-cookie"]
    assert answer.status == 303
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert served.token not in cookie
    assert served.ask("/", as_program=False, cookie=cookie.partition(";")[0]).status == 200


def test_the_token_as_a_cookie_opens_nothing(served: Served) -> None:
    name = served.enter().partition("=")[0]
    assert served.ask("/", as_program=False, cookie=f"{name}={served.token}").status == 401


@pytest.mark.parametrize("token", ["", "wrong", "\u00e9", "x" * 5000])
def test_a_wrong_token_gives_no_cookie(served: Served, token: str) -> None:
    answer = served.ask("/login", method="POST", form={"token": token}, as_program=False, origin=served.base)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
def test_a_foreign_host_name_is_refused_even_with_the_token(served: Served, host: str) -> None:
    named = host.replace("{port}", served.netloc.rpartition(":")[2])
    assert served.ask("/", host=named).status == 421


def test_the_names_of_this_machine_are_known(served: Served) -> None:
    port = served.netloc.rpartition(":")[2]
    assert [
        served.ask("/", host=f"{name}:{port}").status for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST")
    ] == [200] * 4


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1:1", "http://127.0.0.1.evil"]
)
def test_a_form_from_another_page_changes_nothing(served: Served, origin: str | None) -> None:
    headers = {"cookie": served.enter(), **({"origin": origin} if origin else {})}
    answer = served.ask(served.task("hostile", "abort"), method="POST", form={"csrf": "x"}, as_program=False, **headers)
    assert answer.status == 403


@pytest.mark.parametrize("form", [{}, {"csrf": ""}, {"csrf": "wrong"}, {"csrf": "\u00e9"}])
def test_a_form_without_its_token_changes_nothing(served: Served, form: dict[str, str]) -> None:
    answer = served.ask(
        served.task("hostile", "abort"),
        method="POST",
        form=form,
        as_program=False,
        cookie=served.enter(),
        origin=served.base,
    )
    assert answer.status == 409
    assert "load the page again" in answer.body


@pytest.mark.parametrize("path", ["/", "/nowhere", "/static/app.css", "/metrics"])
def test_every_answer_has_the_headers(served: Served, path: str) -> None:
    headers = served.ask(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../ground.py",
        "/static/%2e%2e/ground.py",
        "/static/nothing.js",
        "/t/{key}/..",
        "/t/{key}/%2e%2e",
        "/t/{key}/task",
    ],
)
def test_addresses_do_not_lead_out(served: Served, path: str) -> None:
    assert served.ask(path.replace("{key}", served.key)).status == 404


def test_a_form_that_is_too_long_or_no_form_is_refused(served: Served) -> None:
    path = served.task("hostile", "resolve")
    assert served.ask(path, method="POST", form={"text": "x" * 300_000}).status == 400
    assert served.ask(path, method="POST", form={"decision": "perhaps"}).status == 400


def test_beyond_loopback_a_name_is_asked_for(tmp_path: Path, served: Served) -> None:
    done = _dashboard(served.repo, tmp_path, "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "--allow-host" in done.stderr


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "token"
    path.write_text("x" * 40)
    path.chmod(0o644)
    assert "chmod 600" in _dashboard(served.repo, tmp_path, "--token-file", str(path)).stderr
    path.chmod(0o600)
    path.write_text("short")
    assert "contains no token" in _dashboard(served.repo, tmp_path, "--token-file", str(path)).stderr


def test_a_port_in_use_is_said(tmp_path: Path, served: Served) -> None:
    done = _dashboard(served.repo, tmp_path, "--port", served.netloc.rpartition(":")[2])
    assert done.returncode == 2
    assert "another --port" in done.stderr


def _dashboard(repo: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "agentforge", "dashboard", "--cwd", str(repo), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
