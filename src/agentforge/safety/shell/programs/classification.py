"""From one command to what it does: wrappers taken off, the program found, its arguments judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from posixpath import basename, dirname

from agentforge.safety.shell.grammar import find
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.grammar.flow import nested
from agentforge.safety.shell.grammar.options import skip_options
from agentforge.safety.shell.grammar.syntax import Assignment, ShellCommand, Word, names
from agentforge.safety.shell.programs import file_operations, file_readers, git, shell_builtins, table
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged
from agentforge.safety.shell.programs.named_paths import with_paths
from agentforge.safety.shell.programs.steering_variables import handed_on, poisoned, with_variables

_BIN = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin")
_PROJECT_BIN = re.compile(r"(?:\./)?(?:(?:\.?venv|env|\.tox/[\w.-]+|\.nox/[\w.-]+|vendor)/bin|node_modules/\.bin)")
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "fish"})
_DEEPEST = 5
_PROJECT_FLAGS = (
    *("-q", "-v+", "--quiet", "--frozen", "--locked", "--no-sync", "--offline", "--isolated", "--all-extras", "--dev"),
    *("--no-dev", "--all-groups", r"--(?:extra|group|package|only-group|no-group)=[\w.-]+", "--active", "--no-project"),
)


def classify(command: ShellCommand, *, depth: int = 0) -> tuple[Judged, ...]:
    """Say what a command does: one judgement for itself, further ones for commands that it runs (xargs, bash -c, find -exec)."""
    judged = _program(command.words, depth) if command.words else (_bare(command),)
    if command.inline and judged[0].kind is Kind.UNKNOWN and table.interpreter(judged[0].name) is not None:
        judged = (replace(judged[0], kind=Kind.RUN, reason=f"{judged[0].name} runs code from the line"), *judged[1:])
    judged = with_variables(judged, command.assignments, bare=not command.words)
    reason = poisoned(command.assignments, judged) or handed_on(command)
    if reason is not None:
        judged = (replace(judged[0], kind=Kind.UNKNOWN, reason=reason, name=""), *judged[1:])
    return judged


def _bare(command: ShellCommand) -> Judged:
    what = "sets a variable of this shell" if command.assignments else "only redirects"
    return Judged(kind=Kind.READ_ONLY, reason=what)


def _program(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    if depth > _DEEPEST:
        return (Judged(kind=Kind.UNKNOWN, reason="commands are wrapped too deep", argv=tuple(words)),)
    written = words[0].value
    if written is None or not written or words[0].glob or words[0].tilde:
        return (Judged(kind=Kind.UNKNOWN, reason="the command's name is known only at run time", argv=tuple(words)),)
    name = basename(written)
    if "/" in written and dirname(written) not in _BIN:
        return (_by_path(written, words, depth),)
    named = (replace(words[0], text=name, pieces=(name,)), *words[1:])
    unwrap = _WRAPPERS.get(name)
    if unwrap is not None:
        return unwrap(named, depth)
    return (_known(name, named),)


def _known(name: str, words: Sequence[Word]) -> Judged:
    if name == "git":
        judged = git.judge_git(words[1:])
    elif shell_builtins.is_builtin(name):
        judged = shell_builtins.judge_builtin(name, words[1:])
    elif file_readers.is_reader(name):
        judged = file_readers.judge_reader(name, words[1:])
    elif file_operations.is_filing(name):
        judged = file_operations.judge_filing(name, words[1:])
    elif table.is_program(name):
        judged = table.judge_program(name, words[1:])
    elif re.fullmatch(r"(?:mkfs|fsck)(?:\..+)?", name):
        judged = Judged(kind=Kind.DESTRUCTIVE, reason=f"{name} changes a file system", fatal=True)
    else:
        judged = Judged(kind=Kind.UNKNOWN, reason=f"{name} is not known here")
    return replace(judged, name=name, argv=judged.argv or tuple(words))


def _by_path(written: str, words: Sequence[Word], depth: int) -> Judged:
    name = basename(written)
    if _PROJECT_BIN.fullmatch(dirname(written)):
        found = _known(name, words)
        if found.kind in (Kind.TEST, Kind.BUILD, Kind.INSTALL, Kind.NETWORK, Kind.SERVER):
            return found
        return Judged(
            kind=Kind.RUN,
            reason=f"{written} is a program of the project",
            name=name,
            argv=tuple(words),
            reads=(words[0],),
        )
    if written.startswith("/"):
        return Judged(
            kind=Kind.UNKNOWN, reason=f"{written} lies in no folder for programs", name=name, argv=tuple(words)
        )
    found = _known(name, words)
    climbs = ".." in written.split("/") and found.kind is not Kind.UNKNOWN  # ../../bin/rm is rm
    if name in ("gradlew", "mvnw") or climbs:
        return replace(found, reads=(words[0], *found.reads))
    return Judged(
        kind=Kind.RUN, reason=f"{written} is a program of the project", name=name, argv=tuple(words), reads=(words[0],)
    )


def _inner(words: Sequence[Word], depth: int, wrapper: str) -> tuple[Judged, ...]:
    if not words:
        return (Judged(kind=Kind.UNKNOWN, reason=f"{wrapper} has no command", name=wrapper),)
    return _program(words, depth + 1)


def _wrapper(
    *, valued: tuple[str, ...] = (), flags: tuple[str, ...] = (), operands: int = 0
) -> Callable[[Sequence[Word], int], tuple[Judged, ...]]:
    def unwrap(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
        inner = skip_options(words, valued=valued, flags=flags, operands=operands)
        if inner is None:
            return (
                Judged(
                    kind=Kind.UNKNOWN, reason=f"what {words[0].text} runs is known only at run time", argv=tuple(words)
                ),
            )
        return _inner(inner, depth, words[0].text)

    return unwrap


def _nested(
    judge: Callable[[Sequence[Word], find.Run], tuple[Judged, ...]],
) -> Callable[[Sequence[Word], int], tuple[Judged, ...]]:
    return lambda words, depth: judge(words, lambda inner: _program(inner, depth + 1))


def _env(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    rest = list(words[1:])
    assignments = []
    while rest:
        text = rest[0].known
        if rest[0].splits:
            return (Judged(kind=Kind.UNKNOWN, reason="what env runs is known only at run time", argv=tuple(words)),)
        if text in ("-i", "-", "--ignore-environment", "-0", "--null"):
            rest.pop(0)
        elif text in ("-u", "--unset") and len(rest) > 1:
            del rest[:2]
        elif text.startswith("-"):
            return (
                Judged(kind=Kind.UNKNOWN, reason="env splits or changes the command by this option", argv=tuple(words)),
            )
        elif "=" in text:
            name = text.partition("=")[0]
            assignments.append(Assignment(name=name, text=text))
            rest.pop(0)
        else:
            break
    if not rest:
        return (
            Judged(
                kind=Kind.READ_ONLY,
                reason="env prints the environment, which holds no secrets",
                name="env",
                argv=tuple(words),
            ),
        )
    judged = with_variables(_program(rest, depth + 1), assignments)
    reason = poisoned(assignments, judged)
    return judged if reason is None else (replace(judged[0], kind=Kind.UNKNOWN, reason=reason, name=""), *judged[1:])


def _command(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    if len(words) > 1 and words[1].known in ("-v", "-V"):
        return (Judged(kind=Kind.READ_ONLY, reason="command -v looks a program up", name="command", argv=tuple(words)),)
    return _wrapper(flags=("-p",))(words, depth)


def _other_user(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    if words[0].text in ("docker", "podman") and [word.value for word in words[1:]] in (["--version"], ["--help"]):
        return (Judged(kind=Kind.READ_ONLY, reason="prints its version", name=words[0].text, argv=tuple(words)),)
    inner = skip_options(words, valued=("-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U"))
    judged = _inner(inner, depth, words[0].text) if inner else ()
    own = Judged(
        kind=Kind.UNKNOWN, reason=f"{words[0].text} runs it with other rights", name=words[0].text, argv=tuple(words)
    )
    return (own, *judged)


def _shell(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    rest = list(words[1:])
    name = words[0].text
    if [word.value for word in rest] in (["--version"], ["--help"]):
        return (Judged(kind=Kind.READ_ONLY, reason="prints its version", name=name, argv=tuple(words)),)
    if len(rest) == 2 and rest[0].value == "-n" and not rest[1].known.startswith("-"):
        reason = "only checks the syntax"
        return (Judged(kind=Kind.READ_ONLY, reason=reason, name=name, argv=tuple(words), reads=(rest[1],)),)
    while (
        rest
        and rest[0].value is not None
        and re.fullmatch(r"-[eux]+|--norc|--noprofile|-o|pipefail|errexit|nounset", rest[0].value)
    ):
        rest.pop(0)
    if rest and rest[0].value is not None and re.fullmatch(r"-[eulx]*c[eulx]*", rest[0].value):
        if len(rest) > 1 and rest[1].value is not None and "l" not in rest[0].value:
            return _line(rest[1].value, words, depth)
        return (
            Judged(kind=Kind.UNKNOWN, reason="the inner command line is known only at run time", argv=tuple(words)),
        )
    if rest and rest[0].value is not None and not rest[0].value.startswith("-"):
        return (
            Judged(
                kind=Kind.RUN,
                reason=f"runs the script {rest[0].value}",
                name=words[0].text,
                argv=tuple(words),
                reads=(rest[0],),
                steers=(rest[0],),
            ),
        )
    reason = "the shell reads commands from its input"
    return (Judged(kind=Kind.UNKNOWN, reason=reason, name=words[0].text, argv=tuple(words)),)


def _applet(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    """`busybox rm ...` is `rm ...`."""
    return _inner(words[1:], depth, words[0].text)


def _eval(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    values = [word.value for word in words[1:]]
    if any(value is None for value in values):
        return (Judged(kind=Kind.UNKNOWN, reason="what eval runs is known only at run time", argv=tuple(words)),)
    return _line(" ".join(value for value in values if value is not None), words, depth)


def _line(line: str, words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    if depth >= _DEEPEST:
        return (Judged(kind=Kind.UNKNOWN, reason="commands are wrapped too deep", argv=tuple(words)),)
    script = read_line(line, inner=True)
    judged = [
        one for command in script.commands for one in _with_redirects(command, classify(command, depth=depth + 1))
    ]
    judged += [Judged(kind=Kind.UNKNOWN, reason=one.reason) for one in script.opaque]
    return tuple(judged) or (Judged(kind=Kind.READ_ONLY, reason="runs nothing", argv=tuple(words)),)


def _with_redirects(command: ShellCommand, judged: tuple[Judged, ...]) -> tuple[Judged, ...]:
    writes = tuple(one.target for one in command.redirects if one.writes)
    reads = tuple(one.target for one in command.redirects if not one.writes and not one.operator.startswith("<<<"))
    found = [*judged]
    if writes or reads:
        found.append(
            Judged(kind=Kind.WRITE if writes else Kind.READ_ONLY, reason="redirects", reads=reads, writes=writes)
        )
    return tuple(replace(one, folders=nested(command.folders, one.folders)) for one in found)


def _watch(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    """`watch` joins its words and hands them to a shell."""
    inner = skip_options(words, valued=("-n", "--interval"), flags=("-[dtbegcwp]+", "-n[0-9.]+", "--interval=[0-9.]+"))
    values = [word.value for word in inner or ()]
    if not values or None in values or any(word.glob for word in inner or ()):
        return (Judged(kind=Kind.UNKNOWN, reason="what watch runs is known only at run time", argv=tuple(words)),)
    return _line(" ".join(value for value in values if value is not None), words, depth)


def _source(words: Sequence[Word], _depth: int) -> tuple[Judged, ...]:
    script = tuple(words[1:2])
    return (
        Judged(
            kind=Kind.RUN,
            reason="runs a file in this shell, which may change what every later command is",
            name="source",
            argv=tuple(words),
            reads=script,
            steers=script,
        ),
    )


def _project_run(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    """`uv run`, `poetry run` and the like: the project's environment around a command."""
    name = words[0].text
    rest = list(words[1:])
    if not rest or rest[0].value not in ("run", "exec") or (name == "bundle" and rest[0].value != "exec"):
        return (_known(name, words),)
    inner = skip_options(rest, valued=names("--extra --group -e --package"), flags=_PROJECT_FLAGS)
    if inner is None:
        judged = Judged(
            kind=Kind.INSTALL, reason=f"{name} run may install what it is told", name=name, argv=tuple(words)
        )
        return (with_paths(judged, name, words[1:]),)
    return _inner(inner, depth, name)


