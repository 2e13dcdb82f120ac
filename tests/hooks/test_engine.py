"""Hooks as real processes: what they are told, how their answers add up, what becomes of those that misbehave."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agentforge.hooks.engine import HookEngine, output_limit
from agentforge.hooks.hook import FailureMode, Hook, Trigger
from agentforge.workspace.processes.process import Completed, run

SECRET = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"
MakeEngine = Callable[..., HookEngine]


def hook(
    command: str,
    *,
    name: str = "h",
    trigger: Trigger = "before_tool",
    failure_mode: FailureMode = "warn",
    timeout_s: float = 20,
    matcher: str = "",
) -> Hook:
    argv = ("bash", "-c", command)
    return Hook(name=name, trigger=trigger, argv=argv, failure_mode=failure_mode, timeout_s=timeout_s, matcher=matcher)


@pytest.fixture
def engine(tmp_path: Path) -> MakeEngine:
    """An engine whose hooks are plain processes in a folder."""

    def start(one: Hook, env: Mapping[str, str], stdin: bytes) -> Completed:
        return run(
            one.argv,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], **env},
            timeout_s=one.timeout_s,
            stdin=stdin,
            merge_stderr=False,
            output_limit_bytes=output_limit(),
        )

    def make(*hooks: Hook, secrets: tuple[str, ...] = ()) -> HookEngine:
        session = {"session_id": "t1", "cwd": str(tmp_path), "permission_mode": "auto"}
        return HookEngine(hooks, start, session=session, secrets=secrets)

    return make


def says(**words: object) -> str:
    return f"echo '{json.dumps({'hookSpecificOutput': words})}'"


def test_a_hook_is_told_everything_in_both_dialects(engine: MakeEngine, tmp_path: Path) -> None:
    tell = hook("cat > told.json; env | grep ^AGENTFORGE_ | sort > env.txt")
    assert engine(tell).before_tool("edit", {"path": "a.py"}, call_id="c1").verdict == "pass"
    told = json.loads((tmp_path / "told.json").read_text())
    assert told == {
        "session_id": "t1",
        "cwd": str(tmp_path),
        "permission_mode": "auto",
        "hook_event_name": "PreToolUse",
        "trigger": "before_tool",
        "tool_name": "edit",
        "tool_input": {"path": "a.py"},
        "tool_use_id": "c1",
    }
    assert (tmp_path / "env.txt").read_text().splitlines() == [
        f"AGENTFORGE_CWD={tmp_path}",
        "AGENTFORGE_TOOL_NAME=edit",
        'AGENTFORGE_TOOL_PARAMS={"path": "a.py"}',
        "AGENTFORGE_TRIGGER=before_tool",
    ]


@pytest.mark.parametrize(
    ("trigger", "ask", "variables"),
    [
        ("before_agent", lambda one: one.before_agent("do it"), ["USER_MESSAGE=do it"]),
        ("after_agent", lambda one: one.after_agent("do it", "done"), ["RESPONSE=done", "USER_MESSAGE=do it"]),
        ("after_tool", lambda one: one.after_tool("grep", {}, "3 hits"), ["TOOL_NAME=grep", "TOOL_RESULT=3 hits"]),
        ("on_error", lambda one: one.on_error("no model"), ["ERROR=no model"]),
    ],
)
def test_every_trigger_has_its_variables(
    trigger: Trigger, ask: Callable[[HookEngine], object], variables: list[str], engine: MakeEngine, tmp_path: Path
) -> None:
    ask(engine(hook("env > env.txt", trigger=trigger), hook("touch other", trigger="before_tool")))
    lines = (tmp_path / "env.txt").read_text().splitlines()
    assert {f"AGENTFORGE_{item}" for item in (*variables, f"TRIGGER={trigger}")} <= set(lines)
    assert not (tmp_path / "other").exists()


def test_no_hook_is_told_a_secret_and_none_can_bring_one_in(engine: MakeEngine, tmp_path: Path) -> None:
    keep = hook(f"cat > told; env > env.txt; {says(additionalContext=SECRET, updatedInput={'text': 'value-1234'})}")
    said = engine(keep, secrets=("value-1234",)).before_tool("edit", {"text": f"{SECRET} value-1234"})
    written = (tmp_path / "told").read_text() + (tmp_path / "env.txt").read_text()
    assert SECRET not in written and "value-1234" not in written and "[redacted: github-token]" in written
    assert SECRET not in repr(said) and said.arguments == {"text": "[redacted: known-value]"}


def test_a_text_that_no_variable_can_hold_is_cut_and_whole_on_standard_input(
    engine: MakeEngine, tmp_path: Path
) -> None:
    count = hook('wc -c > size; printf %s "$AGENTFORGE_TOOL_PARAMS" | tail -c 60 > tail')
    said = engine(count).before_tool("write_file", {"content": "a\0b" + "ä" * 200_000})
    assert said.verdict == "pass", said.reason
    assert int((tmp_path / "size").read_text()) > 200_000
    assert "all of it is on standard input" in (tmp_path / "tail").read_text("utf-8", "replace")


def test_deny_beats_ask_beats_allow_whoever_comes_first(engine: MakeEngine) -> None:
    allow, ask = hook(says(permissionDecision="allow"), name="a"), hook(says(permissionDecision="ask"), name="b")
    deny = hook("echo no >&2; exit 2", name="c")
    assert engine(allow, ask).before_tool("edit", {}).verdict == "ask"
    assert engine(ask, allow).before_tool("edit", {}).verdict == "ask"
    said = engine(allow, ask, deny, hook("true", name="never asked")).before_tool("edit", {})
    assert (said.verdict, said.reason) == ("deny", "c: no")
    assert [(one.name, one.verdict) for one in said.runs] == [("a", "allow"), ("b", "ask"), ("c", "deny")]


def test_each_hook_sees_what_the_one_before_it_made_of_the_arguments(engine: MakeEngine, tmp_path: Path) -> None:
    first = hook(says(updatedInput={"path": "b.py"}))
    said = engine(first, hook("cat > told")).before_tool("edit", {"path": "a.py"})
    assert said.arguments == {"path": "b.py"} and said.runs[0].rewrote
    assert json.loads((tmp_path / "told").read_text())["tool_input"] == {"path": "b.py"}


@pytest.mark.parametrize(
    ("command", "timeout_s", "reason"),
    [
        ("exit 1", 20, "ended with 1"),
        ("kill -9 $$", 20, "ended with 137"),
        ("/nowhere/at/all", 20, "cannot be run"),
        ("/etc/passwd", 20, "cannot be run"),
        ("echo '{nonsense'", 20, "not JSON"),
        ("sleep 30", 0.05, "did not end within 0.05 s"),
        ("echo '{'; head -c 50000000 /dev/zero | tr '\\0' x", 20, "too long"),
    ],
)
def test_a_hook_that_fails_stops_nothing_unless_it_was_told_to(
    command: str, timeout_s: float, reason: str, engine: MakeEngine
) -> None:
    said = engine(hook(command, timeout_s=timeout_s, failure_mode="block")).before_tool("edit", {})
    assert said.verdict == "deny" and reason in said.reason and said.runs[0].verdict == "failed"
    warned = engine(hook("exit 1")).before_tool("edit", {})
    assert warned.verdict == "pass" and warned.context == ("h failed: it ended with 1",)
    ignored = engine(hook("exit 1", failure_mode="ignore")).before_tool("edit", {})
    assert (ignored.verdict, ignored.context, ignored.runs[0].failure_mode) == ("pass", (), "ignore")


def test_a_hook_that_floods_its_output_and_leaves_a_process_behind_is_cut_and_ended(
    engine: MakeEngine, tmp_path: Path
) -> None:
    said = engine(hook("sleep 60 & echo $! > pid; head -c 50000000 /dev/zero")).before_tool("edit", {})
    assert said.verdict == "pass"
    left = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    assert not left.exists() or left.read_text().split()[2] == "Z"  # ended; who should have collected it is gone


def test_hooks_whose_order_does_not_matter_run_at_the_same_time(engine: MakeEngine, tmp_path: Path) -> None:
    for name in ("a", "b"):
        os.mkfifo(tmp_path / name)
    first = hook("echo x > a; read y < b", name="1", trigger="after_tool")
    second = hook("read x < a; echo y > b", name="2", trigger="after_tool")
    said = engine(first, second).after_tool("grep", {}, "")
    assert [(one.name, one.verdict) for one in said.runs] == [("1", "pass"), ("2", "pass")]


def test_a_hook_is_asked_only_about_its_tools(engine: MakeEngine) -> None:
    closed = engine(hook("exit 2", matcher="Bash|write_.*"))
    assert [closed.before_tool(tool, {}).verdict for tool in ("shell", "write_file", "grep")] == [
        "deny",
        "deny",
        "pass",
    ]


def test_an_interruption_ends_hooks_that_run_at_the_same_time_and_starts_no_more(tmp_path: Path) -> None:
    started: list[int] = []

    def start(one: Hook, _env: Mapping[str, str], _stdin: bytes) -> Completed:
        def known(pid: int) -> None:
            started.append(pid)
            if len(started) == 8:
                os.kill(os.getpid(), signal.SIGINT)

        return run(one.argv, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, timeout_s=30, on_start=known)

    slow = [hook("sleep 30", name=str(number), trigger="after_tool", timeout_s=30) for number in range(12)]
    session = {"session_id": "t1", "cwd": str(tmp_path), "permission_mode": "auto"}
    with pytest.raises(KeyboardInterrupt):
        HookEngine(slow, start, session=session).after_tool("edit", {}, "done")
    assert len(started) < len(slow)
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
