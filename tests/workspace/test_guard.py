"""A command may change what its scope opens; whatever else it does is as if it had not been done."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.safety.policy.scope import WriteScope
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.tree_snapshot import FEWEST_FILES
from agentforge.workspace.processes.process import Completed, run
from agentforge.workspace.protection.reconciliation import Settled
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import Box, detect
from agentforge.workspace.sandbox.bubblewrap import Bubblewrap

SCOPE = WriteScope(allow=("src/open.py", "src/new.py", "src/data.bin")).refusal
FILES = {
    "src/open.py": "one\ntwo\n",
    "src/closed.py": "closed\n",
    "tests/test_open.py": "def test_it():\n    assert True\n",
    "tests/deep/data.txt": "data\n",
    "run.sh": "true\n",
    ".gitignore": "build/\n*.log\n",
    ".gitattributes": "*.txt text\n",
}

Do = Callable[[str], Settled | None]


class Place:
    """A worktree with a guard, and commands that run in it.

    Args:
        fewest: files from which on the guard asks the kernel what was touched.
    """

    def __init__(self, folder: Path, fewest: int) -> None:
        repo = folder / "repo"
        for name, text in FILES.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        (repo / "run.sh").chmod(0o755)
        (repo / "link").symlink_to("src/closed.py")
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        for call in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
            subprocess.run(["git", *identity, *call], cwd=repo, check=True)
        self.git = Git(repo)
        self.root = folder / "work"
        self.git.add_worktree(self.root, "HEAD")
        self.index = folder / "index"
        self.guard = Guard(self.git, self.root, index=self.index, fewest=fewest)
        self.before = self.guard.tree()
        assert self.guard.tree() == self.before

    def do(self, command: str) -> Settled | None:
        return self.watched(lambda: self.run(command))[1]

    def watched(self, command: Callable[[], Completed]) -> tuple[Completed, Settled | None]:
        return self.guard.watch(command, may_write=SCOPE)

    def run(self, command: str, timeout_s: float = 20) -> Completed:
        return run(["bash", "-c", command], cwd=self.root, env={"PATH": os.environ["PATH"]}, timeout_s=timeout_s)

    @property
    def now(self) -> str:
        """The tree as somebody sees it who remembers nothing."""
        return self.git.snapshot(self.root, index=self.index.with_name("other"))

    @property
    def changed(self) -> dict[str, str]:
        return {change.path: change.status for change in self.git.changed(self.before, self.now)}

    @property
    def everything(self) -> list[str]:
        """All paths in the worktree, those that git ignores as well."""
        found = (path.relative_to(self.root).as_posix() for path in self.root.rglob("*"))
        return sorted(path for path in found if path != ".git")


@pytest.fixture(params=[FEWEST_FILES, 0], ids=["small", "large"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    return Place(tmp_path.resolve(), request.param)


def shown(settled: Settled | None) -> tuple[dict[str, str], dict[str, str]]:
    assert settled is not None
    return {one.path: one.what for one in settled.kept}, {one.path: one.what for one in settled.refused}


def test_a_command_that_touches_nothing_settles_nothing_and_asks_git_nothing(place: Place) -> None:
    place.index.unlink()
    assert place.do("cat src/*.py; ls -R") is None
    assert place.guard.tree() == place.before
    assert not place.index.exists()


def test_what_lies_in_the_scope_stays_and_is_counted(place: Place) -> None:
    settled = place.do("sed -i s/one/1/ src/open.py; printf 'a\\nb\\n' > src/new.py; printf '\\0\\0' > src/data.bin")
    assert shown(settled) == ({"src/data.bin": "new", "src/new.py": "new", "src/open.py": "changed"}, {})
    assert settled is not None
    assert [one.lines for one in settled.kept] == [None, (2, 0), (1, 1)]
    assert place.changed == {"src/data.bin": "added", "src/new.py": "added", "src/open.py": "modified"}
    assert place.guard.tree() == place.now


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("sed -i s/True/False/ tests/test_open.py", {"tests/test_open.py": "changed"}),
        ("echo x >> tests/test_open.py", {"tests/test_open.py": "changed"}),
        ("rm tests/test_open.py", {"tests/test_open.py": "deleted"}),
        ("rm -r tests", {"tests/deep/data.txt": "deleted", "tests/test_open.py": "deleted"}),
        ("mv src/closed.py src/moved.py", {"src/closed.py": "deleted", "src/moved.py": "new"}),
        ("chmod +x src/closed.py", {"src/closed.py": "changed"}),
        ("chmod -x run.sh", {"run.sh": "changed"}),
        ("chmod 000 src/closed.py", {"src/closed.py": "changed"}),
        ("ln -sf /etc/passwd src/closed.py", {"src/closed.py": "changed"}),
        ("ln -sfn tests/test_open.py link", {"link": "changed"}),
        ("rm link; echo x > link", {"link": "changed"}),
        ("echo x > link", {"src/closed.py": "changed"}),
        ("ln -s /etc/passwd src/new.py", {"src/new.py": "new"}),
        ("mkfifo src/new.py", {"src/new.py": "new"}),
        ("rm src/closed.py; mkdir src/closed.py; echo x > src/closed.py/x", {"src/closed.py": "changed"}),
        ("rm -r tests/deep; echo x > tests/deep", {"tests/deep": "changed"}),
        ("mv tests elsewhere; ln -s src tests", {"tests": "changed"}),
        ("mkdir -p a/b/c; echo x > a/b/c/d", {"a/b/c/d": "new"}),
        ("git init -q sub; echo x > sub/file", {"sub/file": "new"}),
        ("mkdir -p .agentforge/tasks; echo x > .agentforge/config.toml", {".agentforge/config.toml": "new"}),
        ("printf 'x' > $'bad\\xff.py'", {"bad\udcff.py": "new"}),
        ("head -c 50000000 /dev/zero > big.bin; head -c 9000000 /dev/zero > src/closed.py", {"big.bin": "new"}),
        ("echo '*' > .gitignore; echo x > hidden", {".gitignore": "changed", "hidden": "new"}),
        ("echo '*' > tests/.gitignore; echo x > tests/hidden", {"tests/.gitignore": "new", "tests/hidden": "new"}),
        (
            "echo '* text=auto eol=crlf' > .gitattributes; sed -i 's/$/\\r/' tests/test_open.py",
            {".gitattributes": "changed", "tests/test_open.py": "changed"},
        ),
        ("echo '*.py text=auto' > tests/.gitattributes; sed -i 's/$/\\r/' tests/*.py", {"tests/test_open.py": "changed"}),
        ("touch -r src/closed.py stamp; echo opened > src/closed.py; touch -r stamp src/closed.py; rm stamp", {"src/closed.py": "changed"}),
    ],
)  # fmt: skip
def test_what_lies_outside_the_scope_is_as_it_was_and_is_told(
    place: Place, command: str, refused: dict[str, str]
) -> None:
    everything, modes = place.everything, {path: place.root.joinpath(path).lstat().st_mode for path in place.everything}
    settled = place.do(command)
    kept, told = shown(settled)
    assert kept == {}
    assert refused.items() <= told.items()
    assert place.everything == everything
    assert {path: place.root.joinpath(path).lstat().st_mode for path in everything} == modes
    assert place.now == place.before == place.guard.tree()
    assert place.do("true") is None


def test_what_is_kept_and_what_is_refused_are_told_apart_in_one_command(place: Place) -> None:
    settled = place.do("mv src/open.py tests/open.py; echo x > src/new.py; echo x >> src/closed.py")
    assert shown(settled) == (
        {"src/new.py": "new", "src/open.py": "deleted"},
        {"src/closed.py": "changed", "tests/open.py": "new"},
    )
    assert settled is not None
    assert "lies outside what this stage may write: src/open.py" in settled.refused[0].refusal
    assert place.changed == {"src/new.py": "added", "src/open.py": "deleted"}


def test_caches_and_files_that_git_ignores_do_not_outlive_the_command(place: Place) -> None:
    everything = place.everything
    settled = place.do(
        "mkdir -p build src/__pycache__ .pytest_cache; touch build/a build/b x.log src/__pycache__/a.pyc"
    )
    assert settled == Settled(swept=3)
    assert place.everything == everything


def test_a_file_that_was_only_touched_is_no_change(place: Place) -> None:
    assert place.do("touch src/closed.py src/open.py; mkdir empty; chmod 700 tests") == Settled()
    assert place.do("true") is None
    assert place.now == place.before


def test_a_file_that_a_command_shut_can_still_be_recorded(place: Place) -> None:
    settled = place.do("echo 3 >> src/open.py; chmod 000 src/open.py; mkdir shut; echo x > shut/file; chmod 000 shut")
    assert shown(settled) == ({"src/open.py": "changed"}, {"shut/file": "new"})
    assert (place.root / "src/open.py").stat().st_mode & 0o600 == 0o600


def test_a_closed_file_that_got_a_second_name_cannot_be_written_through_it(place: Place) -> None:
    place.do("ln tests/test_open.py src/new.py")
    assert shown(place.do("echo x >> src/new.py"))[1] == {"tests/test_open.py": "changed"}
    assert place.changed == {"src/new.py": "added"}


def test_changes_add_up_over_commands(place: Place) -> None:
    place.do("echo 3 >> src/open.py")
    place.guard.tree()
    assert shown(place.do("echo 4 >> src/open.py; rm src/closed.py"))[0] == {"src/open.py": "changed"}
    assert (place.root / "src/open.py").read_text() == "one\ntwo\n3\n4\n"
    assert place.changed == {"src/open.py": "modified"}


def test_what_somebody_else_wrote_between_two_commands_is_not_the_commands(place: Place) -> None:
    place.do("true")
    (place.root / "src/closed.py").write_text("by the user\n")
    place.guard.tree()
    assert place.do("true") is None
    assert place.changed == {"src/closed.py": "modified"}


def test_a_command_that_is_killed_at_its_limit_is_settled_as_well(place: Place) -> None:
    done, settled = place.watched(lambda: place.run("echo x > src/closed.py; echo 3 >> src/open.py; sleep 9", 0.3))
    assert done.timed_out
    assert shown(settled) == ({"src/open.py": "changed"}, {"src/closed.py": "changed"})


def test_a_workspace_in_doubt_is_put_back_whole(place: Place) -> None:
    command = "echo 3 >> src/open.py; rm -r tests; mkdir -p build/x; touch build/x/y; git init -q sub; chmod 000 build"
    place.run(command)
    Guard(place.git, place.root, index=place.index).put_back(place.before)
    assert place.now == place.before
    assert not (place.root / "build").exists() and not (place.root / "sub").exists()


@pytest.mark.skipif(detect(os.environ).kind == "none", reason="bubblewrap does not work here")
def test_nothing_of_a_command_writes_after_it_has_ended(place: Place) -> None:
    sandbox = detect(os.environ)
    assert isinstance(sandbox, Bubblewrap)
    box = Box(workspace=place.root, mount_at=place.git.top)
    busy = "(while :; do echo x >> src/closed.py; done) >/dev/null 2>&1 & sleep 0.05"
    for wait in ("", "; sleep 9"):
        _, settled = place.watched(
            lambda wait=wait: sandbox.run(["bash", "-c", busy + wait], box=box, timeout_s=0.2 if wait else 20)
        )
        assert shown(settled)[1] == {"src/closed.py": "changed"}
        assert place.do("true") is None
        assert place.now == place.before
    remove_tree(place.root)
