"""Programs that run code or leave the machine: test runners, builders, installers, interpreters, servers, network clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentforge.safety.shell.classes import CommandClass as Kind
from agentforge.safety.shell.classes import Judged
from agentforge.safety.shell.options import sort_arguments, tail
from agentforge.safety.shell.syntax import Word, names

_BY_NAME: dict[Kind, str] = {
    Kind.TEST: (
        "pytest py.test tox nox unittest nosetests jest vitest mocha ava karma cypress phpunit rspec ctest gotestsum "
        "behave robot coverage mypy pyright basedpyright ty flake8 pylint bandit pydocstyle pycodestyle vulture "
        "eslint tslint stylelint shellcheck hadolint yamllint actionlint markdownlint golangci-lint staticcheck "
        "clippy-driver lint-imports codespell radon interrogate tsc import-linter"
    ),
    Kind.BUILD: (
        "make gmake cmake ninja meson bazel buck gradle gradlew mvn mvnw ant sbt gcc g++ cc c++ clang clang++ ld ar "
        "as rustc javac kotlinc scalac ghc webpack rollup esbuild vite-build parcel turbo nx sphinx-build mkdocs "
        "doxygen black isort autopep8 yapf autoflake pyupgrade prettier clang-format gofmt goimports rustfmt shfmt "
        "ruff cython protoc flex bison swig pyinstaller"
    ),
    Kind.INSTALL: (
        "apt apt-get aptitude dpkg yum dnf rpm pacman apk brew snap flatpak port conda mamba micromamba pipx "
        "easy_install gem cpan cpanm luarocks opam cabal stack bundle composer nvm pyenv rbenv rustup sdk asdf mise "
        "npx pnpx bunx uvx dlx"
    ),
    Kind.NETWORK: (
        "curl wget http https httpie xh aria2c ssh scp sftp ftp tftp telnet nc ncat netcat socat ping ping6 "
        "traceroute tracepath mtr dig nslookup host whois nmap masscan rclone aws gcloud az kubectl helm terraform "
        "ansible ansible-playbook vagrant doctl heroku flyctl vercel netlify gh glab hub hg svn bzr cvs twine mail "
        "sendmail mutt lynx w3m links elinks openssl smbclient ldapsearch redis-cli psql mysql mongo mongosh sqlplus "
        "ip ifconfig route arp iptables nft ss netstat mosh autossh cloudflared ngrok"
    ),
    Kind.SERVER: (
        "gunicorn uvicorn hypercorn daphne waitress-serve flask celery nginx httpd apache2 caddy vite next nuxt ng "
        "serve http-server live-server nodemon webpack-dev-server redis-server postgres mysqld mongod memcached "
        "jupyter streamlit screen tmux daemonize supervisord pm2"
    ),
    Kind.DESTRUCTIVE: (
        "kill pkill killall skill shutdown reboot halt poweroff init telinit systemctl service mkfs fdisk sfdisk "
        "parted wipefs mount umount swapon swapoff losetup cryptsetup lvremove useradd userdel usermod groupadd "
        "groupdel passwd chpasswd visudo crontab at batch chroot insmod rmmod modprobe sysctl setenforce "
        "update-alternatives ldconfig dropdb dropuser"
    ),
}
_KIND_OF = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}
_INTERPRETERS = frozenset(
    names(
        "python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua luajit Rscript java julia "
        "osascript tclsh groovy scala elixir erl ghci swift dotnet mono racket guile expect"
    )
)
_VERSIONED = re.compile(r"(python|pypy|ruby|perl|php|lua|node)(?:[\d.]+)")
_MODULES = {
    **dict.fromkeys(
        names("pytest unittest doctest tox nox mypy flake8 pylint coverage pyright bandit behave ty ruff"), Kind.TEST
    ),
    **dict.fromkeys(("compileall", "py_compile", "build", "black", "isort", "sphinx", "mkdocs", "cython"), Kind.BUILD),
    **dict.fromkeys(("pip", "ensurepip", "pipx"), Kind.INSTALL),
    **dict.fromkeys(("http.server", "flask", "uvicorn", "gunicorn", "smtpd", "pydoc", "jupyter"), Kind.SERVER),
    **dict.fromkeys(names("platform sysconfig site this json.tool tokenize ast dis calendar timeit"), Kind.RUN),
    **dict.fromkeys(("smtplib", "ftplib", "telnetlib", "webbrowser", "twine", "urllib"), Kind.NETWORK),
}
_PACKAGERS = {
    "pip",
    "pip3",
    "uv",
    "poetry",
    "pdm",
    "hatch",
    "rye",
    "pipenv",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "go",
    "dotnet",
    "bun",
    "deno",
    "mix",
    "rebar3",
    "swift",
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


def is_program(name: str) -> bool:
    """Whether a program of this name is judged here."""
    return name in _KIND_OF or name in _PACKAGERS or interpreter(name) is not None


def interpreter(name: str) -> str | None:
    """The language interpreter that a name stands for ("python3.12" is "python"), or None."""
    if name in _INTERPRETERS:
        return name
    match = _VERSIONED.fullmatch(name)
    return match[1] if match is not None else None


def judge_program(name: str, words: Sequence[Word]) -> Judged:
    """Judge a program that runs code or leaves the machine; a path that leads elsewhere counts as read, wherever it stands.

    Args:
        words: the arguments after the name.
    """
    judged = _judged(name, words)
    if judged.kind in (Kind.TEST, Kind.BUILD, Kind.RUN, Kind.SERVER):
        return replace(judged, reads=(*judged.reads, *(word for word in map(_elsewhere, words) if word is not None)))
    return judged


def _elsewhere(word: Word) -> Word | None:
    """The path in an argument (alone, or after `=`) that is absolute, begins at the home, or climbs."""
    text = word.known
    start = text.find("=") + 1 if re.match(r"-{0,2}[\w.-]+=", text) else 0
    path = text[start:]
    climbs = ".." in path.split("/")
    return tail(word, start) if path.startswith(("/", "~/")) or climbs else None


def _judged(name: str, words: Sequence[Word]) -> Judged:
    language = interpreter(name)
    if name in ("dotnet", "deno", "bun", "swift"):
        return _packager(name, words)
    if language is not None:
        return _interpreter(name, words)
    if name in _PACKAGERS:
        return _packager(name, words)
    kind = _KIND_OF[name]
    if only_asks(words):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    if name in ("make", "gmake", "ninja", "gradle", "gradlew", "mvn", "mvnw", "nox", "tox", "just", "task"):
        return _targets(name, words, kind)
    if name == "ruff":
        return _ruff(words)
    if name in ("openssl", "ip", "ss", "netstat") and _first(words) in ("version", "dgst", "rand", "addr", "a", ""):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} only prints")
    if name in ("apt", "apt-get", "dpkg", "brew", "conda", "gem", "rustup", "apt-cache") and _first(words) in (
        *names("list show search info policy -l -L -s depends leaves env which"),
    ):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} only lists")
    return Judged(kind=kind, reason=_REASON[kind].format(name=name))


_REASON = {
    Kind.TEST: "{name} runs tests or checks",
    Kind.BUILD: "{name} builds or formats",
    Kind.INSTALL: "{name} installs or removes packages",
    Kind.NETWORK: "{name} talks to other machines",
    Kind.SERVER: "{name} starts something that stays",
    Kind.DESTRUCTIVE: "{name} changes the machine or stops other programs",
    Kind.RUN: "{name} runs a program of the project",
}


def only_asks(words: Sequence[Word]) -> bool:
    """Whether a program is only asked for its version or help."""
    return len(words) == 1 and words[0].value in ("--version", "-V", "--help", "-h", "-version", "version", "-v")


def script_kind(target: str) -> Kind:
    """What a target or script of the project of this name does, by its name: a project names its own work."""
    if _LEAVES.fullmatch(target):
        return Kind.UNKNOWN
    return next((kind for pattern, kind in _SCRIPT_KINDS if pattern.fullmatch(target)), Kind.RUN)


def _first(words: Sequence[Word]) -> str:
    return next((word.known for word in words if not word.known.startswith("-") or len(words) == 1), "")


def _targets(name: str, words: Sequence[Word], kind: Kind) -> Judged:
    given = sort_arguments(words, valued=("-C", "-f", "-j", "-I", "-e", "-s", "--directory", "--file", "-k"))
    steering = [
        word
        for word in words
        if re.match(r"[A-Za-z_]\w*[:?+]?=", word.known)
        and re.match(r"(?:SHELL|MAKEFLAGS|\.SHELLFLAGS|CC|CXX|LD|AR)\b", word.known)
    ]
    if given.has("--eval", "-E") or steering or given.dynamic:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} is told what to run on its command line")
    targets = [word.known for word in given.operands if "=" not in word.known]
    kinds = {script_kind(target) for target in targets}
    if Kind.UNKNOWN in kinds:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} {' '.join(targets)} may install, publish or delete")
    reads = tuple(given.of("-C", "-f", "--directory", "--file"))
    found = next((one for one in (Kind.SERVER, Kind.TEST) if one in kinds), kind)
    return Judged(kind=found, reason=_REASON[found].format(name=name), reads=reads)


def _ruff(words: Sequence[Word]) -> Judged:
    verb = _first(words)
    given = sort_arguments(words[1:])
    if verb in ("rule", "linter", "config", "version", "help"):
        return Judged(kind=Kind.READ_ONLY, reason="ruff only prints")
    changing = (verb == "format" and not given.has("--check", "--diff")) or given.has(
        "--fix", "--fix-only", "--add-noqa", "--unsafe-fixes"
    )
    kind = Kind.BUILD if changing else Kind.TEST
    return Judged(kind=kind, reason="ruff changes the files" if changing else "ruff checks", reads=given.operands)


def _interpreter(name: str, words: Sequence[Word]) -> Judged:
    if only_asks(words):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    rest = list(words)
    while rest and rest[0].known in ("-u", "-B", "-I", "-s", "-E", "-q", "-O", "-W", "-X", "--enable-source-maps"):
        option = rest.pop(0).known
        if option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} reads what it runs from its input")
    first = rest[0].known
    if first == "-m" and len(rest) > 1 and rest[1].value is not None:
        return _module(name, rest[1].value, rest[2:])
    if interpreter(name) == "node" and first == "--test":
        return Judged(kind=Kind.TEST, reason="node runs its tests")
    if first == "-":
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} reads what it runs from its input")
    if first.startswith("-") and re.match(r"-{1,2}(?:[a-zA-Z]*[cer]|eval|print|p|require|import)\b", first):
        return Judged(kind=Kind.RUN, reason=f"{name} runs code from its command line")
    if first.startswith("-") or rest[0].value is None:
        return Judged(kind=Kind.UNKNOWN, reason=f"what {name} runs is not known")
    return Judged(kind=Kind.RUN, reason=f"{name} runs {first}", reads=(rest[0],))


def _module(name: str, module: str, words: Sequence[Word]) -> Judged:
    root = module.partition(".")[0]
    if module in ("pip", "uv") or root == "pip":
        return _packager("pip" if root == "pip" else "uv", words)
    if module == "ruff":
        return _ruff(words)
    if module == "venv":
        return Judged(kind=Kind.BUILD, reason="makes a virtual environment", writes=sort_arguments(words).operands)
    if module == "json.tool":
        given = sort_arguments(words, valued=("--indent",))
        if len(given.operands) < 2:
            return Judged(kind=Kind.READ_ONLY, reason="json.tool prints", reads=given.operands)
        return Judged(kind=Kind.WRITE, reason="json.tool writes its second file", writes=given.operands[1:])
    kind = _MODULES.get(module) or _MODULES.get(root) or Kind.RUN
    return Judged(kind=kind, reason=f"{name} -m {module}: " + _REASON[kind].format(name=module))


_LISTS = frozenset(
    names(
        "list ls show freeze check info view outdated tree audit why help version --version config-list licenses env "
        "search metadata"
    )
)
_INSTALLS = frozenset(
    names(
        "install i ci add remove rm uninstall un update upgrade up sync lock download get fetch vendor link unlink "
        "rebuild dedupe prune import self python tool pip init new create cache wheel exec x dlx mod generate work "
        "clean store bin"
    )
)
_UPLOADS = frozenset(
    names("publish login logout adduser owner yank deprecate access token unpublish push search upload star ping")
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
    "npm": {**dict.fromkeys(("test", "t", "tst"), Kind.TEST), "start": Kind.SERVER, "build": Kind.BUILD},
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
    "swift": {"test": Kind.TEST, "build": Kind.BUILD},
    "mix": {"test": Kind.TEST, "compile": Kind.BUILD, "format": Kind.BUILD},
}


def _packager(name: str, words: Sequence[Word]) -> Judged:
    name = "pip" if name == "pip3" else name
    if only_asks(words):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    rest = list(words)
    while rest and rest[0].known.startswith("-") and rest[0].known not in ("-h", "--help"):
        option = rest.pop(0)
        if (
            option.known in names("-C --prefix --cwd --directory --project -w --workspace --filter --manifest-path")
            and rest
        ):
            rest.pop(0)
    verb = rest[0].known if rest else ""
    found = _VERB_KINDS.get(name, {}).get(verb)
    if found is not None:
        return _own_verb(name, verb, rest[1:], found)
    if verb == "run" or (name in ("npm", "pnpm", "yarn", "bun") and verb in ("run-script",)):
        return _run_script(name, rest[1:])
    if verb == "pip" and name == "uv":
        return _packager("pip", rest[1:])
    if verb in _LISTS or (verb == "config" and _first(rest[1:]) in ("list", "get", "debug")):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} {verb} only prints")
    if verb in _UPLOADS:
        return Judged(kind=Kind.NETWORK, reason=f"{name} {verb} talks to a registry")
    if verb in _INSTALLS or (name == "pip" and verb):
        return Judged(kind=Kind.INSTALL, reason=f"{name} {verb} installs or removes packages")
    if name == "yarn" and re.fullmatch(r"[\w:.-]+", verb):
        return _run_script(name, rest)
    return Judged(kind=Kind.UNKNOWN, reason=f"{name} {verb} is not known here")


def _own_verb(name: str, verb: str, words: Sequence[Word], kind: Kind) -> Judged:
    steering = {
        "cargo": ("--config",),
        "go": ("-exec", "-toolexec", "-vettool", "-o"),
        "npm": ("--script-shell", "--node-options"),
    }.get(name, ())
    if steering and any(word.known.partition("=")[0] in steering for word in words):
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} {verb} runs another program by such an option")
    if name == "go" and verb == "env" and any(word.known in ("-w", "-u") for word in words):
        return Judged(kind=Kind.UNKNOWN, reason="go env -w changes how go runs later")
    return Judged(kind=kind, reason=f"{name} {verb}: " + _REASON.get(kind, "{name} only prints").format(name=name))


def _run_script(name: str, words: Sequence[Word]) -> Judged:
    script = next((word for word in words if not word.known.startswith("-")), None)
    if script is None:
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} run lists its scripts")
    if script.value is None or "/" in script.known:
        return Judged(kind=Kind.RUN if script.value else Kind.UNKNOWN, reason=f"{name} runs {script.text}")
    kind = script_kind(script.value)
    return Judged(kind=kind, reason=f"{name} run {script.value}: a script of the project")
