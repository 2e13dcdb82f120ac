"""The paths in the arguments of a program that runs code: which it writes, which it only reads, and which steer what it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from agentforge.frozen import dataclass
from agentforge.guarded import is_protected
from agentforge.safety.shell.grammar.syntax import Assignment, Word, names
from agentforge.safety.shell.programs.classes import Judged
from agentforge.safety.shell.programs.inline_code import secrets_in, steering_paths

_OPTION = re.compile(r"-{1,2}[A-Za-z][\w.-]*|[A-Za-z_][\w.]*(?==)")
_GLUED = re.compile(r"-[A-Za-z]{1,2}(?=[./~\0])")
_BETWEEN = re.compile(r"""[\s=:,;@"'(){}\[\]|<>&!]+""")
_ADDRESS = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*(?<!file)://[^\s,;\"']*")
_CODE = {"python": "c", "pypy": "c", "perl": "eE", "node": "ep", "nodejs": "ep", "php": "r"}

_WRITING_WORDS = frozenset(
    names(
        "out output outfile outdir outputfile outputdir outputs log logfile report reports reportfile junit junitxml html xml "
        "json save dump record export dest destination destdir profile coverprofile cpuprofile memprofile trace snapshot "
        "coveragedirectory declarationdir tsbuildinfofile basetemp cachedir cachedirectory cache builddir artifacts results"
    )
)
"""Words of an option's name, in small letters, that say that its value is a place which the program makes or changes."""

_WRITES = frozenset(
    names(
        "-o -d -B -MF --cov-report --target-dir --target --dist-dir --build-dir --site-dir --data-file --envdir --workdir"
    )
)
"""Options whose value is such a place although their names do not say so."""

_WRITES_OF: dict[str, tuple[str, ...]] = {**dict.fromkeys(("mvn", "mvnw"), ("-l",)), "flex": ("-o",)}
"""The same for single programs."""

_READS = frozenset(
    names(
        "-I -L -isystem -idirafter -iquote -include --include --sysroot -isysroot --include-dir --with --libdir "
        "PREFIX DESTDIR prefix --prefix-path -DCMAKE_INSTALL_PREFIX -DCMAKE_PREFIX_PATH -DCMAKE_FIND_ROOT_PATH "
        "-DCMAKE_SYSROOT -DPython_EXECUTABLE -DPython3_EXECUTABLE --typeshed --python-path --extra-search-path"
    )
)
"""Options and variables whose value is only looked into, or is where something will be found after an installation."""

_CONFIGURING = frozenset(
    names(
        "-c --config --config-file --configfile --rcfile --rc-file --ignore-path --exclude --ignore --include -p --project"
    )
)
"""Options whose value is read even where it is a protected file."""

