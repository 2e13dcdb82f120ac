"""Refs that travel to and from a remote of the user's: with the user's own configuration and keys, without hooks."""

from __future__ import annotations

import os
import re
from typing import Literal

from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.workspace.git.command import GitCommand, user_environment
from agentforge.workspace.processes import process

TIMEOUT_S = 30.0
_KEPT = (
    "SSH_AUTH_SOCK",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "USER",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
)
_OFF = ("core.hooksPath=/dev/null", "protocol.ext.allow=never", "gc.auto=0", "credential.interactive=false")
_CREDENTIALS = re.compile(r"(\b[a-z+]+://)[^/\s@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """How a push ended.

    Attributes:
        outcome: "taken"; "overtaken" = the remote holds what does not lead to our commit; "failed" = neither is known.
        reason: git's words when it was not taken.
    """

    outcome: Literal["taken", "overtaken", "failed"]
    reason: str = ""


def require_remote(command: GitCommand, remote: str) -> None:
    """Make sure that the repository has a remote of that name.

    Raises:
        UsageError: it has none; an address or a path is no name.
    """
    known = remote_names(command)
    if remote and remote in known:
        return
    names = ", ".join(known) or "none"
    raise UsageError(
        f"{command.top} has no remote {remote!r} (there are: {names})", hint=f"git remote add {remote or 'NAME'} URL"
    )


def remote_names(command: GitCommand) -> list[str]:
    """Name the remotes of the repository."""
    return [name for name in os.fsdecode(_git(command, "remote").output).split("\n") if name]


def delete_ref(command: GitCommand, remote: str, *, ref: str, commit: str) -> str:
    """Remove a ref of the remote if it still points at a commit.

    Returns:
        Git's words when it was not removed, "" when it was.
    """
    done = _git(command, "push", "--quiet", "--no-verify", f"--force-with-lease={ref}:{commit}", remote, f":{ref}")
    return "" if done.exit_code == 0 else _words(done.stderr)


def remote_commits(command: GitCommand, remote: str, pattern: str) -> dict[str, str]:
    """The commits that the refs of the remote that fit a pattern point at, by ref.

    Raises:
        ToolchainError: the remote does not answer.
    """
    return {name: commit for commit, name in sorted(_listed(command, remote, pattern))}


def remote_address(command: GitCommand, remote: str) -> str:
    """The address of a remote, as git would use it."""
    done = _git(command, "remote", "get-url", remote)
    return os.fsdecode(done.output).strip() if done.exit_code == 0 else ""


def push(command: GitCommand, remote: str, *, commit: str, ref: str, replace: bool = False) -> Pushed:
    """Let a ref of the remote point at a commit, if that only goes forward there.

    Args:
        replace: whatever it points at; for what has no history, such as a bundle.

    git compares the remote's ref with what it saw when it writes, so that of two that push at once only one is taken.
    """
    try:
        done = _git(command, "push", "--quiet", "--no-verify", remote, f"{'+' if replace else ''}{commit}:{ref}")
        if done.exit_code == 0:
            return Pushed(outcome="taken")
        reason = _words(done.stderr)
        standing = remote_commit(command, remote, ref)
    except ToolchainError as exc:
        return Pushed(outcome="failed", reason=exc.message)
    if standing and standing != commit and not _leads_to(command, standing, commit):
        return Pushed(outcome="overtaken", reason=reason)
    return Pushed(outcome="failed", reason=reason)


def remote_commit(command: GitCommand, remote: str, ref: str) -> str:
    """The commit that a ref of the remote points at; "" when it has none.

    Raises:
        ToolchainError: the remote does not answer.
    """
    return {name: commit for commit, name in _listed(command, remote, ref)}.get(ref, "")


def remote_refs(command: GitCommand, remote: str, pattern: str) -> list[str]:
    """Name the refs of the remote that fit a pattern, sorted.

    Raises:
        ToolchainError: the remote does not answer.
    """
    return sorted(name for _, name in _listed(command, remote, pattern))


def fetch(command: GitCommand, remote: str, *, ref: str, into: str) -> None:
    """Bring a ref of the remote, with all that it leads to, and let `into` point at it.

    Raises:
        ToolchainError: the remote does not answer, or has no such ref.
    """
    asked = (
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
    )
    done = _git(command, "-c", "fetch.fsckObjects=true", *asked, remote, f"+{ref}:{into}", timeout_s=4 * TIMEOUT_S)
    if done.exit_code != 0:
        raise _no_answer(remote, done)


def _listed(command: GitCommand, remote: str, pattern: str) -> list[tuple[str, str]]:
    done = _git(command, "ls-remote", "--quiet", remote, pattern)
    if done.exit_code != 0:
        raise _no_answer(remote, done)
    rows = (line.split("\t") for line in os.fsdecode(done.output).splitlines())
    return [(row[0], row[1]) for row in rows if len(row) == 2]


def _leads_to(command: GitCommand, earlier: str, later: str) -> bool:
    return command.run("merge-base", "--is-ancestor", earlier, later).exit_code == 0


def _no_answer(remote: str, done: process.Completed) -> ToolchainError:
    return ToolchainError(
        f"the remote {remote} cannot be read: {_words(done.stderr)}", hint=f"try it yourself: git ls-remote {remote}"
    )


def _words(stderr: bytes) -> str:
    """What git said, without the credentials that an address may hold."""
    lines = [line for line in os.fsdecode(stderr).strip().splitlines() if not line.startswith("hint:")]
    return _CREDENTIALS.sub(r"\1", " | ".join(lines[:3])) or "no message"


def _git(command: GitCommand, *arguments: str, timeout_s: float = TIMEOUT_S) -> process.Completed:
    options = [part for value in _OFF for part in ("-c", value)]
    environment = {**user_environment(), **{name: os.environ[name] for name in _KEPT if name in os.environ}}
    argv = ["git", *options, f"--git-dir={command.git_dir}", f"--work-tree={command.top}", *arguments]
    done = process.run(
        argv, cwd=command.top, env=environment, timeout_s=timeout_s, output_limit_bytes=16 << 20, merge_stderr=False
    )
    if done.timed_out:
        raise ToolchainError(f"git {arguments[0]} did not end within {timeout_s:.0f} s", hint="check the network")
    return done
