"""Both forges do what the seam says, over HTTP and over the real `gh`; what they refuse is told with the next step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentforge.errors import ForgeError
from agentforge.forges.forge import CiCheck, standing
from agentforge.forges.github import GitHub
from agentforge.forges.gitlab import GitLab
from agentforge.forges.place import place_of
from agentforge.forges.wire import CommandWire, HttpWire, open_wire
from tests.support.toolchains import need

_CLASSES = {"github": GitHub, "gitlab": GitLab}
_TOKEN = "token-of-the-tests"


def _place(running, kind):
    return place_of("", {"kind": kind, "api": running.address, "project": "acme/textkit"})


def _gh_environment(running, tmp_path):
    """A login of gh at github.com, which it reaches over the forge's Unix socket."""
    (tmp_path / "config.yml").write_text(f"http_unix_socket: {running.unix}\n")
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GH_CONFIG_DIR": str(tmp_path), "GH_TOKEN": _TOKEN}


@pytest.fixture(params=["github", "gitlab", "github through gh"])
def forge(request, running, tmp_path):
    """Each kind of forge by each way to ask."""
    kind = request.param.split()[0]
    if request.param.endswith("gh"):
        need("gh")
        place = place_of("git@github.com:acme/textkit.git", {})
        wire = open_wire(place, _gh_environment(running, tmp_path))
        assert isinstance(wire, CommandWire)
        return GitHub(place, wire)
    place = _place(running, kind)
    return _CLASSES[kind](place, HttpWire(place, _TOKEN))


def test_a_request_is_opened_found_and_written_anew(forge, running):
    assert forge.find("topic") is None
    made = forge.open("topic", base="main", title="Add it", body="why\n\n`x` é", draft=True)
    assert (made.number, made.base, made.head) == (1, "main", running.tip("topic"))
    assert running.pulls[0]["draft"] is True
    assert forge.update(made, body="new").number == 1
    assert (running.pulls[0]["body"], forge.find("topic").url) == ("new", made.url)
    assert forge.default_branch() == "main"


def test_what_a_forge_does_not_know_is_no_row_and_a_pipeline_without_jobs_stands_for_itself(running):
    place = _place(running, "gitlab")
    lab, commit = GitLab(place, HttpWire(place, _TOKEN)), running.tip("topic")
    running.refuse["GET", "/statuses"] = (404, "Not Found")
    assert lab.checks(commit) == ()
    running.pipelines = [{"id": 7, "sha": commit, "status": "created", "jobs": []}]
    (check,) = lab.checks(commit)
    assert (check.name, check.standing, check.id) == ("pipeline", "pending", "")
    running.pipelines[0]["jobs"] = [{"id": 100, "name": "tests", "status": "failed"}]
    (check,) = lab.checks(commit)
    assert (check.name, check.standing) == ("tests", "failed")


def test_a_refusal_says_why(forge):
    with pytest.raises(ForgeError, match=r"HTTP 422, Validation Failed; invalid \(through (gh|http)\)"):
        forge.open("nothing", base="main", title="t", body="b", draft=False)


def test_checks_are_those_of_the_commit(forge, running):
    commit = running.tip("topic")
    running.checks = {
        commit: [
            {"name": "tests", "conclusion": "failure", "summary": "2 failed", "log": "the end\n"},
            {"name": "lint", "conclusion": "success"},
            {"name": "slow", "conclusion": ""},
        ]
    }
    found = {check.name: check for check in forge.checks(commit)}
    assert {name: check.standing for name, check in found.items()} == {
        "tests": "failed", "lint": "passed", "slow": "pending",
    }  # fmt: skip
    assert "2 failed" in found["tests"].summary
    assert "the end" in forge.details(found["tests"])
    assert forge.details(found["slow"]) == ""
    assert forge.checks("0" * 40) == ()


def test_comments_say_who_may_write_and_what_they_are_about(forge, running):
    made = forge.open("topic", base="main", title="t", body="b", draft=False)
    running.comments = [
        {"kind": "line", "id": 1, "author": "bea", "body": "wrong here", "path": "a.py", "line": 3},
        {"kind": "whole", "id": 2, "author": "eve", "association": "NONE", "body": "hello"},
        {"kind": "whole", "id": 3, "author": "bea", "body": "  "},
    ]
    found = {item.author: item for item in forge.comments(made)}
    assert (found["bea"].path, found["bea"].line, found["bea"].may_write) == ("a.py", 3, True)
    assert (found["eve"].path, found["eve"].may_write) == ("", False)
    assert len(forge.comments(made)) == 2