_NAMING = _CONFIGURING | frozenset(
    names(
        "-C -f -r --directory --dir --cwd --prefix --manifest-path --plugin --plugins --plugin-search-dir --rulesdir --rootdir "
        "--root --confcutdir --require --import --loader --preload --file --makefile --workdir --working-directory --chdir "
        "--project-dir --build-file --buildfile --settings-file --init-script --gemfile --app-dir --resolver --tsconfig"
    )
)
"""Options that name what is run: a value that only the run knows is doubtful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """When a program changes the files that its operands name.

    Attributes:
        verbs: the first word that makes it one; () for every call.
        told: options of which one must be given; () for every call.
        unless: options with which it only looks.
    """

    verbs: tuple[str, ...] = ()
    told: frozenset[str] = field(default_factory=frozenset)
    unless: frozenset[str] = field(default_factory=frozenset)

    def writes(self, given: Sequence[str]) -> bool:
        """Whether it changes files with these words."""
        options = {word.partition("=")[0] for word in given if word.startswith("-")}
        letters = {f"-{one}" for word in options if not word.startswith("--") for one in word[1:]}
        plain = [word for word in given if not word.startswith("-")]
        if self.verbs and (not plain or plain[0] not in self.verbs):
            return False
        if (options | letters) & self.unless:
            return False
        return not self.told or bool((options | letters) & self.told)


def _fixing(*, verbs: str = "", told: str = "", unless: str = "") -> Writer:
    return Writer(verbs=names(verbs), told=frozenset(names(told)), unless=frozenset(names(unless)))


_WRITERS: dict[str, tuple[Writer, ...]] = {
    "black": (_fixing(unless="--check --diff --version --help"),),
    "isort": (_fixing(unless="-c --check --check-only --diff -d --show-files --show-config --stdout"),),
    "ruff": (
        _fixing(verbs="format", unless="--check --diff"),
        _fixing(verbs="check", told="--fix --fix-only --unsafe-fixes --add-noqa", unless="--diff"),
    ),
    "yapf": (_fixing(told="-i --in-place"),),
    "autopep8": (_fixing(told="-i --in-place"),),
    "autoflake": (_fixing(told="-i --in-place"),),
    "pyupgrade": (_fixing(),),
    "codespell": (_fixing(told="-w --write-changes"),),
    "prettier": (_fixing(told="-w --write"),),
    **dict.fromkeys(names("eslint tslint stylelint standardrb markdownlint"), (_fixing(told="--fix --fix-dry-run"),)),
    "rubocop": (
        _fixing(told="-a -A -x --autocorrect --autocorrect-all --auto-correct --auto-correct-all --fix-layout"),
    ),
    "clang-format": (_fixing(told="-i"),),
    **dict.fromkeys(("gofmt", "goimports", "shfmt"), (_fixing(told="-w --write"),)),
    "rustfmt": (_fixing(unless="--check --emit"),),
    "golangci-lint": (_fixing(told="--fix"),),
    **dict.fromkeys(("perl", "ruby"), (_fixing(told="-i"),)),
    "sphinx-build": (_fixing(),),
    "pyinstaller": (_fixing(),),
}


_TEXTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(names("jest vitest ava"), frozenset({"-t", "--testnamepattern"})),
    **dict.fromkeys(("pytest", "py.test"), frozenset({"-k", "-m"})),
    "mocha": frozenset({"-g", "-f", "--grep", "--fgrep"}),
    "go": frozenset({"-run", "-bench", "-skip"}),
    "node": frozenset({"--test-name-pattern"}),
}
"""Options whose value is a text that is compared with names, whatever it looks like."""

_LABELLING = ("bazel", "buck", "buck2")
"""Programs that name what they build by labels: `//pkg:target` is no path."""


_RUNNING_OTHERS = frozenset(names("npm pnpm yarn bun npx pnpx bunx pipx uv uvx poetry pdm hatch rye pipenv bundle"))
"""Programs whose words may name another program that they run."""


def with_paths(judged: Judged, name: str, words: Sequence[Word], *, data_after: int | None = None) -> Judged:
    """Add to a judgement what the paths in a program's arguments are to it.

    Args:
        words: the arguments after the name.
        data_after: how many of them steer the program; what follows is data for the code that it runs. None: all steer.
    """
    found = _Found(changes=_changes(name, [word.known for word in words]))
    for place, word in enumerate(words):
        if name in _LABELLING and word.known.startswith(("//", "@", "-//")):
            continue
        option = _option_before(words, place)
        if option in _TEXTS.get(name, ()):
            continue
        is_data = data_after is not None and place >= data_after
        for path in paths_in(word):
            if path.value is not None and is_protected(path.known) and not is_data:
                # behind an option that stands apart it may be an operand, which many programs only check
                joined = word.known.startswith("-") and option not in _CONFIGURING
                found.writes += [path] if joined or option in _WRITES_OF.get(name, ()) else []
            found.take(path, option, is_data=is_data)
    return replace(
        judged,
        reads=(*judged.reads, *found.reads, *secrets_in(words)),
        writes=(*judged.writes, *steering_paths(words), *found.writes),
        steers=(*judged.steers, *found.steers),
    )


def code_ends(language: str, words: Sequence[Word]) -> int:
    """How many words give an interpreter code on its line, as `-c CODE` does; 0 where none does."""
    letters = _CODE.get(language.rstrip("0123456789."), "e")
    given = re.compile(rf"-[a-zA-Z]*[{letters}]|--eval|--print")
    return next((place + 2 for place, word in enumerate(words) if given.fullmatch(word.known)), 0)


def _is_written(option: str) -> bool:
    words = option.lower().strip("-").split("-")
    return option in _WRITES or (len(option) > 3 and option.startswith("-") and not _WRITING_WORDS.isdisjoint(words))


def _changes(name: str, given: Sequence[str]) -> bool:
    """Whether a program, or the one that it is told to run, changes the files that are named to it."""
    if name in _RUNNING_OTHERS:
        place = next((at for at, word in enumerate(given) if word in _WRITERS), None)
        return place is not None and _changes(given[place], given[place + 1 :])
    return any(one.writes(given) for one in _WRITERS.get(name, ()))


class _Found:
    """The paths of one command, sorted by what they are to the program.

    Args:
        changes: the program changes the files that are named to it.
    """

    def __init__(self, *, changes: bool) -> None:
        self._changes = changes
        self.reads: list[Word] = []
        self.writes: list[Word] = []
        self.steers: list[Word] = []

    def take(self, path: Word, option: str, *, is_data: bool) -> None:
        """Sort one path in; `option` is the one whose value it is, "" for an operand."""
        if _is_written(option):
            self.writes.append(path)
            return
        if path.value is None and option not in _NAMING:
            return
        if self._changes and not (option.startswith("--") and option in _CONFIGURING):
            self.writes.append(path)
        if leads_elsewhere(path):
            self.reads.append(path)
        if option not in _READS and not is_data:
            self.steers.append(path)


def paths_in(word: Word) -> Iterator[Word]:
    """Whatever in an argument may be a path: the argument itself, what follows a sign in it, and what an option holds."""
    text = _ADDRESS.sub(" ", word.known)
    if text.startswith("-") and (glued := _GLUED.match(text)):
        text = text[glued.end() :]
    elif text.startswith("-"):
        sign = re.search("[=:,]", text)
        text = text[sign.end() :] if sign else ""
    for token in _BETWEEN.split(text):
        if token and not token.startswith("-"):
            plain = re.sub("^//+", "/", token)
            pieces = tuple(None if part == "\0" else part for part in re.split("(\0)", plain) if part)
            yield replace(word, text=token, pieces=pieces, tilde=plain.startswith("~"), splits=False)


def with_assigned(judged: tuple[Judged, ...], assignments: Sequence[Assignment]) -> tuple[Judged, ...]:
    """Add the paths that lead elsewhere in the variables of one command, such as `CONFIG=../x make`."""
    values = (one.text.partition("=")[2].strip("\"'") for one in assignments)
    words = [Word(text=value, pieces=(value,)) for value in values if not any(mark in value for mark in "$`\0")]
    found = tuple(path for word in words for path in paths_in(word) if leads_elsewhere(path))
    return (replace(judged[0], reads=(*judged[0].reads, *found)), *judged[1:])


def leads_elsewhere(word: Word) -> bool:
    """Whether a path is absolute, begins at a home, or climbs."""
    text = word.known
    return text.startswith(("/", "~")) or ".." in text.split("/")


def _option_before(words: Sequence[Word], place: int) -> str:
    """The option whose value an argument is, or holds itself; "" for an operand."""
    text = words[place].known
    own = _OPTION.match(text)
    if text.startswith("-") or (own is not None and text[own.end() : own.end() + 1] == "="):
        glued = _GLUED.match(text)
        return _folded(glued[0] if glued else own[0] if own else text)
    before = words[place - 1].known if place else ""
    return _folded(before) if before.startswith("-") and "=" not in before and before not in ("-", "--") else ""


def _folded(option: str) -> str:
    return option.lower() if len(option) > 3 and option.startswith("--") else option
