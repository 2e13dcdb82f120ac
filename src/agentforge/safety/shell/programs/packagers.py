"""Package programs (npm, pip, cargo, ...): which of their verbs list, test, build, install or talk to a registry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

PACKAGERS = frozenset(
    names("pip pip3 uv poetry pdm hatch rye pipenv npm pnpm yarn cargo go dotnet bun deno mix rebar3 swift")
)
REASON = {
    Kind.TEST: "{name} runs tests or checks",
    Kind.BUILD: "{name} builds or formats",
    Kind.INSTALL: "{name} installs or removes packages",
    Kind.NETWORK: "{name} talks to other machines",
    Kind.SERVER: "{name} starts something that stays",
    Kind.DESTRUCTIVE: "{name} changes the machine or stops other programs",
    Kind.RUN: "{name} runs a program of the project",
}
_SCRIPT_KINDS = (
    (
        re.compile(
            r"(?:unit|integration|e2e|ci)?[-_:]?(?:tests?|checks?|lint|typecheck|types|tsc|coverage|cov|spec|verify)(?:[-_:.].*)?"
        ),
        Kind.TEST,
    ),
    (
        re.compile(r"(?:build|compile|format|fmt|docs?|clean|prepare|all|help|bundle|generate|gen)(?:[-_:.].*)?"),
        Kind.BUILD,
    ),
    (re.compile(r"(?:start|dev|serve|watch|preview|server|run)(?:[-_:.].*)?"), Kind.SERVER),
)
_LEAVES = re.compile(
    r"(?:install|uninstall|publish|deploy|release|push|upload|dist-upload|bump|login|purge|wipe|nuke|destroy|reset|drop).*"
)


_OTHER_PROGRAM = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn"),
        re.compile(r"--(?:script-shell|node-options|shell-emulator|git|editor|viewer|userconfig|globalconfig)(?:=|$)"),
    ),
    **dict.fromkeys(("pip", "uv"), re.compile(r"--python(?:=|$)|-p$")),
}
"""Options that name what is run instead of what the project names."""
_LISTS = frozenset(names("list ls show freeze check tree why help licenses metadata"))
_INSTALLS = frozenset(
    names(
        "install i ci add remove rm uninstall un update upgrade up sync lock download get fetch vendor link unlink "
        "rebuild dedupe prune import self python tool pip init new create cache wheel exec x dlx mod generate work "
        "clean store bin"
    )
)
_UPLOADS = frozenset(
    names(
        "publish login logout adduser owner yank deprecate access token unpublish push search upload star ping view info "
        "outdated audit index debug"
    )
)
_VERB_KINDS: dict[str, dict[str, Kind]] = {
    "cargo": {
        **dict.fromkeys(("test", "clippy", "check", "bench", "nextest"), Kind.TEST),
        **dict.fromkeys(("build", "fmt", "doc", "b", "c", "clean"), Kind.BUILD),
        "run": Kind.RUN,
        "tree": Kind.READ_ONLY,
        "metadata": Kind.READ_ONLY,
        "t": Kind.TEST,
    },
    "go": {
        **dict.fromkeys(("test", "vet"), Kind.TEST),
        **dict.fromkeys(("build", "fmt", "clean"), Kind.BUILD),
        "run": Kind.RUN,
        **dict.fromkeys(("list", "doc", "env", "version"), Kind.READ_ONLY),
    },
    "npm": {
        "explain": Kind.READ_ONLY,
        **dict.fromkeys(("test", "t", "tst"), Kind.TEST),
        "start": Kind.SERVER,
        "build": Kind.BUILD,
    },
    "pnpm": {
        **dict.fromkeys(("test", "t", "lint"), Kind.TEST),
        **dict.fromkeys(("start", "dev"), Kind.SERVER),
        "build": Kind.BUILD,
    },
    "yarn": {
        **dict.fromkeys(("test", "lint"), Kind.TEST),
        **dict.fromkeys(("start", "dev"), Kind.SERVER),
        "build": Kind.BUILD,
        "": Kind.INSTALL,
    },
    "bun": {"test": Kind.TEST, "build": Kind.BUILD, "run": Kind.RUN},
    "deno": {
        **dict.fromkeys(("test", "check", "lint"), Kind.TEST),
        **dict.fromkeys(("fmt", "compile"), Kind.BUILD),
        "run": Kind.RUN,
    },
    "uv": {"build": Kind.BUILD, "venv": Kind.BUILD, "format": Kind.BUILD},
    "poetry": {"build": Kind.BUILD},
    "hatch": {"build": Kind.BUILD, "fmt": Kind.BUILD, "test": Kind.TEST},
    "dotnet": {"test": Kind.TEST, "build": Kind.BUILD, "format": Kind.BUILD, "run": Kind.RUN},
    "swift": {"test": Kind.TEST, "build": Kind.BUILD, "run": Kind.RUN},
    "mix": {"test": Kind.TEST, "compile": Kind.BUILD, "format": Kind.BUILD},
}


_ASKS = {
    "npm": re.compile(r"pkg get(?: [\w.\[\]-]+)*"),
    "go": re.compile(r"mod (?:graph|verify)|mod why(?: -m)?(?: [\w./-]+)+|tool cover -func=[\w.-]+"),
}
"""What two words of a program ask, of which the first alone may do more."""


def judge_packager(name: str, words: Sequence[Word]) -> Judged:
    """Judge a package program by its verb.

    Args:
        words: the arguments after the name.
    """
    name = "pip" if name == "pip3" else name
    own = ("version",) if name in ("go", "npm", "uv") else ()
    if only_asks(words, "-V", "-v", "-h", *own):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    if name in _OTHER_PROGRAM and any(_OTHER_PROGRAM[name].match(word.known) for word in words):
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} is told by an option what to run")
    rest = list(words)
    while rest and rest[0].known.startswith("-") and rest[0].known not in ("-h", "--help"):
        option = rest.pop(0)
        if (
            option.known in names("-C --prefix --cwd --directory --project -w --workspace --filter --manifest-path")
            and rest
        ):
            rest.pop(0)
    verb = rest[0].known if rest else ""
    only_prints = name in _ASKS and _ASKS[name].fullmatch(" ".join(word.known for word in rest))
    found = Kind.READ_ONLY if only_prints else _VERB_KINDS.get(name, {}).get(verb)
    if found is not None:
        return _own_verb(name, verb, rest[1:], found)
    if verb == "run" or (name in ("npm", "pnpm", "yarn", "bun") and verb in ("run-script",)):
        return _run_script(name, rest[1:])
    if verb == "pip" and name == "uv":
        return judge_packager("pip", rest[1:])
    asks_registry = any(
        re.match(r"-o$|-i$|--outdated|--uptodate|--(?:extra-)?index|--latest", word.known) for word in rest
    )
    listing = first_word(rest[1:]) in (("list", "get") if verb == "config" else ("list", "info", "show"))
    if verb in _LISTS or (verb in ("config", "env") and listing):
        if asks_registry:
            return Judged(kind=Kind.NETWORK, reason=f"{name} {verb} asks a registry by this option")
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} {verb} only prints")
    if verb in _UPLOADS:
        return Judged(kind=Kind.NETWORK, reason=f"{name} {verb} talks to a registry")
    if verb in _INSTALLS or (name == "pip" and verb):
        return Judged(kind=Kind.INSTALL, reason=f"{name} {verb} installs or removes packages")
    if name == "yarn" and re.fullmatch(r"[\w:.-]+", verb):
        return _run_script(name, rest)
    return Judged(kind=Kind.UNKNOWN, reason=f"{name} {verb} is not known here")


def only_asks(words: Sequence[Word], *also: str) -> bool:
    """Whether a program is only asked for its version or help; `also` are its own words for that."""
    return len(words) == 1 and words[0].value in ("--version", "--help", *also)


def script_kind(target: str) -> Kind:
    """What a target or script of the project of this name does, by its name: a project names its own work."""
    if any(_LEAVES.fullmatch(part) for part in re.split(r"[-_:.]", target)):
        return Kind.UNKNOWN
    return next((kind for pattern, kind in _SCRIPT_KINDS if pattern.fullmatch(target)), Kind.RUN)


def first_word(words: Sequence[Word]) -> str:
    """The first argument that is no option, or the only one."""
    return next((word.known for word in words if not word.known.startswith("-") or len(words) == 1), "")


def _own_verb(name: str, verb: str, words: Sequence[Word], kind: Kind) -> Judged:
    steering = {"cargo": ("--config",), "go": ("-exec", "-toolexec", "-vettool")}.get(name, ())
    if steering and any(word.known.partition("=")[0] in steering for word in words):
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} {verb} runs another program by such an option")
    if name == "go" and verb == "env" and any(word.known in ("-w", "-u") for word in words):
        return Judged(kind=Kind.UNKNOWN, reason="go env -w changes how go runs later")
    return Judged(kind=kind, reason=f"{name} {verb}: " + REASON.get(kind, "{name} only prints").format(name=name))


def _run_script(name: str, words: Sequence[Word]) -> Judged:
    script = next((word for word in words if not word.known.startswith("-")), None)
    if script is None:
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} run lists its scripts")
    if script.value is None or "/" in script.known:
        return Judged(kind=Kind.RUN if script.value else Kind.UNKNOWN, reason=f"{name} runs {script.text}")
    kind = script_kind(script.value)
    return Judged(kind=kind, reason=f"{name} run {script.value}: a script of the project")
