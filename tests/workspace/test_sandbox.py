"""What a command in the sandbox can reach, tried for real."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agentforge.errors import SandboxError
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import (
    Box,
    Sandbox,
    choose,
    detect,
    forbids_nesting,
    landlock_missing_because,
    missing_because,
)
from tests.support.toolchains import missing

NEEDS_BWRAP = pytest.mark.skipif(
    bool(missing_because(os.environ)), reason=f"bubblewrap does not work here: {missing_because(os.environ)}"
)


@pytest.fixture
def boxed() -> Sandbox:
    return choose("bubblewrap")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """The worktree of a task in a data directory, mounted at a repository with an awkward path."""
    workspace = tmp_path / "data" / "worktrees" / "task-1"
    workspace.mkdir(parents=True)
    (workspace / "hello.txt").write_text("from the worktree\n")
    (tmp_path / "data" / "worktrees" / "task-2").mkdir()
    mount_at = tmp_path / "us er" / "my répo"
    (mount_at / "private").mkdir(parents=True)
    (mount_at / "private" / "of-the-checkout.txt").write_text("not for the task\n")
    return Box(workspace=workspace, mount_at=mount_at)


def shell(sandbox: Sandbox, command: str, box: Box, **options: object) -> Completed:
    return sandbox.run(["bash", "-c", command], box=box, timeout_s=20, **options)  # type: ignore[arg-type]


def changed(box: Box, **fields: object) -> Box:
    import dataclasses

    return dataclasses.replace(box, **fields)  # type: ignore[arg-type]


@NEEDS_BWRAP
class TestBubblewrap:
    def test_the_workspace_stands_at_the_path_of_the_repository(self, boxed: Sandbox, box: Box) -> None:
        done = shell(boxed, "pwd; cat hello.txt; echo new > made.txt; ls", box)
        assert done.text == f"{box.mount_at}\nfrom the worktree\nhello.txt\nmade.txt\n"
        assert (box.workspace / "made.txt").read_text() == "new\n"
        assert not (box.mount_at / "made.txt").exists()
        assert boxed.kind == "bubblewrap"

    def test_the_checkout_the_data_directory_and_other_tasks_are_out_of_sight(self, boxed: Sandbox, box: Box) -> None:
        data = box.workspace.parent.parent
        done = shell(boxed, f"ls private '{data}' '{box.workspace}' ; ls -A /tmp", box)
        assert "of-the-checkout" not in done.text
        assert "task-2" not in done.text
        assert done.text.count("No such file or directory") == 3

    def test_a_data_directory_elsewhere_is_hidden_when_named(self, boxed: Sandbox, box: Box) -> None:
        assert shell(boxed, "ls /usr/share | wc -l", box).text.strip() != "0"
        hidden = changed(box, hidden=(Path("/usr/share"),))
        assert shell(boxed, "ls /usr/share | wc -l", hidden).text.strip() == "0"

    def test_the_machine_is_read_only(self, boxed: Sandbox, box: Box) -> None:
        done = shell(
            boxed, "touch /usr/x /etc/x /work-x; mount -o remount,rw / ; mount -t tmpfs x /mnt; touch /usr/y", box
        )
        assert done.exit_code != 0
        assert not any(Path(path).exists() for path in ("/usr/x", "/etc/x", "/usr/y"))

    def test_no_capability_is_left(self, boxed: Sandbox, box: Box) -> None:
        done = shell(boxed, "grep -E 'Cap(Eff|Prm|Inh)' /proc/self/status", box)
        assert {line.split()[1] for line in done.text.splitlines()} == {"0" * 16}

    def test_no_setting_of_the_kernel_can_be_opened_for_writing(self, boxed: Sandbox, box: Box) -> None:
        opened = "find /proc/sys /proc/irq /proc/fs /proc/bus /proc/mtrr -type f -writable 2>/dev/null"
        assert shell(boxed, opened, box).output == b""
        assert "/proc/sys/kernel" in shell(boxed, "find /proc/sys -type f -readable 2>/dev/null", box).text

    @pytest.mark.parametrize("call", ["libc.unshare(NEW)", "libc.syscall(CLONE, NEW | 17, 0, 0, 0, 0)"])
    def test_a_user_namespace_inside_is_refused(self, boxed: Sandbox, box: Box, call: str) -> None:
        inside = (
            "import ctypes, os; libc = ctypes.CDLL(None); NEW = 0x10000000;"
            f"CLONE = {{'x86_64': 56, 'aarch64': 220}}[os.uname().machine]; print({call})"
        )
        assert boxed.run(["python3", "-c", inside], box=box, timeout_s=20).text == "-1\n"

    def test_a_bubblewrap_that_cannot_forbid_namespaces_is_used_without(self, box: Box, tmp_path: Path) -> None:
        older = tmp_path / "older" / "bwrap"
        older.parent.mkdir()
        older.write_text(
            '#!/bin/sh\ncase "$*" in *--disable-userns*) echo "bwrap: Unknown option --disable-userns" >&2; exit 1;; esac\n'
            f'exec {shutil.which("bwrap")} "$@"\n'
        )
        older.chmod(0o755)
        environ = {**os.environ, "PATH": f"{older.parent}:{os.environ['PATH']}"}
        sandbox = choose("bubblewrap", environ)
        assert not forbids_nesting(environ)
        assert shell(sandbox, "cat hello.txt", box).text == "from the worktree\n"
        assert shell(sandbox, "unshare -U true", box).exit_code != 0  # the filter of system calls holds it

    def test_home_is_empty_but_for_toolchains(self, box: Box, tmp_path: Path) -> None:
        home = tmp_path / "home"
        for name in (".ssh/id_ed25519", ".cargo/credentials.toml", ".cargo/bin/tool", ".aws/credentials", ".netrc"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("#!/bin/sh\necho tool runs\n")
            (home / name).chmod(0o755)
        environ = {"PATH": f"{home}/.cargo/bin:{os.environ['PATH']}", "HOME": str(home)}
        done = shell(choose("bubblewrap", environ), "cd; find . -type f; tool; touch .cache && echo writable", box)
        assert done.text == "./.cargo/bin/tool\ntool runs\nwritable\n"
        assert not (home / ".cache").exists()

    def test_an_interpreter_below_home_is_shown_through_its_links(self, box: Box, tmp_path: Path) -> None:
        home = tmp_path / "home"
        real = home / "opt" / "python-9" / "bin" / "python9"
        real.parent.mkdir(parents=True)
        real.write_text("#!/bin/sh\necho I am python9\n")
        real.chmod(0o755)
        venv = home / "envs" / "one" / "bin"
        venv.mkdir(parents=True)
        (venv / "python").symlink_to(real)
        sandbox = choose("bubblewrap", {"PATH": os.environ["PATH"], "HOME": str(home)})
        shown = changed(box, interpreters=(venv / "python",))
        assert sandbox.run([str(venv / "python")], box=shown, timeout_s=10).text == "I am python9\n"
        assert sandbox.run([str(venv / "python")], box=box, timeout_s=10).exit_code == 127

    def test_sockets_of_services_and_secrets_of_the_machine_are_hidden(self, boxed: Sandbox, box: Box) -> None:
        done = shell(boxed, "ls -A /run; cat /etc/shadow 2>&1 | grep -c root", box)
        assert done.text.strip() == "0"

    def test_keys_never_enter_the_environment(self, box: Box) -> None:
        environ = {**os.environ, "OPENAI_API_KEY": "sk-1", "SSH_AUTH_SOCK": "/x", "GITHUB_TOKEN": "t", "LC_TIME": "C"}
        done = shell(
            choose("bubblewrap", environ), "env; tr '\\0' '\\n' < /proc/1/environ", changed(box, env={"MINE": "1"})
        )
        names = {line.partition("=")[0] for line in done.text.splitlines()}
        assert names.isdisjoint({"OPENAI_API_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN"})
        assert {"PATH", "HOME", "LC_TIME", "MINE"} <= names

    def test_the_network_is_closed_but_a_private_loopback_works(self, boxed: Sandbox, box: Box) -> None:
        listed = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"
        assert shell(boxed, listed, box).text == "lo\n"
        code = (
            "import socket as s; l=s.create_server(('127.0.0.1',0)); s.create_connection(l.getsockname()); print('ok')"
        )
        assert boxed.run(["python3", "-c", code], box=box, timeout_s=20).text == "ok\n"

    def test_the_network_opens_only_when_asked(self, boxed: Sandbox, box: Box) -> None:
        def namespace(given: Box) -> str:
            return shell(boxed, "readlink /proc/self/ns/net", given).text.strip()

        here = str(Path("/proc/self/ns/net").readlink())
        assert namespace(box) != here
        assert namespace(changed(box, network=True)) == here

    def test_a_read_only_workspace_refuses_writes(self, boxed: Sandbox, box: Box) -> None:
        assert shell(boxed, "touch new", changed(box, writable=False)).exit_code != 0
        assert [path.name for path in (box.workspace).iterdir()] == ["hello.txt"]

    def test_single_paths_are_protected_or_opened(self, boxed: Sandbox, box: Box, tmp_path: Path) -> None:
        (box.workspace / "tests").mkdir()
        (box.workspace / "tests" / "t.py").write_text("frozen\n")
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        guarded = changed(box, read_only=(box.mount_at / "tests",), writable_paths=(scratch,))
        done = shell(
            boxed,
            f"echo x > tests/t.py; mv tests other; rm -rf tests; echo ok > '{scratch}/out'; echo y > new",
            guarded,
        )
        assert done.exit_code == 0
        assert (box.workspace / "tests" / "t.py").read_text() == "frozen\n"
        assert (scratch / "out").read_text() == "ok\n"
        assert sorted(path.name for path in (box.workspace).iterdir()) == ["hello.txt", "new", "tests"]

    def test_an_overlay_shows_the_users_environment_inside_the_workspace(self, boxed: Sandbox, box: Box) -> None:
        venv = box.mount_at / ".venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "tool").write_text("#!/bin/sh\necho from the venv\n")
        (venv / "bin" / "tool").chmod(0o755)
        for writable in (True, False):
            laid = changed(box, overlays=((venv, venv),), writable=writable)
            done = shell(boxed, ".venv/bin/tool; touch .venv/x || echo protected", laid)
            assert done.text.splitlines()[0] == "from the venv"
            assert done.text.splitlines()[-1] == "protected"

    def test_an_overlay_follows_no_link_that_a_command_has_left(self, boxed: Sandbox, box: Box, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (box.workspace / "lib").symlink_to(outside)
        laid = changed(box, overlays=((outside, box.mount_at / "lib" / "deep" / "er"),))
        with pytest.raises(SandboxError, match="is a link"):
            shell(boxed, "true", laid)
        assert [path.name for path in (outside).iterdir()] == []

    def test_the_git_file_of_the_worktree_cannot_be_replaced(self, boxed: Sandbox, box: Box) -> None:
        (box.workspace / ".git").write_text("gitdir: /somewhere/else\n")
        shell(boxed, "rm -rf .git; mv .git x; echo 'gitdir: /evil' > .git; mkdir .git", box)
        assert (box.workspace / ".git").read_text() == "gitdir: /somewhere/else\n"

    def test_descriptors_pass_into_the_sandbox(self, boxed: Sandbox, box: Box) -> None:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        try:
            shell(boxed, f"echo result >&{writer}; ls /proc/self/fd | wc -l", box, pass_fds=(writer,))
            assert os.read(reader, 100) == b"result\n"
        finally:
            os.close(reader)
            os.close(writer)

    def test_exit_codes_signals_and_missing_programs_come_through(self, boxed: Sandbox, box: Box) -> None:
        assert shell(boxed, "exit 9", box).exit_code == 9
        assert shell(boxed, "kill -9 $$", box).exit_code == 137
        assert boxed.run(["no-such-program"], box=box, timeout_s=10).exit_code == 127
        assert shell(boxed, "echo 'bwrap: fake'; exit 1", box).text == "bwrap: fake\n"

    def test_everything_inside_dies_at_the_time_limit(self, boxed: Sandbox, box: Box) -> None:
        sandbox_mark = f"3{os.getpid()}.5"  # an argument of sleep that nobody else uses
        done = boxed.run(["bash", "-c", f"setsid sleep {sandbox_mark} & echo on; sleep 60"], box=box, timeout_s=0.3)
        assert (done.exit_code, done.text) == (124, "on\n")
        assert not _commands_with(sandbox_mark)

    def test_what_is_left_running_ends_with_the_command(self, boxed: Sandbox, box: Box) -> None:
        mark = f"4{os.getpid()}.5"
        assert shell(boxed, f"setsid sleep {mark} & echo on", box).text == "on\n"
        assert not _commands_with(mark)

    def test_limits_are_set_and_node_still_starts(self, boxed: Sandbox, box: Box) -> None:
        assert shell(boxed, "ulimit -f; ulimit -c; ulimit -d", box).text.split() == ["2097152", "0", "8388608"]
        if not missing("node"):
            code = "for (let i = 0; i < 3; i++) new WebAssembly.Memory({initial: 1, maximum: 65536}); console.log('ok')"
            assert boxed.run(["node", "-e", code], box=box, timeout_s=20).text == "ok\n"

    def test_a_sub_folder_can_be_the_start(self, boxed: Sandbox, box: Box) -> None:
        (box.workspace / "sub dir").mkdir()
        assert shell(boxed, "pwd", changed(box, cwd="sub dir")).text == f"{box.mount_at}/sub dir\n"

    @pytest.mark.parametrize("field", ["read_only", "writable_paths"])
    def test_a_box_that_cannot_be_built_is_an_error_of_the_sandbox(self, boxed: Sandbox, box: Box, field: str) -> None:
        with pytest.raises(SandboxError, match=r"no sandbox for .*Can't find source path"):
            shell(boxed, "true", changed(box, **{field: (Path("/no/such/place"),)}))

    def test_the_root_is_no_mount_point(self, boxed: Sandbox, box: Box) -> None:
        with pytest.raises(SandboxError, match="cannot mount the workspace at /"):
            shell(boxed, "true", changed(box, mount_at=Path("/")))

    def test_a_workspace_that_is_gone_is_named(self, boxed: Sandbox, box: Box) -> None:
        with pytest.raises(SandboxError, match="does not exist"):
            shell(boxed, "true", changed(box, workspace=box.workspace / "gone"))

    def test_a_repository_in_the_home_can_be_mounted(self, box: Box, tmp_path: Path) -> None:
        home = tmp_path / "home"
        mount_at = home / "code" / "project"
        mount_at.mkdir(parents=True)
        (home / "diary.txt").write_text("private")
        sandbox = choose("bubblewrap", {"PATH": os.environ["PATH"], "HOME": str(home)})
        assert shell(sandbox, "pwd; ls; ls ~", changed(box, mount_at=mount_at)).text == f"{mount_at}\nhello.txt\ncode\n"


def test_without_a_sandbox_the_command_runs_in_the_workspace_and_says_so(box: Box) -> None:
    sandbox = choose("none", {"PATH": os.environ["PATH"], "PYTHONPATH": "/mine", "SECRET_KEY": "x"})
    done = shell(sandbox, "pwd; echo $PYTHONPATH; env | grep -c SECRET", box)
    assert sandbox.kind == "none"
    assert done.text == f"{box.workspace}\n/mine\n0\n"


def test_a_machine_without_bubblewrap_is_told_apart(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    fallback = "none" if landlock_missing_because() else "landlock"
    assert detect(nowhere).kind == fallback
    assert choose("auto", nowhere).kind == fallback
    with pytest.raises(SandboxError, match="bwrap is not on PATH - install bubblewrap"):
        choose("bubblewrap", nowhere)


def test_a_bubblewrap_that_fails_its_probe_is_not_used(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no permission to create a namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert choose("auto", environ).kind != "bubblewrap"
    with pytest.raises(SandboxError, match="no permission to create a namespace"):
        choose("bubblewrap", environ)


def _commands_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if word in words:
            found.append(" ".join(words))
    return found
