"""Programs that run code or leave the machine: test runners, builders, installers, interpreters, servers, network clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentforge.safety.shell.grammar.options import sort_arguments
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged
from agentforge.safety.shell.programs.inline_code import handed_code
from agentforge.safety.shell.programs.named_paths import code_ends, with_paths
from agentforge.safety.shell.programs.packagers import (
    PACKAGERS,
    REASON,
    first_word,
    judge_packager,
    only_asks,
    script_kind,
)
from agentforge.safety.shell.programs.steering_options import steered

_BY_NAME: dict[Kind, str] = {
    Kind.TEST: (
        "pytest py.test tox nox unittest nosetests jest vitest mocha ava karma cypress phpunit rspec ctest gotestsum "
        "behave robot coverage mypy pyright basedpyright ty flake8 pylint bandit pydocstyle pycodestyle vulture "
        "eslint tslint stylelint rubocop shellcheck hadolint yamllint actionlint markdownlint golangci-lint staticcheck "
        "playwright standardrb clippy-driver lint-imports codespell radon interrogate tsc import-linter"
    ),
    Kind.BUILD: (
        "make gmake cmake ninja meson bazel buck rake gradle gradlew mvn mvnw ant sbt gcc g++ cc c++ clang clang++ ld ar "
        "as rustc javac kotlinc scalac ghc webpack rollup esbuild vite-build parcel turbo nx sphinx-build mkdocs "
        "doxygen just task black isort autopep8 yapf autoflake pyupgrade prettier clang-format gofmt goimports rustfmt shfmt "
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
    Kind.UNKNOWN: (
        "sqlite3 duckdb pre-commit ffmpeg convert gpg vim nvim emacs valgrind autoconf automake libtool clang-tidy "
        "pkg-config xmllint phpstan psalm strace gdb lldb perf buck2 pipdeptree"
    ),
}
_KIND_OF = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}
_INTERPRETERS = frozenset(
    names(
        "python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua luajit Rscript java julia "
        "osascript tclsh groovy scala elixir erl ghci swift dotnet mono racket guile expect tsx ts-node vite-node"
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
_PLAIN_VALUE = re.compile(r"[\w.,:@+/=-]*")
_FREE_VALUE = re.compile(r"[\w.,:@+/= -]*")
_FREE_NAME = re.compile(
    r"\w*ARGS?|\w*OPTS?|TESTS?|V|VERBOSE|DEBUG|CI|K|\w*FILES?|\w*DIR|PREFIX|VERSION|TARGET|MODE|PROFILE"
)


def is_program(name: str) -> bool:
    """Whether a program of this name is judged here."""
    return name in _KIND_OF or name in PACKAGERS or interpreter(name) is not None


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
    if judged.kind in _ASKED_ANYWAY or only_asks(words):
        return judged
    handed = handed_code(name, words) if judged.kind is not Kind.READ_ONLY else None
    return handed or _with_paths(judged, name, words)


_ASKED_ANYWAY = (Kind.NETWORK, Kind.DESTRUCTIVE, Kind.UNKNOWN)


def _with_paths(judged: Judged, name: str, words: Sequence[Word]) -> Judged:
    """Look at the paths that a program is given; what follows a script of the project is that script's data."""
    if interpreter(name) is None:
        dashes = next((place for place, word in enumerate(words) if word.known == "--"), None)
        return with_paths(judged, name, words, data_after=dashes if judged.kind is Kind.RUN else None)
    script = next((place + 1 for place, word in enumerate(words) if word in judged.reads[:1]), None)
    module = next((place + 1 for place, word in enumerate(words[:-1]) if word.known == "-m"), None)
    if judged.kind is Kind.RUN and script is not None:
        return with_paths(judged, name, words, data_after=script)
    if module is not None:
        data = 0 if judged.kind is Kind.RUN else None
        return with_paths(judged, words[module].known, words[module + 1 :], data_after=data)
    code = code_ends(interpreter(name) or name, words)
    return with_paths(judged, name, words[code:], data_after=0 if code else None)