_CHECKERS = frozenset(names("jest vitest mocha ava eslint tslint stylelint tsc prettier playwright cypress"))


def _npx(words: Sequence[Word], depth: int) -> tuple[Judged, ...]:
    if any(word.known in ("--no-install", "--no", "--offline") for word in words[1:2]):
        return _inner(tuple(words[2:]), depth, "npx")
    # The project's own checker; where it has none, that is said: there is no network.
    if len(words) > 1 and words[1].known in _CHECKERS:
        return _inner(tuple(words[1:]), depth, "npx")
    return (_known(words[0].text, words),)


def _never(words: Sequence[Word], _depth: int) -> tuple[Judged, ...]:
    return (
        Judged(
            kind=Kind.UNKNOWN,
            reason=f"{words[0].text} changes what later commands do",
            name=words[0].text,
            argv=tuple(words),
        ),
    )


_WRAPPERS: dict[str, Callable[[Sequence[Word], int], tuple[Judged, ...]]] = {
    **{
        "env": _env,
        "command": _command,
        "xargs": _nested(find.judge_xargs),
        "find": _nested(find.judge_find),
        "gfind": _nested(find.judge_find),
        "fd": _nested(find.judge_fd),
        "fdfind": _nested(find.judge_fd),
        "eval": _eval,
        "npx": _npx,
    },
    **dict.fromkeys(names("nohup builtin exec time setsid chronic unbuffer"), _wrapper(flags=("-[pwf]",))),
    "nice": _wrapper(valued=("-n", "--adjustment"), flags=(r"-n?-?\d+", r"--adjustment=-?\d+")),
    "ionice": _wrapper(valued=("-n", "-c"), flags=(r"-[nc]\d", "-t")),
    "taskset": _wrapper(valued=("-c", "--cpu-list")),
    "stdbuf": _wrapper(valued=("-i", "-o", "-e"), flags=(r"-[ioe]\w+",)),
    "timeout": _wrapper(
        valued=("-s", "-k", "--signal", "--kill-after"),
        flags=("-v", "--verbose", "--foreground", "--preserve-status", r"-[sk]\w+", r"--(?:signal|kill-after)=\w+"),
        operands=1,
    ),
    "watch": _watch,
    **dict.fromkeys(names("sudo doas su runuser pkexec unshare nsenter bwrap firejail docker podman"), _other_user),
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(("busybox", "toybox"), _applet),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(
        names("alias unalias trap enable bind complete compgen mapfile readarray disown fc coproc parallel"), _never
    ),
    **dict.fromkeys(("uv", "poetry", "pdm", "hatch", "rye", "pipenv", "bundle", "mise"), _project_run),
}
