"""Issues as requests, each once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentforge.app.intake.sources import SourceClaim, read_source
from agentforge.errors import ToolchainError, UsageError


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"AGENTFORGE_HOME": str(tmp_path / "af"), "PATH": str(tmp_path / "bin")}


def gh(tmp_path: Path, script: str) -> None:
    file = tmp_path / "bin" / "gh"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_a_file_is_known_by_its_content(tmp_path: Path, environ: dict[str, str]) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("Add x\n")
    one, other = (read_source(str(tmp_path / name), environ=environ) for name in ("a.md", "b.md"))
    assert one == other
    assert one.request == "Add x\n"


def test_an_issue_in_json_is_known_by_its_address(tmp_path: Path, environ: dict[str, str]) -> None:
    file = tmp_path / "issue.json"
    file.write_text(json.dumps({"title": "Add x", "body": "as y", "url": "https://h/1"}))
    found = read_source(str(file), environ=environ)
    assert (found.id, found.request) == ("https://h/1", "Add x\n\nas y")


def test_an_address_is_read_through_gh(tmp_path: Path, environ: dict[str, str]) -> None:
    gh(tmp_path, """echo '{"title": "Add x", "body": null, "url": "https://h/o/r/issues/7"}'""")
    found = read_source("https://h/o/r/issues/7", environ={**environ, "PATH": f"{environ['PATH']}:/bin:/usr/bin"})
    assert (found.id, found.request) == ("https://h/o/r/issues/7", "Add x")


def test_what_gh_says_is_told(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(ToolchainError, match="not installed"):
        read_source("https://h/1", environ=environ)
    gh(tmp_path, "echo no such issue >&2; exit 1")
    with pytest.raises(ToolchainError, match="no such issue"):
        read_source("https://h/1", environ={**environ, "PATH": f"{environ['PATH']}:/bin:/usr/bin"})


@pytest.mark.parametrize(("name", "text"), [("none.md", None), ("empty.md", " \n"), ("no.json", '{"body": "x"}')])
def test_nothing_to_work_on_is_refused(tmp_path: Path, environ: dict[str, str], name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError):
        read_source(str(tmp_path / name), environ=environ)


def test_of_many_who_start_the_same_one_does(environ: dict[str, str]) -> None:
    started = [SourceClaim("s", "/repo", environ).run(lambda: "task-1") for _ in range(3)]
    assert started == ["task-1", None, None]
    assert SourceClaim("s", "/other", environ).run(lambda: "task-2") == "task-2"


def test_a_start_that_fails_can_be_tried_again(environ: dict[str, str]) -> None:
    def fail() -> str:
        raise UsageError("no")

    with pytest.raises(UsageError):
        SourceClaim("s", "/repo", environ).run(fail)
    assert SourceClaim("s", "/repo", environ).run(lambda: "task-1") == "task-1"


def test_the_claim_of_a_dead_process_does_not_hold(environ: dict[str, str]) -> None:
    claim = SourceClaim("s", "/repo", environ)
    assert claim._take()
    assert claim.taken == ""
    claim._file.write_text(json.dumps({"pid": 2**22 + os.getpid()}))
    assert claim.run(lambda: "task-1") == "task-1"
