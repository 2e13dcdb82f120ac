"""The floor without bubblewrap, tried for real where the kernel has Landlock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.errors import SandboxError
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box, Sandbox, choose, landlock_missing_because

pytestmark = pytest.mark.skipif(bool(landlock_missing_because()), reason=landlock_missing_because())


@pytest.fixture
def locked() -> Sandbox:
    return choose("landlock")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    workspace = tmp_path / "work trées" / "task 1"
    workspace.mkdir(parents=True)
    (workspace / "hello.txt").write_text("hello\n")
    (tmp_path / "outside.txt").write_text("outside-secret\n")
    return Box(workspace=workspace, mount_at=tmp_path / "repo")


def shell(sandbox: Sandbox, command: str, box: Box, **fields: object) -> Completed:
    import dataclasses

    return sandbox.run(["bash", "-c", command], box=dataclasses.replace(box, **fields), timeout_s=20)  # type: ignore[arg-type]


def test_it_stands_in_where_bubblewrap_is_missing_or_fails(tmp_path: Path) -> None:
    assert choose("auto", {"PATH": str(tmp_path)}).kind == "landlock"
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    assert choose("auto", {"PATH": f"{tmp_path}:{os.environ['PATH']}"}).kind == "landlock"


def test_everyday_work_goes_on(locked: Sandbox, box: Box) -> None:
    command = "cat hello.txt; mkdir -p a/b; echo new > a/b/c; mv a/b/c d; cat <(echo piped); python3 -c 'print(6*7)'; git --version >/dev/null && echo git"
    assert shell(locked, command, box).text == "hello\npiped\n42\ngit\n"
    assert (box.workspace / "d").read_text() == "new\n"
    assert shell(locked, "exit 9", box).exit_code == 9
    assert shell(locked, "kill -9 $$", box).exit_code == 137
    assert locked.run(["no-such-program"], box=box, timeout_s=20).exit_code == 127


def test_nothing_outside_is_read_or_written(locked: Sandbox, box: Box, tmp_path: Path) -> None:
    done = shell(
        locked,
        f"cat '{tmp_path}/outside.txt' /etc/shadow /proc/{os.getpid()}/environ ~/.bashrc; ls /root /home /tmp; "
        f"echo x > '{tmp_path}/new'; echo x > /usr/x; ln -s '{tmp_path}/outside.txt' link; cat link; echo > link",
        box,
    )
    assert "outside-secret" not in done.text
    assert "root:" not in done.text
    assert (tmp_path / "outside.txt").read_text() == "outside-secret\n"
    assert not (tmp_path / "new").exists()


def test_no_capability_no_network_no_socket_of_a_service(locked: Sandbox, box: Box) -> None:
    path = str(box.workspace.parent.parent / "s")
    with socket.create_server(("127.0.0.1", 0)) as outside, socket.socket(socket.AF_UNIX) as service:
        service.bind(path)
        service.listen()
        places = f"((s.AF_INET, ('127.0.0.1', {outside.getsockname()[1]})), (s.AF_UNIX, {path!r}))"
        code = (
            f"import socket as s\nfor family, place in {places}:\n"
            "    try:\n        s.socket(family).connect(place); print('reached', place)\n    except OSError: pass\n"
            "l = s.create_server(('127.0.0.1', 0)); s.create_connection(l.getsockname()); s.socketpair(); print('inner')\n"
        )
        done = locked.run(["python3", "-c", code], box=box, timeout_s=20)
    assert done.text == "inner\n"


def test_the_harness_cannot_be_signalled_and_nothing_is_left_running(locked: Sandbox, box: Box) -> None:
    mark = f"5{os.getpid()}.5"
    done = shell(locked, f"kill -0 {os.getpid()} && echo signalled; setsid sleep {mark} & echo on", box)
    assert done.text.splitlines()[-1] == "on"
    assert "signalled" not in done.text
    assert not any(mark.encode() in _line(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def test_everything_ends_at_the_time_limit(locked: Sandbox, box: Box) -> None:
    mark = f"6{os.getpid()}.5"
    done = locked.run(["bash", "-c", f"setsid sleep {mark} & sleep 60"], box=box, timeout_s=0.5)
    assert done.timed_out
    assert not any(mark.encode() in _line(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def _line(path: Path) -> bytes:
    """The command line of a process; one that has ended by now has none."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_secrets_are_set_aside_and_protected_files_put_back(locked: Sandbox, box: Box) -> None:
    (box.workspace / "sub").mkdir()
    (box.workspace / "sub/.env").write_text("K=secret-value\n")
    (box.workspace / ".git").write_text("gitdir: /before\n")
    (box.workspace / "test_a.py").write_text("frozen\n")
    done = shell(
        locked,
        "cat sub/.env; grep -r secret-value .; echo evil > sub/.env; echo evil > .git; mkdir -p a/.git; echo x > test_a.py",
        box,
        read_only=(box.mount_at / "test_a.py",),
    )
    assert "secret-value" not in done.text
    assert (box.workspace / "sub/.env").read_text() == "K=secret-value\n"
    assert (box.workspace / ".git").read_text() == "gitdir: /before\n"
    assert (box.workspace / "test_a.py").read_text() == "frozen\n"
    assert set(done.undone) == {".git", "a/.git", "test_a.py"}
    assert sorted(path.name for path in box.workspace.parent.iterdir()) == ["task 1"]


def test_a_read_only_workspace_refuses_writes(locked: Sandbox, box: Box) -> None:
    assert shell(locked, "echo x > new; rm hello.txt", box, writable=False).exit_code != 0
    assert [path.name for path in box.workspace.iterdir()] == ["hello.txt"]


def test_what_it_cannot_give_is_refused(box: Box) -> None:
    with pytest.raises(SandboxError, match="cannot open single hosts"):
        shell(choose("landlock", network=("example.org",)), "true", box)
    (box.workspace / ".git").mkdir()
    with pytest.raises(SandboxError, match="cannot protect"):
        shell(choose("landlock"), "true", box)


_NO_NAMESPACES = ("bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--cap-drop", "ALL", "--")
_INSIDE = """
import os, sys
from pathlib import Path
from agentforge.workspace.sandbox.box import Box, choose, missing_because
place = Path(sys.argv[1])
sandbox = choose("auto", dict(os.environ))
code = "import socket; socket.socketpair(); print('pair', flush=True); socket.socket(socket.AF_INET)"
done = sandbox.run(["python3", "-c", code], box=Box(workspace=place, mount_at=place), timeout_s=20)
print(bool(missing_because(os.environ)), sandbox.kind, done.text.splitlines()[0], "PermissionError" in done.text)
"""


def test_bubblewrap_without_user_namespaces_leaves_landlock_and_no_socket_at_all(tmp_path: Path) -> None:
    if subprocess.run([*_NO_NAMESPACES, "true"], capture_output=True, check=False).returncode:
        pytest.skip("bubblewrap cannot forbid namespaces here")
    command = [*_NO_NAMESPACES, sys.executable, "-c", _INSIDE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "True landlock pair True\n", done.stderr
