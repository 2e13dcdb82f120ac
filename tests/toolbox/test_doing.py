"""Proves the tools that run or end something: shell, run_tests, run_checks, ask_human, submit_artifact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.reconciliation import Settled, Touched

Call = Callable[..., Observation]


def test_shell_tells_exit_code_and_output(call: Call) -> None:
    done = call("shell", command="pwd; echo out; echo err >&2", cwd="shapes")
    assert done.status == "success"
    assert done.summary.startswith("exit 0 in ")
    assert done.text.endswith("shapes\nout\nerr\n")


def test_shell_reports_a_failed_command_as_such(call: Call) -> None:
    done = call("shell", command="exit 3")
    assert (done.status, done.error_type, done.text) == ("error", "exit-code", "(no output)")
    assert done.summary.startswith("exit 3 in ")


def test_shell_stops_at_its_time_limit(call: Call) -> None:
    done = call("shell", limits={"shell_timeout_s": 1}, command="echo begun; sleep 77", timeout=500)
    assert (done.error_type, done.summary) == ("timeout", "stopped after 1 s; the longest timeout is 1 s, not 500 s")
    assert done.text == "begun\n"


def test_shell_says_how_much_output_was_omitted(call: Call) -> None:
    assert "bytes of output omitted" in call("shell", command="head -c 2000000 /dev/zero | tr '\\0' x").summary


def test_shell_stays_in_the_workspace(call: Call) -> None:
    assert call("shell", command="true", cwd="..").error_type == "outside-workspace"
    assert call("shell", command="true", cwd="README.md").error_type == "bad-arguments"


def test_git_in_a_worktree_whose_repository_is_out_of_sight_names_no_path_of_the_machine(call: Call) -> None:
    line = "mkdir lent; echo 'gitdir: /nowhere/.git/worktrees/task-1' > lent/.git; git -C lent status; echo done"
    done = call("shell", command=line)
    assert "/nowhere" not in done.text and "fatal: not a git repository (or any of the parent" in done.text
    assert "done\nCommands do not see the repository here." in done.text
    plain = "echo 'fatal: not a git repository: x'"
    assert call("shell", command=plain).text == "fatal: not a git repository: x\n"


def test_tests_and_checks_are_run_by_the_harness(call: Call) -> None:
    assert call("run_tests", tests=["tests/test_area.py"]).summary == "tests tests/test_area.py"
    assert call("run_tests").summary == "tests "
    assert call("run_checks", paths=["a.py", "b.py"]).summary == "checks a.py, b.py"


def test_a_question_reaches_the_loop(call: Call) -> None:
    done = call("ask_human", question="Feet or metres?", options=["feet", "metres"])
    assert done.payload == {"question": "Feet or metres?", "options": ["feet", "metres"]}
    assert call("ask_human", question=" ").error_type == "bad-arguments"


def test_an_artifact_reaches_the_loop_and_must_be_an_object(call: Call) -> None:
    assert call("submit_artifact", artifact={"goal": "x"}).payload == {"draft": {"goal": "x"}}
    assert call("submit_artifact", artifact="goal: x").error_type == "bad-arguments"
    assert call("submit_artifact").error_type == "bad-arguments"


def test_shell_tells_what_became_of_the_files_that_it_touched(context: ToolContext) -> None:
    kept = Touched(path="a.py", what="changed", lines=(3, 1))
    refused = tuple(Touched(path=f"t{number}.py", what="new", refusal="it is closed") for number in range(10))

    def told(command: str, settled: Settled) -> Observation:
        def run_command(command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, Settled]:
            return context.run_command(command, timeout_s=timeout_s, cwd=cwd)[0], settled

        return find(["shell"])["shell"].run({"command": command}, replace(context, run_command=run_command))

    done = told("echo out", Settled(kept=(kept,), swept=2))
    assert (done.status, done.changed) == ("success", ("a.py",))
    assert done.summary.endswith("; 1 file changed")
    assert done.text.splitlines()[:2] == ["out", "Changed: a.py (changed +3 -1)"]
    assert done.text.splitlines()[2].startswith("Removed: 2 files outside the scope that git ignores")
    done = told("true", Settled(refused=refused))
    assert (done.status, done.error_type, done.changed) == ("error", "out-of-scope", ())
    assert done.text.splitlines()[1].endswith("t7.py (new) and 2 more")
    assert done.text.count("it is closed") == 1
    assert told("exit 3", Settled(refused=refused)).error_type == "exit-code"
