"""Proves toolbox/files/write_file.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentforge.tools.base import Observation
from agentforge.workspace.files.file_access import digest_file

Call = Callable[..., Observation]


def test_a_file_is_created_with_its_folders(call: Call, project: Path) -> None:
    done = call("write_file", path="a/b/c.txt", content="one\ntwo")
    assert done.summary == "created a/b/c.txt (2 lines)"
    assert done.changed == ("a/b/c.txt",)
    assert (project / "a/b/c.txt").read_bytes() == b"one\ntwo"


def test_folders_are_not_created_when_that_is_not_wanted(call: Call, project: Path) -> None:
    assert call("write_file", path="a/b.txt", content="", create_directories=False).error_type == "not-found"
    assert not (project / "a").exists()


def test_a_replaced_file_keeps_line_ends_and_mode(call: Call, project: Path) -> None:
    (project / "run.bat").write_bytes(b"echo 1\r\n")
    (project / "run.bat").chmod(0o755)
    assert call("write_file", path="run.bat", content="echo 2\necho 3\n").summary == "replaced run.bat (2 lines)"
    assert (project / "run.bat").read_bytes() == b"echo 2\r\necho 3\r\n"
    assert (project / "run.bat").stat().st_mode & 0o777 == 0o755


def test_the_same_content_changes_nothing(call: Call) -> None:
    done = call("write_file", path="README.md", content="# Shapes\n\nAreas of shapes.\n")
    assert (done.summary, done.changed) == ("README.md already holds exactly this", ())


def test_what_somebody_else_changed_is_not_overwritten(call: Call, project: Path) -> None:
    seen = {"README.md": digest_file(project / "README.md")}
    (project / "README.md").write_text("mine\n")
    assert call("write_file", seen=seen, path="README.md", content="yours\n").error_type == "changed-since-read"
    assert (project / "README.md").read_text() == "mine\n"


def test_broken_python_is_written_and_pointed_out(call: Call) -> None:
    done = call("write_file", path="new.py", content="def f(:\n")
    assert done.text == "Note: new.py does not parse as Python now: line 1: invalid syntax"
    assert done.next_actions == ("correct the syntax of new.py",)


def test_a_file_in_the_way_of_a_folder_is_an_observation(call: Call) -> None:
    done = call("write_file", path="README.md/x.txt", content="")
    assert (done.status, done.error_type) == ("error", "os-error")
