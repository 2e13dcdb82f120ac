"""The surroundings of held-out checks are those of a user: a clone that git answers for, a home with files, nothing written just now."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from agentforge.testing.launch import TestSandbox
from agentforge.verification.examples.user_environment import furnish, paths_of_tests, remove_tests
from agentforge.workspace.sandbox.box import choose

_DAY_S = 24 * 3600


def _furnished(folder: Path) -> TestSandbox:
    (folder / "checkout").mkdir()
    (folder / "checkout" / "kit.py").write_text("x = 1\n", "utf-8")
    (folder / "checkout" / "link").symlink_to("nowhere")
    place = TestSandbox(
        checkout=folder / "checkout", mount_at=folder / "repo", sandbox=choose("none"), scratch=folder / "scratch"
    )
    furnish(place)
    return place


def test_git_answers_for_the_checkout_as_for_any_clone(tmp_path: Path) -> None:
    place = _furnished(tmp_path)
    asked = ["git", "-C", str(place.checkout), "-c", "safe.directory=*"]
    head = subprocess.run([*asked, "log", "--format=%s"], capture_output=True, text=True, check=True).stdout
    assert head == "begin\n"
    assert subprocess.run([*asked, "fsck"], capture_output=True, check=False).returncode == 0
    assert (place.checkout / ".git" / "index").is_file()


def test_files_have_been_there_for_months_and_the_home_is_lived_in(tmp_path: Path) -> None:
    place = _furnished(tmp_path)
    assert time.time() - (place.checkout / "kit.py").stat().st_mtime > 30 * _DAY_S
    assert (place.checkout / "link").is_symlink()
    assert len(list((place.scratch / "home").iterdir())) > 8


def test_tests_are_found_at_the_top_and_beside_the_code(tmp_path: Path) -> None:
    for name in ("tests/conftest.py", "tests/test_a.py", "pkg/a.py", "pkg/test_a.py", "pkg/tests/b_test.py", "pkg/tests/data.py",
                 "conftest.py", "test_odd.py/test_inner.py", "pkg/test_data.txt"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert paths_of_tests(tmp_path) == ["tests", "conftest.py", "pkg/test_a.py", "pkg/tests/b_test.py", "test_odd.py"]
    remove_tests(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"pkg/a.py", "pkg/tests/data.py", "pkg/test_data.txt"}
