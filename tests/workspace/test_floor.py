"""What no command may read or change in its workspace, tried for real in bubblewrap."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.errors import SandboxError
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.protected_paths import ProtectedPaths
from agentforge.workspace.sandbox import mounts
from agentforge.workspace.sandbox.box import Box, Sandbox, choose, missing_because

pytestmark = pytest.mark.skipif(bool(missing_because(os.environ)), reason="bubblewrap does not work here")


@pytest.fixture
def boxed() -> Sandbox:
    return choose("bubblewrap")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A worktree with an awkward name, mounted at a path with another."""
    workspace = tmp_path / "work trées" / "task 1"
    workspace.mkdir(parents=True)
    return Box(workspace=workspace, mount_at=tmp_path / "my répo")


def shell(sandbox: Sandbox, command: str, box: Box, **fields: object) -> Completed:
    import dataclasses

    given = dataclasses.replace(box, **fields)  # type: ignore[arg-type]
    return sandbox.run(["bash", "-c", command], box=given, timeout_s=20)


def put(box: Box, path: str, text: str = "secret-value\n") -> Path:
    file = box.workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    "path",
    [".env", "deep/down here/.env.production", "a/.netrc", "b/.npmrc", "id_ed25519", "ops/server.key", "x/.pgpass",
     "conf/secrets.yaml", "credentials.json", ".aws/credentials", "home/.ssh/config"],
)  # fmt: skip
@pytest.mark.parametrize("writable", [True, False])
def test_a_secret_in_the_workspace_is_out_of_sight(boxed: Sandbox, box: Box, path: str, writable: bool) -> None:
    file = put(box, path)
    done = shell(boxed, f"cat '{path}'; grep -r secret-value . ; rm -rf '{path}'", box, writable=writable)
    assert "secret-value" not in done.text
    assert file.read_text() == "secret-value\n"


@pytest.mark.parametrize(
    "path",
    [".env.example", "pkg/secrets.py", "tests/fixtures/server.pem", "id_rsa.pub", "src/env.py", "credentials/a.py"],
)
def test_examples_sources_and_keys_of_tests_stay_readable(boxed: Sandbox, box: Box, path: str) -> None:
    put(box, path)
    assert shell(boxed, f"cat '{path}'", box).text == "secret-value\n"


def test_a_link_to_a_secret_shows_nothing(boxed: Sandbox, box: Box) -> None:
    put(box, "real/production.txt")
    (box.workspace / ".env").symlink_to("real/production.txt")
    assert "secret-value" not in shell(boxed, "cat .env real/production.txt", box).text


def test_the_worktree_cannot_be_read_under_its_own_path_past_the_masks(boxed: Sandbox, box: Box) -> None:
    import tempfile

    if not os.access("/var", os.W_OK):
        pytest.skip("no place outside the hidden folders is writable")
    with tempfile.TemporaryDirectory(prefix="floor-", dir="/var") as folder:
        other = Box(workspace=Path(folder), mount_at=box.mount_at)
        put(other, ".env")
        assert "secret-value" not in shell(boxed, f"cat '{folder}/.env'; grep -rs secret-value '{folder}'", other).text


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", "vendor/lib/.git/config", "sub/.git", ".agentforge/config.toml", "a/.agentforge/hooks.toml",
     ".envrc", "x/.mcp.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", "home/.bashrc", ".vscode/tasks.json",
     ".pre-commit-config.yaml"],
)  # fmt: skip
def test_a_protected_file_stays_as_it_is(boxed: Sandbox, box: Box, path: str) -> None:
    file = put(box, path, "before\n")
    first = path.split("/")[0]
    shell(
        boxed,
        f"echo evil > '{path}'; echo evil > x && mv x '{path}'; rm -f '{path}'; rm -rf '{first}'; mv '{first}' moved; "
        f"ln -f '{path}' hard; echo evil >> hard; chmod 777 '{path}'; true",
        box,
    )
    assert file.read_text() == "before\n"
    assert not (box.workspace / "moved").exists() or (box.workspace / first).exists()


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "mkdir -p a/b && git init -q a/b",
        "echo 'gitdir: /evil' > a/.git",
        "ln -s /etc .git",
        "mkfifo .envrc",
        "echo evil > .mcp.json",
        "mkdir -p .AgentForge && echo evil > .AgentForge/config.toml",
        "mkdir -p x/.github/workflows && echo evil > x/.github/workflows/ci.yml",
        "mkdir -p y && cd y && git init -q z && mv z/.git ../.git",
    ],
)
def test_a_protected_place_that_a_command_makes_is_gone_after_it(boxed: Sandbox, box: Box, command: str) -> None:
    (box.workspace / "a").mkdir()
    done = shell(boxed, command, box)
    assert done.undone
    assert not ProtectedPaths(box.workspace).look().protected


def test_a_bare_repository_that_a_command_makes_loses_its_configuration(boxed: Sandbox, box: Box) -> None:
    done = shell(boxed, "git init -q --bare innocent", box)
    assert "innocent/config" in done.undone
    assert not (box.workspace / "innocent" / "hooks").exists()


def test_a_folder_that_is_moved_away_gives_its_protected_files_back(boxed: Sandbox, box: Box) -> None:
    put(box, "sub/.git/config", "before\n")
    shell(boxed, "mv sub other; mkdir -p sub/.git; echo evil > sub/.git/config", box)
    assert (box.workspace / "sub/.git/config").read_text() == "before\n"
    assert not (box.workspace / "other/.git").exists()