def _judged(name: str, words: Sequence[Word]) -> Judged:
    found = steered(name, words)
    if found is not None:
        return found
    if name == "coverage" and first_word(words) == "run":
        return _interpreter("python", _after_run(words))
    language = interpreter(name)
    if name in ("dotnet", "deno", "bun", "swift"):
        return judge_packager(name, words)
    if language is not None:
        return _interpreter(name, words)
    if name in PACKAGERS:
        return judge_packager(name, words)
    kind = _KIND_OF[name]
    if only_asks(words, *_SHORT_ASKS.get(name, ())):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    if name == "cmake" and any(word.known in ("-E", "-P") for word in words):
        return Judged(kind=Kind.UNKNOWN, reason="cmake -E and -P run commands of their own")
    if any(word.known in ("-wrapper", "--eval") for word in words):
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} runs another program by this option")
    if name in _OVER_FILES and any(word.known in ("-w", "-i", "--write-changes", "--in-place") for word in words):
        return Judged(kind=Kind.WRITE, reason=f"{name} changes the files", writes=sort_arguments(words).operands)
    if name in ("make", "gmake", "ninja", "gradle", "gradlew", "mvn", "mvnw", "nox", "tox", "just", "task", "rake"):
        return _targets(name, words, kind)
    if name == "ruff":
        return _ruff(words)
    if name in _LOOKING and _LOOKING[name].fullmatch(" ".join(word.known for word in words)):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} only lists")
    return Judged(kind=kind, reason=REASON.get(kind, "what {name} does is not known here").format(name=name))


def _after_run(words: Sequence[Word]) -> Sequence[Word]:
    """What `coverage run` runs, as python would be told; its own options come before it."""
    rest = list(words[[word.known for word in words].index("run") + 1 :])
    own = re.compile(
        r"-[apL]|--(?:append|parallel-mode|branch|timid|pylib|(?:source|include|omit|rcfile|context|data-file)=[\w./*,-]+)"
    )
    while rest and own.fullmatch(rest[0].known):
        rest.pop(0)
    return rest


_OF_RECIPES = re.compile(
    r"-[lnqsvp]|--(?:list|list-all|dry|dry-run|summary|quiet|silent|verbose|parallel|status)|[\w.:][\w.:-]*(?:=[\w.,:@+-]*)?"
)
_OVER_FILES = ("codespell", "autopep8", "shellcheck")
_SHORT_ASKS = {
    **dict.fromkeys(("make", "gmake", "gcc", "g++", "cc", "clang", "javac", "tsc"), ("-v",)),
    **dict.fromkeys(("ssh", "curl", "openssl", "dig", "pipx", "conda", "mvn", "gradle", "psql", "tmux"), ("-V",)),
}
_LOOKING = {
    "openssl": re.compile(r"version(?: -a)?"),
    "ip": re.compile(
        r"(?:-(?:4|6|br|brief|c|s|j|p|d) )*(?:a|addr|address|r|route|l|link|n|neigh)(?: (?:show|list|ls))?"
    ),
    **dict.fromkeys(("ss", "netstat"), re.compile(r"(?:-[tulnpaxe46srwi]+ ?)*")),
    **dict.fromkeys(
        ("apt", "apt-cache"), re.compile(r"(?:list|show|search|policy|depends|rdepends)(?: --installed| [\w.+:-]+)*")
    ),
    "dpkg": re.compile(r"(?:-l|-L|-s|-S|--list|--status|--listfiles)(?: [\w.+:*/-]+)*"),
    "terraform": re.compile(r"fmt -check(?: -diff| -recursive)*|version"),
    "pkg-config": re.compile(r"(?:--(?:cflags|libs|exists|modversion|print-errors|static|list-all) ?)+(?:[\w.+-]+ ?)*"),
    "kubectl": re.compile(r"version --client(?: --output=\w+| -o \w+)?|config (?:current-context|get-contexts)"),
    "brew": re.compile(r"(?:list|leaves|deps)(?: [\w.@/-]+)*"),
    "conda": re.compile(r"(?:list|info|env list)"),
    "gem": re.compile(r"(?:list|env|which)(?: [\w.-]+)?"),
    "rustup": re.compile(r"(?:show|which|toolchain list|target list)(?: \w+)?"),
}


_AS_MANY_AS_PROCESSORS = ("-j$(nproc)", "--jobs=$(nproc)", "$(nproc)")


def _targets(name: str, words: Sequence[Word], kind: Kind) -> Judged:
    words = [word for word in words if word.text.replace('"', "") not in _AS_MANY_AS_PROCESSORS]
    given = sort_arguments(words, valued=("-C", "-f", "-j", "-I", "-e", "-s", "--directory", "--file", "-k"))
    steering = [
        word
        for word in words
        if (match := re.match(r"([.\w]+)[:?+]?:?=(.*)", word.known, re.DOTALL)) is not None
        and (
            re.fullmatch(r"SHELL|MAKEFLAGS|GNUMAKEFLAGS|\.SHELLFLAGS|CC|CXX|LD|AR|RM|AS", match[1])
            or not (_FREE_VALUE if _FREE_NAME.fullmatch(match[1]) else _PLAIN_VALUE).fullmatch(match[2])
        )
    ]
    told = name in ("just", "task") and not all(_OF_RECIPES.fullmatch(word.known) for word in words)
    if given.has("--eval", "-E") or steering or given.dynamic or told:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} is told what to run on its command line")
    targets = [word.known for word in given.operands if "=" not in word.known]
    kinds = {script_kind(target) for target in targets}
    if Kind.UNKNOWN in kinds:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} {' '.join(targets)} may install, publish or delete")
    reads = tuple(given.of("-C", "-f", "--directory", "--file"))
    found = next((one for one in (Kind.SERVER, Kind.TEST) if one in kinds), kind)
    return Judged(kind=found, reason=REASON[found].format(name=name), reads=reads)