def test_what_is_settled_or_said_by_the_forge_is_no_finding(running):
    place = _place(running, "gitlab")
    lab = GitLab(place, HttpWire(place, _TOKEN))
    made = lab.open("topic", base="main", title="t", body="b", draft=False)
    running.comments = [
        {"kind": "whole", "id": 1, "author": "bea", "body": "done", "resolved": True},
        {"kind": "whole", "id": 2, "author": "bea", "body": "added 1 commit", "system": True},
    ]
    assert lab.comments(made) == ()
    place = _place(running, "github")
    hub = GitHub(place, HttpWire(place, _TOKEN))
    running.comments = [{"kind": "review", "id": 1, "author": "bea", "body": "nice", "state": "APPROVED"}]
    assert hub.comments(made) == ()


def test_a_wrong_token_a_missing_project_and_a_silent_host_are_told_with_the_next_step(running):
    place = _place(running, "github")
    with pytest.raises(ForgeError, match="HTTP 401, Bad credentials") as told:
        GitHub(place, HttpWire(place, "other")).default_branch()
    assert "not valid" in told.value.hint
    place = place_of("", {"kind": "github", "api": running.address, "project": "acme/other"})
    with pytest.raises(ForgeError, match="HTTP 404"):
        GitHub(place, HttpWire(place, _TOKEN)).default_branch()
    place = place_of("", {"kind": "gitlab", "api": "http://127.0.0.1:9", "project": "acme/textkit"})
    with pytest.raises(ForgeError, match="does not answer"):
        GitLab(place, HttpWire(place, _TOKEN)).default_branch()


@pytest.mark.parametrize(
    ("address", "settings", "environ", "asks"),
    [
        ("git@github.com:a/b.git", {}, {"GITHUB_TOKEN": "t"}, "http"),
        ("git@github.com:a/b.git", {}, {"GITLAB_TOKEN": "t"}, None),
        ("git@github.evil.org:a/b.git", {}, {"GITHUB_TOKEN": "t", "GH_TOKEN": "t"}, None),
        ("git@github.acme.org:a/b.git", {}, {"GH_ENTERPRISE_TOKEN": "t"}, "http"),
        ("git@gitlab.com:a/b.git", {}, {"GITLAB_TOKEN": "t"}, "http"),
        ("git@gitlab.evil.org:a/b.git", {}, {"GITLAB_TOKEN": "t"}, None),
        ("git@gitlab.acme.org:a/b.git", {}, {"GITLAB_TOKEN": "t", "GITLAB_HOST": "https://gitlab.acme.org"}, "http"),
        ("http://127.0.0.1:3000/a/b.git", {"kind": "gitlab"}, {"GITLAB_TOKEN": "t"}, "http"),
        ("/srv/b.git", {"kind": "github", "api": "http://127.0.0.1:1", "project": "a/b"}, {"GH_TOKEN": "t"}, "http"),
    ],
)  # fmt: skip
def test_a_token_goes_to_the_forge_that_it_is_for(address, settings, environ, asks):
    wire = open_wire(place_of(address, settings), {"PATH": "/nowhere", **environ})
    assert (wire.name if wire else None) == asks


def test_one_failure_is_enough_and_no_report_is_no_pass():
    def of(*words):
        return standing(tuple(CiCheck(id="", name=str(n), standing=word) for n, word in enumerate(words)))

    assert (of("passed", "failed", "pending"), of("passed", "pending"), of("passed"), of()) == (
        "failed", "pending", "passed", "none",
    )  # fmt: skip


def test_a_program_that_is_not_logged_in_is_not_asked(tmp_path: Path):
    tool = tmp_path / "gh"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    place = place_of("git@github.com:a/b.git", {})
    assert open_wire(place, {"PATH": str(tmp_path)}) is None
    wire = open_wire(place, {"PATH": str(tmp_path), "GH_TOKEN": "t"})
    assert wire is not None and wire.name == "http"