def test_a_protected_link_that_is_replaced_comes_back(boxed: Sandbox, box: Box) -> None:
    put(box, "settings/envrc", "before\n")
    (box.workspace / ".envrc").symlink_to("settings/envrc")
    shell(boxed, "rm .envrc; echo evil > .envrc", box)
    assert str((box.workspace / ".envrc").readlink()) == "settings/envrc"


def test_a_file_that_the_specification_names_may_be_written_but_git_may_not(boxed: Sandbox, box: Box) -> None:
    put(box, ".github/workflows/ci.yml", "before\n")
    put(box, ".git/config", "before\n")
    named = (".github/workflows/ci.yml", ".git/config", ".envrc")
    done = shell(
        boxed, "echo new > .github/workflows/ci.yml; echo new > .envrc; echo x > .git/config; true", box, named=named
    )
    assert done.undone == ()
    assert (box.workspace / ".github/workflows/ci.yml").read_text() == "new\n"
    assert (box.workspace / ".envrc").read_text() == "new\n"
    assert (box.workspace / ".git/config").read_text() == "before\n"


def test_an_everyday_command_is_not_touched(boxed: Sandbox, box: Box) -> None:
    put(box, "src/a.py", "x = 1\n")
    done = shell(boxed, "sed -i s/1/2/ src/a.py; mkdir build; echo ok > build/out.txt; cat src/a.py", box)
    assert (done.text, done.undone, done.exit_code) == ("x = 2\n", (), 0)


@pytest.fixture
def service(tmp_path: Path, box: Box) -> Iterator[str]:
    """A service that listens on a socket in the workspace."""
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(box.workspace)
        listener.bind("dev.sock")
        os.chdir(here)
        listener.listen()
        yield "dev.sock"


def test_a_socket_in_the_workspace_leads_nowhere(boxed: Sandbox, box: Box, service: str) -> None:
    code = f"import socket; socket.socket(socket.AF_UNIX).connect('{service}'); print('connec' + 'ted')"
    assert "connected" not in shell(boxed, f'python3 -c "{code}"', box).text


def test_a_service_that_listens_outside_the_hidden_folders_is_out_of_reach(boxed: Sandbox, box: Box) -> None:
    if not os.access("/var", os.W_OK):
        pytest.skip("no place outside the hidden folders is writable")
    path = f"/var/floor-{os.getpid()}.sock"
    code = f"import socket; socket.socket(socket.AF_UNIX).connect('{path}'); print('connec' + 'ted')"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        try:
            assert "connected" not in shell(boxed, f'python3 -c "{code}"', box).text
        finally:
            Path(path).unlink()


def test_a_socket_that_goes_before_it_is_hidden_breaks_no_command(
    boxed: Sandbox, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [["--ro-bind", "/dev/null", f"/var/floor-{os.getpid()}-gone.sock"], *([[]] * 9)]
    monkeypatch.setattr(mounts, "_masked_sockets", lambda: looks.pop(0))
    assert "here" in shell(boxed, "echo here", box).text
    assert len(looks) < 9


def test_processes_and_memory_of_all_commands_are_bounded_where_groups_can_be_made(boxed: Sandbox, box: Box) -> None:
    from agentforge.workspace.sandbox.resource_limits import own_group

    group = own_group()
    if group is None:
        pytest.skip("control groups are not writable here")
    for folder in group.folders:
        assert f"agentforge-{os.getpid()}" in str(folder)
    assert f"agentforge-{os.getpid()}" in shell(boxed, "cat /proc/self/cgroup", box).text
    assert f"agentforge-{os.getpid()}" not in Path("/proc/self/cgroup").read_text()


def test_the_ward_reads_only_folders_that_were_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"f{number}").mkdir()
    ward = ProtectedPaths(tmp_path)
    ward.look()
    read: list[str] = []
    whole = os.scandir

    def listed(path: Path) -> object:
        read.append(str(path))
        return whole(path)

    monkeypatch.setattr(os, "scandir", listed)
    (tmp_path / "f3" / ".git").write_text("gitdir: x\n")
    os.utime(tmp_path / "f3", ns=(0, 0))
    assert list(ward.look().protected) == ["f3/.git"]
    assert read == [str(tmp_path / "f3")]


def test_git_outside_runs_nothing_that_a_command_has_planted(boxed: Sandbox, box: Box, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(box.workspace)], check=True)
    proof = tmp_path / "proof"
    shell(boxed, f"git config core.fsmonitor 'touch {proof}'; printf '#!/bin/sh\\ntouch {proof}' > .git/hooks/x", box)
    subprocess.run(["git", "status"], cwd=box.workspace, check=True, capture_output=True)
    assert not proof.exists()


def test_a_start_through_a_link_and_a_read_only_home_are_no_obstacle(box: Box, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret-value\n")
    home.chmod(0o500)
    put(box, "real/a.txt", "here\n")
    (box.workspace / "link").symlink_to("real")
    sandbox = choose("bubblewrap", {"PATH": os.environ["PATH"], "HOME": str(home)})
    done = shell(sandbox, "cat a.txt; cat ~/.ssh/id_rsa; touch ~/x && echo private", box, cwd="link")
    home.chmod(0o700)
    assert "secret-value" not in done.text
    assert done.text.startswith("here\n")
    assert done.text.endswith("private\n")


def test_a_start_that_leads_out_of_the_workspace_finds_nothing(boxed: Sandbox, box: Box, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret-value\n")
    (box.workspace / "link").symlink_to(outside)
    with pytest.raises(SandboxError, match="no sandbox for"):
        shell(boxed, "cat a.txt", box, cwd="link")