def _ruff(words: Sequence[Word]) -> Judged:
    verb = first_word(words)
    given = sort_arguments(words[1:])
    if verb == "server":
        return Judged(kind=Kind.SERVER, reason="ruff answers an editor until it is stopped")
    if verb in ("rule", "linter", "config", "version", "help"):
        return Judged(kind=Kind.READ_ONLY, reason="ruff only prints")
    changing = (verb == "format" and not given.has("--check", "--diff")) or given.has(
        "--fix", "--fix-only", "--add-noqa", "--unsafe-fixes"
    )
    kind = Kind.BUILD if changing else Kind.TEST
    return Judged(kind=kind, reason="ruff changes the files" if changing else "ruff checks", reads=given.operands)


def _interpreter(name: str, words: Sequence[Word]) -> Judged:
    if only_asks(words, *_LANGUAGE_ASKS.get(interpreter(name) or "", ())):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    rest = list(words)
    while rest and (rest[0].known in _PLAIN_FLAGS or _NODE_SIZES.fullmatch(rest[0].known)):
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
    if (
        interpreter(name) == "node"
        and first in ("--check", "-c")
        and len(rest) == 2
        and not rest[1].known.startswith("-")
    ):
        return Judged(kind=Kind.READ_ONLY, reason="node only checks the syntax", reads=tuple(rest[1:]))
    if name == "java" and _JAVA.fullmatch(" ".join(word.known for word in rest)):
        return Judged(kind=Kind.RUN, reason="java runs classes of the project")
    if first == "-":
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} reads what it runs from its input")
    if first.startswith("-") and re.match(r"-{1,2}(?:[a-zA-Z]*[cer]|eval|print|p|require|import)\b", first):
        return Judged(kind=Kind.RUN, reason=f"{name} runs code from its command line")
    if first.startswith("-") or rest[0].value is None:
        return Judged(kind=Kind.UNKNOWN, reason=f"what {name} runs is not known")
    return Judged(kind=Kind.RUN, reason=f"{name} runs {first}", reads=(rest[0],))


_JAVA = re.compile(
    r"(?:-ea |-D[\w.]+=[\w.,:/-]* |-Xm[sx]\d+[kmg]? )*(?:-cp|-classpath|--class-path) [^\s@]+ [A-Za-z_][\w.$]*(?: .*)?"
)
_PLAIN_FLAGS = frozenset(
    names(
        "-u -B -I -s -E -q -O -W -X --input-type=module --input-type=commonjs --enable-source-maps "
        "--experimental-vm-modules --no-warnings --trace-warnings "
        "--experimental-strip-types --unhandled-rejections=strict --trace-deprecation --no-deprecation"
    )
)
_NODE_SIZES = re.compile(r"--max-old-space-size=\d+|--stack-size=\d+")
_LANGUAGE_ASKS = {
    **dict.fromkeys(("python", "python3", "python2", "pypy", "pypy3"), ("-V", "-h", "-VV")),
    **dict.fromkeys(("node", "nodejs", "ruby", "perl", "php", "julia"), ("-v", "-h")),
    "java": ("-version",),
}


def _module(name: str, module: str, words: Sequence[Word]) -> Judged:
    root = module.partition(".")[0]
    if module in ("pip", "uv") or root == "pip":
        return judge_packager("pip" if root == "pip" else "uv", words)
    if module == "ruff":
        return _ruff(words)
    if module == "venv":
        return Judged(kind=Kind.BUILD, reason="makes a virtual environment", writes=sort_arguments(words).operands)
    if module == "json.tool":
        given = sort_arguments(words, valued=("--indent",))
        if len(given.operands) < 2:
            return Judged(kind=Kind.READ_ONLY, reason="json.tool prints", reads=given.operands)
        return Judged(kind=Kind.WRITE, reason="json.tool writes its second file", writes=given.operands[1:])
    if module in _KIND_OF:
        found = _judged(module, words)
        return replace(found, reason=f"{name} -m {found.reason}")
    kind = _MODULES.get(module) or _MODULES.get(root) or Kind.RUN
    return Judged(kind=kind, reason=f"{name} -m {module}: " + REASON[kind].format(name=module))
