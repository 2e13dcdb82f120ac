"""One command, bounded in time and output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentforge.errors import ToolchainError
from agentforge.workspace.processes.process import Completed, run

_PATIENCE_S = 60.0
ENV = {"PATH": os.environ["PATH"]}


def shell(command: str, *, timeout_s: float = 20, **options: object) -> Completed:
    return run(["sh", "-c", command], cwd=None, env=ENV, timeout_s=timeout_s, **options)  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def gone(pid: int) -> bool:
    """Whether the process ends; the kernel may need a moment after a kill, and longer on a busy machine."""
    ends = time.monotonic() + _PATIENCE_S
    while alive(pid):
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


def test_output_and_errors_come_in_one_stream_with_the_exit_code() -> None:
    done = shell("echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.text, done.stderr, done.timed_out) == (3, "out\nerr\n", b"", False)


def test_errors_stay_apart_when_asked() -> None:
    done = shell("echo out; echo err >&2", merge_stderr=False)
    assert (done.output, done.stderr) == (b"out\n", b"err\n")


def test_a_signal_is_an_exit_code_above_128() -> None:
    assert shell("kill -9 $$").exit_code == 128 + 9


def test_standard_input_is_empty_by_default_and_carries_any_size() -> None:
    assert shell("cat").output == b""
    assert shell("wc -c", stdin=b"x" * 3_000_000).output.strip() == b"3000000"


def test_fifty_megabytes_cost_little_memory_and_keep_head_and_tail() -> None:
    code = (
        "import resource;"
        "from agentforge.workspace.processes.process import run;"
        "import os;"
        "before=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "d=run(['sh','-c','echo first; yes | head -c 50000000; echo last'],cwd=None,env=dict(os.environ),timeout_s=60);"
        "after=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "assert d.output.startswith(b'first\\n') and d.output.endswith(b'last\\n'), d.output[:20];"
        "assert d.omitted_bytes == 50000011 - 200000, d.omitted_bytes;"
        "assert b'... %d bytes omitted ...' % d.omitted_bytes in d.output;"
        "assert after - before < 8192, (before, after)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 25])
def test_nothing_is_cut_up_to_the_limit(size: int) -> None:
    done = shell(f"head -c {size} /dev/zero | tr '\\0' x", output_limit_bytes=10)
    kept = done.output.replace(b"\n... %d bytes omitted ...\n" % done.omitted_bytes, b"")
    assert len(kept) == min(size, 10)
    assert done.omitted_bytes == max(size - 10, 0)


def test_the_whole_group_dies_at_the_time_limit(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    done = shell(f"trap '' TERM; sleep 60 & echo $! >{pids}; echo begun; sleep 60; sleep 60", timeout_s=0.4)
    assert (done.exit_code, done.timed_out, done.output) == (124, True, b"begun\n")
    assert gone(int(pids.read_text()))


def test_a_command_may_end_itself_on_the_warning_before_the_kill() -> None:
    done = shell("trap 'echo bye; exit 7' TERM; echo begun; sleep 60 & wait", timeout_s=0.4)
    assert (done.exit_code, done.output) == (124, b"begun\nbye\n")


def test_a_background_child_that_keeps_the_pipe_neither_hangs_nor_lives_on(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    done = shell(f"sleep 300 & echo $! >{pid}; echo done", timeout_s=100)
    assert (done.exit_code, done.output, done.timed_out) == (0, b"done\n", False)
    assert gone(int(pid.read_text()))


def test_a_child_that_left_the_group_cannot_make_us_wait(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    done = shell(f"setsid sleep 300 & echo $! >{pid}; echo done", timeout_s=200)
    try:
        assert (done.output, done.timed_out) == (b"done\n", False)
        assert alive(int(pid.read_text()))
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)


def test_a_child_that_closes_its_output_is_waited_for() -> None:
    done = shell("exec >/dev/null 2>&1; sleep 0.05; exit 5")
    assert done.exit_code == 5


def test_ctrl_c_kills_the_children_before_it_goes_on(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import os; from pathlib import Path; from agentforge.workspace.processes.process import run;"
        f"known = lambda child: Path('{pid}.new').write_text(str(child)) and os.rename('{pid}.new', '{pid}');"
        "run(['sleep', '300'], cwd=None, env=dict(os.environ), timeout_s=300, on_start=known)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, start_new_session=True)
    while not pid.exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in child.communicate(timeout=20)[1]
    assert gone(int(pid.read_text()))


def test_descriptors_pass_under_their_numbers() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        run(["bash", "-c", f"echo hello >&{writer}"], cwd=None, env=ENV, timeout_s=20, pass_fds=(writer,))
        assert os.read(reader, 100) == b"hello\n"
    finally:
        os.close(reader)
        os.close(writer)


def test_nothing_but_the_given_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    done = run(["env"], cwd=None, env={**ENV, "SEEN": "yes"}, timeout_s=10)
    assert b"MY_API_KEY" not in done.output
    assert b"SEEN=yes" in done.output


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["no-such-program-anywhere"], "was not found - install"),
        (["/etc/passwd"], "is not executable"),
        (["sh", "-c", "a\0b"], "cannot be started"),
    ],
)
def test_what_cannot_be_started_says_so(argv: list[str], words: str) -> None:
    with pytest.raises(ToolchainError, match=words):
        run(argv, cwd=None, env=ENV, timeout_s=5)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="no such directory"):
        run(["true"], cwd=tmp_path / "nowhere", env=ENV, timeout_s=5)


def test_no_descriptor_is_leaked() -> None:
    shell("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        shell("echo x; echo y >&2", stdin=b"in", merge_stderr=False)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
