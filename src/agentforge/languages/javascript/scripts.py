"""Reads the scripts of package.json: which commands `npm test` comes to, and how the packages of a workspace run theirs."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_STARTERS = frozenset(
    {
        "npx", "bunx", "pnpx", "cross-env", "cross-env-shell", "c8", "nyc", "dotenv", "env-cmd", "env", "time", "exec",
        "istanbul", "cover", "wtfnode", "coverage",
    }
)  # fmt: skip
"""Programs that start the command that follows them, and measure or equip it."""
_RUNNERS = frozenset({"mocha", "_mocha", "vitest", "jest", "ava", "tape", "tap", "uvu", "jasmine", "qunit", "lab"})
_STARTED = frozenset({"node", "tsx", "ts-node", "bun", "deno", "esmo", "jiti", "borp"})
_BEFORE_A_BINARY = frozenset({"exec", "dlx", "x", "--"})
_RUNS_A_SCRIPT = frozenset({"run", "run-script", "rum", "urn"})
_CHECKERS = frozenset(
    {
        "standard", "semistandard", "ts-standard", "neostandard", "eslint", "xo", "prettier", "jshint", "jscs", "tslint",
        "biome", "tsd", "tstyche", "oxlint", "oxfmt", "dtslint", "snazzy", "attw", "publint", "size-limit", "knip", "madge",
        "markdownlint", "cspell", "depcheck", "commitlint", "dprint", "check-dts", "vue-tsc", "echo", "rimraf", "del-cli",
        "tsc-silent", "bundlesize", "airtap", "lockfile-lint", "gts", "aegir", "playwright", "cypress",
    }
)  # fmt: skip
_ONLY_TYPES = frozenset({"tsc", "tsgo", "vue-tsc", "flow"})
_CHECKING = re.compile(r"(?:lint|format|fmt|types?|typecheck|check-?types?|prettier|size)(?::[\w:-]+)?")
_TOGETHER = frozenset({"run-s", "run-p", "npm-run-all", "npm-run-all2"})
_ELSEWHERE = frozenset(
    {
        "--workspaces", "-ws", "-r", "--recursive", "workspaces", "turbo", "lerna", "nx", "--workspace", "-w", "--filter",
        "-C", "--prefix", "--cwd", "workspace", "wsrun", "ultra",
    }
)  # fmt: skip
_DEPTH = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command that a script comes to.

    Attributes:
        text: the command as the script has it, for a shell.
        words: the program that it starts and its arguments, without what only starts or measures it; () when nobody can tell.
        env: variables that it sets before.
        checks: it looks at the code, and runs no tests and builds nothing that they need.
    """

    text: str
    words: tuple[str, ...] = ()
    env: Mapping[str, str]
    checks: bool = False


def steps(name: str, scripts: Mapping[str, Any]) -> list[Step]:
    """List the commands that `npm run NAME` comes to, in their order; scripts that call scripts are followed.

    Args:
        scripts: the table `scripts` of package.json.
    """
    return list(_of_script(name, scripts, _DEPTH))


def script_steps(script: str, scripts: Mapping[str, Any]) -> list[Step]:
    """List the commands of the text of a script."""
    return list(_followed(script, scripts, _DEPTH))


