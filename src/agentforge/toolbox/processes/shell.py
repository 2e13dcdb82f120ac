"""The tool shell: one command in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import COUNT, FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.reconciliation import Settled, Touched

_MOST_NAMED = 8
_TIMEOUT_S = 120
_LONGEST_TIMEOUT_S = 600
_FIRST_LOOK_S = 0.3
_LOCKED_REPOSITORY = re.compile(r"\.git/.*Read-only file system")
_REPOSITORY_OUT_OF_SIGHT = re.compile(r"(?m)^(fatal: not a git repository): \S.*/\.git/worktrees/.*$")


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    command = text(arguments, "command")
    folder = _files.existing(context, text(arguments, "cwd", default="."))
    if not folder.is_dir():
        raise ToolError(failed(f"cwd {text(arguments, 'cwd')} is no folder", error_type="bad-arguments"))
    longest = context.limits.get("shell_timeout_s", _LONGEST_TIMEOUT_S)
    if arguments.get("background"):
        return _left_running(command, arguments, context, cwd=_files.shown(context, folder))
    wanted_s = number(arguments, "timeout", default=_TIMEOUT_S)
    timeout_s = min(longest, wanted_s)
    cwd = _files.shown(context, folder)
    done, settled = (context.follow_command or context.run_command)(command, timeout_s=timeout_s, cwd=cwd)
    if done.left_running:
        moved = _moved(done, command, cwd=cwd)
        return moved if settled is None else _with_files(moved, settled)
    observation = _observed(done, timeout_s=timeout_s, background=context.background is not None)
    if "timeout" in arguments and wanted_s > longest:
        bound = f"{observation.summary}; the longest timeout is {longest} s, not {wanted_s} s"
        observation = replace(observation, summary=bound)
    if _REPOSITORY_OUT_OF_SIGHT.search(observation.text):
        observation = _without_repository(observation, context)
    if done.exit_code and _LOCKED_REPOSITORY.search(done.text):
        observation = _with_way_to_commit(observation, context)
    if done.undone:
        observation = _without_protected(observation, done.undone)
    return observation if settled is None else _with_files(observation, settled)


def _left_running(command: str, arguments: Mapping[str, object], context: ToolContext, *, cwd: str) -> Observation:
    if context.background is None:
        return failed("nothing can be left running here", error_type="no-background", retryable=False)
    timeout_s = number(arguments, "timeout", default=0)
    name = context.background.start(command, cwd=cwd, timeout_s=timeout_s)
    begun = context.background.read(name, wait_s=_FIRST_LOOK_S)
    ends = f"after {timeout_s} s" if timeout_s else "with the session"
    state = begun.outcome or f"runs; it ends {ends}"
    output = begun.output.decode("utf-8", "replace")
    return Observation(
        status="error" if begun.outcome not in ("", "exit 0") else "success",
        error_type="exit-code" if begun.outcome not in ("", "exit 0") else None,
        summary=f"background command {name}: {state}",
        text=output if output.strip() else "(no output yet)",
        next_actions=(f"jobs(action=read, id={name})",),
        payload={"background": {"name": name, "command": command, "cwd": cwd}},
    )


def _moved(done: Completed, command: str, *, cwd: str) -> Observation:
    """The person sent the command to the background while it ran."""
    name = done.left_running
    before = f"[{done.omitted_bytes:,} bytes before this are no longer kept]\n" if done.omitted_bytes else ""
    return Observation(
        status="success",
        summary=f"sent to the background as {name}",
        text=before + (done.text if done.text.strip() else "(no output yet)"),
        note=f"The user sent this command to the background while it ran. It goes on there as background command {name}, "
        "without a time limit, until it ends or the session does. Above is what it has written so far; nobody knows yet how "
        "it ends. You will be told when it does: go on with what does not need it.",
        next_actions=(f"jobs(action=read, id={name})",),
        payload={"background": {"name": name, "command": command, "cwd": cwd}},
    )


def _observed(done: Completed, *, timeout_s: int, background: bool) -> Observation:
    cut = f"; {done.omitted_bytes:,} bytes of output omitted" if done.omitted_bytes else ""
    output = done.text if done.text.strip() else "(no output)"
    if done.timed_out:
        return failed(
            f"stopped after {timeout_s} s{cut}",
            error_type="timeout",
            text=output,
            next_actions=(
                "run a smaller part, or give a longer timeout (seconds)",
                *(("background=true where it is to go on beside the conversation",) if background else ()),
            ),
        )
    summary = f"exit {done.exit_code} in {done.duration_s:.1f} s{cut}"
    if done.exit_code:
        return failed(summary, error_type="exit-code", text=output)
    return Observation(status="success", summary=summary, text=output)


def _with_way_to_commit(observation: Observation, context: ToolContext) -> Observation:
    """A command wanted to change the repository, which is read-only for commands: say what changes it instead."""
    why = "The repository (.git) is read-only for commands."
    if context.git is None:
        return replace(observation, text=f"{observation.text.rstrip()}\n{why} The harness commits.")
    told = f"{why} git_commit stages and commits (paths, or all), git_branch makes and switches branches; both ask the person."
    return replace(
        observation,
        error_type="read-only-repository",
        retryable=False,
        text=f"{observation.text.rstrip()}\n{told}",
        next_actions=("git_commit(message=..., paths=[...])",),
    )


def _without_repository(observation: Observation, context: ToolContext) -> Observation:
    """A command asked git in a linked worktree, whose repository it does not see: say so without the path, and what to ask."""
    ways = "What changed stands in the context." if context.git is None else "git_status, git_diff and git_log do."
    text = _REPOSITORY_OUT_OF_SIGHT.sub(r"\1 (or any of the parent directories): .git", observation.text).rstrip()
    return replace(observation, text=f"{text}\nCommands do not see the repository here. {ways}")


def _without_protected(observation: Observation, undone: tuple[str, ...]) -> Observation:
    """Tell which protected places the command made or moved: they are gone, and the command did not succeed."""
    line = "Protected, put right after the command: " + _listed([_printable(path) for path in undone])
    failed_now = observation.status == "success"
    return replace(
        observation,
        status="error" if failed_now else observation.status,
        error_type="out-of-scope" if failed_now else observation.error_type,
        summary=f"{observation.summary}; {_count(len(undone))} protected",
        text="\n".join([observation.text.rstrip("\n"), line]),
    )


def _with_files(observation: Observation, settled: Settled) -> Observation:
    """Tell what the command changed, and what of it was undone: an undone command did not succeed."""
    kept, refused = settled.kept, settled.refused
    summary, lines = observation.summary, []
    if kept:
        summary += f"; {_count(len(kept))} changed"
        lines.append("Changed: " + _listed([_changed(one) for one in kept]))
    if refused:
        summary += f"; {_count(len(refused))} refused and put back"
        lines.append("Refused and put back as before: " + _listed([f"{_name(one)} ({one.what})" for one in refused]))
        lines += dict.fromkeys(_printable(one.refusal) for one in refused[:_MOST_NAMED])
    if settled.swept:
        lines.append(f"Removed: {_count(settled.swept)} outside the scope that git ignores; do all in one command.")
    paths = tuple(one.path for one in kept)
    undone = bool(refused) and observation.status == "success"
    return replace(
        observation,
        status="error" if undone else observation.status,
        error_type="out-of-scope" if undone else observation.error_type,
        retryable=observation.retryable and not undone,
        summary=summary,
        text="\n".join([observation.text.rstrip("\n"), *lines]),
        artifacts=paths,
        changed=paths,
    )


def _changed(one: Touched) -> str:
    counted = ", binary" if one.lines is None else f" +{one.lines[0]} -{one.lines[1]}"
    return f"{_name(one)} ({one.what}{counted})"


def _listed(items: list[str]) -> str:
    more = len(items) - _MOST_NAMED
    return ", ".join(items[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(number: int) -> str:
    return f"{number} file" if number == 1 else f"{number} files"


def _name(one: Touched) -> str:
    return _printable(one.path)


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


TOOL = Tool(
    name="shell",
    description="Run bash in the sandbox, each call from the workspace's top; timeout in seconds. No network, git, installs, "
    "rm -r; write only the stage's files and /tmp (then emptied); code as a here document or file. What it leaves running ends.",
    parameters=takes("command", command=TEXT, timeout=COUNT, cwd=TEXT),
    effect="execute",
    command=lambda arguments: (text(arguments, "command"), text(arguments, "cwd", default=".")),
    run=_run,
)

_IN_A_CONVERSATION = (
    "Run a bash command in the sandbox (no network); timeout in seconds. What it leaves running ends with it"
)
PLAIN_TOOL = replace(TOOL, description=f"{_IN_A_CONVERSATION}.")
"""The same outside of a stage, whose rules do not hold there."""
SESSION_TOOL = replace(
    TOOL,
    description=f"{_IN_A_CONVERSATION}; background=true leaves the command itself running, see jobs.",
    parameters=takes("command", command=TEXT, timeout=COUNT, cwd=TEXT, background=FLAG),
)
"""The same where commands can be left running: in a conversation."""
