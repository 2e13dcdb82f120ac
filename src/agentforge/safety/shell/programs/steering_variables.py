"""The variables of a command: harmless, steering what is run, or naming where an interpreter looks for modules.

`PYTHONPATH=/tmp/copy python t.py` runs code from the folder that it names, which is judged as a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentforge.safety.shell.grammar.syntax import Assignment, ShellCommand, Word
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged
from agentforge.safety.shell.programs.named_paths import with_assigned

_HARMLESS_NAMES = re.compile(
    r"(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|TERM|TZ|LANG|LANGUAGE|LC_[A-Z]+|DEBUG|VERBOSE|LOG_LEVEL|"
    r"PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|PYTHONHASHSEED|PYTHONUTF8|PYTHONWARNINGS|RUST_BACKTRACE|RUST_LOG|NODE_ENV|MAKEFLAGS_NONE|"
    r"SOURCE_DATE_EPOCH|HYPOTHESIS_PROFILE|DJANGO_SETTINGS_MODULE|FLASK_ENV|RAILS_ENV|[a-z_][a-z0-9_]*)"
)
_STEERING = re.compile(
    r"(?:PATH|CDPATH|IFS|ENV|HOME|PWD|OLDPWD|SHELL|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|GLOBIGNORE|TMPDIR|PS4|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|LESS\w*|"
    r"MANPAGER|BROWSER|BASH_\w+|LD_\w+|DYLD_\w+|GIT_\w+|SSH_\w+|PYTHON(?:PATH|STARTUP|HOME|INSPECT|BREAKPOINT|EXECUTABLE|USERBASE|PLATLIBDIR)|"
    r"PYTEST_\w+|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS)|NPM_CONFIG_\w+|npm_config_\w+|PERL5?(?:LIB|OPT|DB)\w*|RUBY(?:LIB|OPT)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|MAKEFLAGS|"
    r"MAKEFILES|RIPGREP_\w+|BAT_\w+|UGREP\w*|ACK\w*|JQ_\w+|TAR_OPTIONS|GZIP|ZIPOPT|UNZIP\w*|XZ_\w+|BZIP2?|GREP_\w+|AWK\w*PATH|"
    r"MAN(?:PATH|OPT|ROFFOPT)|GROFF_\w+|GCONV_PATH|LOCPATH|NLSPATH|TERMINFO\w*|TERMCAP|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN|GLIBC_\w+|MALLOC_\w+|"
    r"OPENSSL_\w+|SSL_\w+|CURL_\w+|KUBECONFIG|DOCKER_\w+|XDG_\w+|(?:POETRY|GRADLE|MAVEN|DENO|BUN|YARN|COMPOSER|GEM|BUNDLE|TOX|COVERAGE|MYPY)_?\w+|"
    r"DEBUGINFOD_\w+|VIM\w*|EXINIT|PHPRC|PHP_\w+|LUA_\w+|RUSTFLAGS|CFLAGS|CXXFLAGS|LDFLAGS|CC|CXX|LD|RUSTC\w*|CARGO_\w+|GOFLAGS|GOPROXY|GOENV|GOWORK|GOTOOLCHAIN|GOROOT|PIP_\w+|UV_\w+|[A-Za-z]*_?[Pp][Rr][Oo][Xx][Yy]|AGENTFORGE_\w+|\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*|\w*_URL)"
)
_OWN_SOURCES = re.compile(
    r"PYTHONPATH=(?:(?P<quote>\"?)(?:\.|\$PWD|\$\{PWD\}|\$\(pwd\))(?:/(?:src|lib|python))?(?P=quote)|src|lib|python)"
    r"(?::(?:\.|(?:\./)?(?:src|lib|tests)))?"
    r"|NODE_OPTIONS=(?:--(?:experimental-vm-modules|no-warnings|enable-source-maps|max-old-space-size=\d+))"
    r"|GOFLAGS=-(?:mod=(?:mod|vendor|readonly)|count=\d+|race|short|v)"
)
_OWN_BUILDS = re.compile(r"CARGO_TARGET_DIR=(?:/var)?/tmp(?:/[\w-]+)+")
"""Where one command builds; the place itself is judged as a path, and lies in the sandbox where there is one."""
_SEARCHED = frozenset({"PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB"})
"""Lists of folders in which an interpreter looks for modules."""
_VARIABLE = re.compile(r"\$\{\w+\}|\$\w+|\$\(pwd\)")
_CODE = (Kind.TEST, Kind.BUILD, Kind.RUN, Kind.SERVER)


def with_variables(
    judged: tuple[Judged, ...], assignments: Sequence[Assignment], *, bare: bool = False
) -> tuple[Judged, ...]:
    """Add what the paths in the variables of one command are to it; a bare one sets them for the commands after it."""
    judged = judged if bare else with_assigned(judged, assignments)
    lists = [_folders(one) for one in assignments if not _OWN_SOURCES.fullmatch(one.text)]
    steers = tuple(word for found in lists for word in found or ())
    if not steers or not (bare or _runs_code(judged)):
        return judged
    reason = "runs code of the folders that a variable names"
    return tuple(replace(one, kind=Kind.RUN, reason=reason, steers=(*one.steers, *steers)) for one in judged)


def poisoned(assignments: Sequence[Assignment], judged: Sequence[Judged]) -> str | None:
    """Why a variable makes the command another one, or None."""
    own = (_OWN_SOURCES, _OWN_BUILDS)
    assignments = [one for one in assignments if not any(shape.fullmatch(one.text) for shape in own)]
    runs_code = _runs_code(judged)
    for one in assignments:
        if one.name == "IFS" and all(item.name == "read" for item in judged):
            continue  # it says where `read` splits its line
        if runs_code and _folders(one) is not None:
            continue  # its folders are judged as paths
        if _STEERING.fullmatch(one.name):
            return f"{one.name} changes what is run or where it talks to"
        if not (_HARMLESS_NAMES.fullmatch(one.name) or runs_code or all(not item.argv for item in judged)):
            return f"{one.name} is not a variable that is known to be harmless"
    return None


def handed_on(command: ShellCommand) -> str | None:
    """Why a variable that later commands get makes them other ones, or None."""
    own = [one.name for one in command.assignments if _OWN_SOURCES.fullmatch(one.text) or _folders(one) is not None]
    return next(
        (
            f"{name} is handed on to later commands"
            for name in command.exported
            if not _HARMLESS_NAMES.fullmatch(name) and name not in own
        ),
        None,
    )


def _runs_code(judged: Sequence[Judged]) -> bool:
    return all(one.kind in _CODE for one in judged)


def _folders(assignment: Assignment) -> tuple[Word, ...] | None:
    """The folders of a search path; None for other variables, and where a folder cannot be told or may climb from somewhere."""
    if assignment.name not in _SEARCHED:
        return None
    value = _VARIABLE.sub("\0", assignment.text.partition("=")[2].replace('"', "").replace("'", ""))
    pieces = [piece for piece in value.split(":") if piece]
    unread = any(mark in value for mark in "$`\\*?[{")
    climbs = any("\0" in piece and ".." in piece.split("/") for piece in pieces)
    return None if unread or climbs else tuple(word for piece in pieces for word in _words(piece))


def _words(piece: str) -> Iterator[Word]:
    """A folder as a path; one that only the run knows also as what is known of it."""
    known, unknown, _ = piece.partition("\0")
    if known:
        yield Word(text=known, pieces=(known,), tilde=known.startswith("~"))
    if unknown:
        yield Word(text=piece.replace("\0", "..."), pieces=(None,))