def unwrapped_words(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Take a command out of what only starts it: `c8 -r html cross-env A=1 mocha x` is mocha with the variable A.

    Returns:
        the variables that are set for it, and its words.
    """
    env: dict[str, str] = {}
    rest = list(words)
    while rest:
        name, mark, value = rest[0].partition("=")
        if mark and name.isidentifier():
            env[name] = value
            rest.pop(0)
        elif rest[0].rpartition("/")[2] in _STARTERS:
            rest = _after_options(rest[1:])
        elif rest[0] in _MANAGERS and rest[1:2] and rest[1] in _BEFORE_A_BINARY:
            rest = _after_options(rest[2:])
        else:
            break
    return env, tuple(rest)


def program_words(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The same for a command that is no script: `yarn run -s mocha x` is mocha, a program of node_modules."""
    env, plain = unwrapped_words(words)
    while plain and plain[0] in _MANAGERS - {"npm"}:
        at = next(
            (at for at, word in enumerate(plain) if at and not word.startswith("-") and word not in _RUNS_A_SCRIPT), 0
        )
        if not at:
            break
        more, plain = unwrapped_words(plain[at:])
        env |= more
    return env, plain


def over_workspaces(repo: Path, package: Mapping[str, Any], names: Sequence[str], script: str) -> list[str] | None:
    """One command for the tests of all packages of a workspace; None where they do not run theirs in one and the same way."""
    folders = list(workspace_folders(repo, package, names))
    if not folders or not (_ELSEWHERE & set(script.split())):
        return None
    commands: set[tuple[str, ...]] = set()
    for folder in folders:
        own = read_package(repo / folder / "package.json")
        scripts = own.get("scripts") or {}
        test = scripts.get("test", "") if isinstance(scripts, dict) else ""
        if test and "no test specified" not in test:
            found = [step.words for step in script_steps(test, scripts) if not step.checks]
            commands |= {tuple(word for word in words if word not in ("run", "--run")) for words in found} or {()}
    if len(commands) != 1:
        return None
    words = list(next(iter(commands)))
    configured = any(
        name.rpartition("/")[2].startswith(("vitest.config", "vite.config")) for name in names if "/" in name
    )
    if words == ["node", "--test"] or (words == ["vitest"] and not configured):
        return words
    if words == ["jest"]:
        return ["jest", *(f"--projects={folder}" for folder in folders)]
    return ["mocha", *(f"{folder}/test/**/*.{{js,cjs,mjs}}" for folder in folders)] if words == ["mocha"] else None


def workspace_folders(repo: Path, package: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """The folders of the packages of a workspace, as package.json or pnpm-workspace.yaml names them."""
    told = package.get("workspaces") or _pnpm_packages(repo) or ["packages/*"]
    patterns = told.get("packages", []) if isinstance(told, dict) else told
    folders = [name.removesuffix("/package.json") for name in names if name.endswith("/package.json")]
    for folder in sorted(folders):
        if any(fnmatch.fnmatchcase(folder, str(pattern).removeprefix("./").rstrip("/")) for pattern in patterns):
            yield folder


def read_package(path: Path) -> dict[str, Any]:
    """The object of a package.json; {} when there is none, or it is none."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _pnpm_packages(repo: Path) -> list[str]:
    """The patterns under `packages:` of pnpm-workspace.yaml."""
    try:
        lines = (repo / "pnpm-workspace.yaml").read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []
    found: list[str] = []
    inside = False
    for line in lines:
        if line[:1].strip() and not line.startswith("-"):
            inside = line.split("#")[0].strip() == "packages:"
        elif inside and line.strip().startswith("-"):
            found.append(line.strip().removeprefix("-").strip().strip("'\""))
    return [pattern for pattern in found if not pattern.startswith("!")]


def _of_script(name: str, scripts: Mapping[str, Any], depth: int) -> Iterator[Step]:
    """What npm runs for a script: the one that is called before it, and itself."""
    for one in (f"pre{name}", name):
        text = scripts.get(one)
        if isinstance(text, str):
            yield from _followed(text, scripts, depth)


def _followed(script: str, scripts: Mapping[str, Any], depth: int) -> Iterator[Step]:
    """The commands of a script with `npm run other` replaced by what that stands for."""
    for text in _commands(script):
        try:
            words = shlex.split(text)
        except ValueError:
            words = []
        if not words:
            yield Step(text=text, env={})
            continue
        env, plain = unwrapped_words(words)
        called = _called(plain, scripts) if depth else None
        if called is None or _only_checks(plain):
            more_env, program = program_words(plain)
            yield Step(
                text=text, words=program, env={**env, **more_env}, checks=_only_checks(plain) or _only_checks(program)
            )
            continue
        for name, more in called:
            inner = list(_of_script(name, scripts, depth - 1))
            for number, step in enumerate(inner, start=1):
                last = number == len(inner)
                yield Step(
                    text=" ".join((step.text, *map(shlex.quote, more))) if last else step.text,
                    words=(*step.words, *more) if last and step.words else step.words,
                    env={**env, **step.env},
                    checks=step.checks,
                )


def _commands(script: str) -> Iterator[str]:
    """The commands of a line of a shell. What a command's output is piped into, and what runs only if it fails, is no step."""
    start, at, quote, taken = 0, 0, "", True
    while at < len(script):
        sign = script[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign == "\\":
            at += 1
        elif sign in "&|;\n" and not (sign == "&" and script[at - 1 : at] == ">"):
            if taken and script[start:at].strip():
                yield _without_redirection(script[start:at].strip())
            double = script[at : at + 2] in ("&&", "||")
            taken = sign in ";\n&"
            at += double
            start = at + 1
        at += 1
    if taken and script[start:].strip():
        yield _without_redirection(script[start:].strip())


def _without_redirection(command: str) -> str:
    return re.sub(r"\s+\d?>>?\s*(?:&\d|\S+)\s*$", "", command)


def _called(words: Sequence[str], scripts: Mapping[str, Any]) -> list[tuple[str, list[str]]] | None:
    """The scripts that a command starts, each with what is added to it; None when it starts none of these."""
    if not words:
        return None
    if words[0] in _TOGETHER:
        names = [word for word in words[1:] if not word.startswith("-")]
        return [(name, []) for word in names for name in _matching(word, scripts)] or None
    if words[0] == "concurrently":
        return [(word[4:], []) for word in words[1:] if word.startswith("npm:") and word[4:] in scripts] or None
    if words[0] not in _MANAGERS or _ELSEWHERE & set(words):
        return None
    rest = [word for word in words[1:] if word not in (*_RUNS_A_SCRIPT, "-s", "--silent")]
    if rest[:1] == ["t"] and words[0] == "npm":
        rest[0] = "test"
    if not rest or rest[0] not in scripts:
        return None
    more = rest[1:]
    return [(rest[0], more[1:] if more[:1] == ["--"] else more)]


def _after_options(words: Sequence[str]) -> list[str]:
    """What a starter starts: its options and their values are passed over up to a program that is known, if there is one."""
    for at, word in enumerate(words):
        if word == "--":
            return list(words[at + 1 :])
        name = word.rpartition("/")[2]
        if name in _STARTED | _STARTERS | _MANAGERS | _CHECKERS | _RUNNERS or re.match(r"[A-Z_]+=", word):
            return list(words[at:])
    first = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    return list(words[first:])


def _matching(word: str, scripts: Mapping[str, Any]) -> Iterator[str]:
    """`test:*` is every script of that form."""
    yield from (name for name in scripts if fnmatch.fnmatchcase(name, word.replace("**", "*")))


def _only_checks(words: Sequence[str]) -> bool:
    """Whether a command looks at the code and builds nothing."""
    name = words[0].rpartition("/")[2] if words else ""
    if name in (*_MANAGERS, *_TOGETHER):
        called = [word for word in words[1:] if not word.startswith("-") and word not in _RUNS_A_SCRIPT]
        return bool(called) and all(_CHECKING.fullmatch(one) for one in called)
    return name in _CHECKERS or (name in _ONLY_TYPES and "--noEmit" in words)
