"""Commands that bash itself carries out: what they change in the shell, and what they let run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentforge.safety.shell.grammar.options import sort_arguments
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_VARIABLE = re.compile(r"[a-z_][a-z0-9_]*")
_SET = re.compile(r"[-+][euxfC]+o?|-o|\+o|pipefail|errexit|nounset|xtrace|noglob")
_PLAIN = names(": true false echo times exit return break continue shift dirs cd pushd popd umask ulimit type help")


def judge_builtin(name: str, words: Sequence[Word]) -> Judged:
    """Judge a builtin of bash by its arguments.

    Args:
        words: the arguments after the name.
    """
    return _BUILTINS[name](name, words)


def is_builtin(name: str) -> bool:
    """Whether a builtin of this name is judged here."""
    return name in _BUILTINS


def _unknown(reason: str) -> Judged:
    return Judged(kind=Kind.UNKNOWN, reason=reason)


def _harmless(reason: str) -> Judged:
    return Judged(kind=Kind.READ_ONLY, reason=reason)


def _plain(name: str, _words: Sequence[Word]) -> Judged:
    return _harmless(f"{name} changes nothing but this shell")


def _printf(_name: str, words: Sequence[Word]) -> Judged:
    if words and (words[0].value is None or words[0].glob or words[0].known.startswith("-v")):
        return _unknown("printf may set a variable or take its format from the run")
    return _harmless("printf only prints")


def _set(_name: str, words: Sequence[Word]) -> Judged:
    if all(word.value is not None and _SET.fullmatch(word.value) for word in words):
        return _harmless("sets an option of this shell")
    return _unknown("changes this shell")


def _alone(name: str, words: Sequence[Word]) -> Judged:
    return _unknown(f"{name} with arguments changes this shell") if words else _harmless(f"{name} only prints")


def _shopt(name: str, words: Sequence[Word]) -> Judged:
    """What patterns stand for, hidden files left out; the other options change how the line is read."""
    known = {"-s", "-u", "-q", "-p", "globstar", "nullglob", "failglob"}
    if all(word.value in known for word in words):
        return _harmless(f"{name} changes what a pattern that names nothing stands for")
    return _unknown(f"{name} changes what later commands do")


def _kill(name: str, words: Sequence[Word]) -> Judged:
    """`kill %1` ends what this very line began."""
    if words and all(re.fullmatch(r"%\d+|-(?:TERM|INT|HUP|KILL|15|2|9)", word.known) for word in words):
        return _harmless(f"{name} ends a job of this shell")
    return Judged(kind=Kind.DESTRUCTIVE, reason=f"{name} changes the machine or stops other programs")


def _jobs(name: str, words: Sequence[Word]) -> Judged:
    """`jobs -x` runs a command, `wait -p` fills a variable."""
    flags = "-[lprs]+" if name == "jobs" else "-[nf]"
    if all(word.value is not None and re.fullmatch(rf"{flags}|%?[\w+]+", word.value) for word in words):
        return _harmless(f"{name} looks at jobs of this shell")
    return _unknown(f"{name} runs or changes something by this argument")


def _read(_name: str, words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-d", "-n", "-N", "-p", "-t", "-u"))
    known = given.only(names("-r -s -d -n -N -p -t -u")) and not given.dynamic
    if known and all(word.value is not None and _VARIABLE.fullmatch(word.value) for word in given.operands):
        return _harmless("read fills a variable")
    return _unknown("read may set a variable that changes what is run")


def _test(name: str, words: Sequence[Word]) -> Judged:
    given = sort_arguments(words)
    if given.dynamic or given.has("-v", "-R"):
        return _unknown(f"{name} may look at a variable whose subscript runs code")
    return _harmless(f"{name} only compares")


_BUILTINS: dict[str, Callable[[str, Sequence[Word]], Judged]] = {
    **dict.fromkeys(_PLAIN, _plain),
    **dict.fromkeys(("history", "hash"), _alone),
    **{"kill": _kill, "shopt": _shopt},
    **dict.fromkeys(("jobs", "wait"), _jobs),
    **dict.fromkeys(("test", "["), _test),
    **{"printf": _printf, "set": _set, "read": _read},
}
