"""What a command does, in a few classes that a rule or a mode can decide about."""

from __future__ import annotations

from enum import StrEnum

from agentforge.frozen import dataclass
from agentforge.safety.shell.grammar.syntax import Word


class CommandClass(StrEnum):
    """The classes, from the harmless to the unknown; a line is as harmful as its worst part.

    `write` and `run` are split off from `build` because they answer to other questions.
    """

    READ_ONLY = "read-only"
    GIT_READ = "git-read"
    TEST = "test"
    BUILD = "build"
    WRITE = "write"
    RUN = "run"
    SERVER = "server"
    GIT_WRITE = "git-write"
    INSTALL = "install"
    NETWORK = "network"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"


MEANING = {
    CommandClass.READ_ONLY: "looks at files and the machine, changes nothing",
    CommandClass.GIT_READ: "looks at the repository's history and state",
    CommandClass.TEST: "runs the project's tests or checks",
    CommandClass.BUILD: "builds or formats the project",
    CommandClass.WRITE: "creates, changes or moves files of the workspace",
    CommandClass.RUN: "runs a program or inline code of the project",
    CommandClass.SERVER: "starts a server or another program that stays",
    CommandClass.GIT_WRITE: "changes the repository: index, commits, branches",
    CommandClass.INSTALL: "installs packages, which may run their code",
    CommandClass.NETWORK: "talks to other machines",
    CommandClass.DESTRUCTIVE: "deletes or overwrites what cannot be had again",
    CommandClass.UNKNOWN: "is not known or not fully understood",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one command was found to be.

    Attributes:
        kind: its class.
        reason: why, for people.
        name: the program without folder, wrappers removed ("rm" for `sudo /bin/rm`).
        argv: its words, wrappers removed; what a rule's pattern is matched with.
        reads: words that may be paths that it reads.
        writes: words that are paths that it creates, changes or removes.
        steers: words that may name what it runs: a project, a configuration, plugins, a folder to work in.
        folders: where it runs, relative to where the command that holds it does: more than one for an inner line that moves.
        deep: it reads everything below those paths.
        fatal: true where the damage would reach beyond the workspace: refused in every mode.
    """

    kind: CommandClass
    reason: str
    name: str = ""
    argv: tuple[Word, ...] = ()
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    steers: tuple[Word, ...] = ()
    folders: tuple[str | None, ...] = ("",)
    deep: bool = False
    fatal: bool = False
