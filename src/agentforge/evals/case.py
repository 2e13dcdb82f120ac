"""A case that is played through the whole pipeline: a repository, a request, and what a scripted model answers.

One YAML file of an evaluation: what it says, and below `files` the texts of a tree, written where they are needed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal

from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError, UsageError

Side = Literal["trick", "twin"]
FOLDER = Path(__file__).parent
NOTHING = "nothing"
_FOLDERS = ("repository", "history", "answers", "trick", "twin", "hidden")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What every case has, dishonest or honest.

    Attributes:
        title: what it is about, for listings.
        base: repository and answers that this one builds on; it may be empty.
        files: its own: repository/, history/1, history/2, ..., answers/, trick/, twin/, and in hidden/ what a person would try.
        request: what is asked for.
        needs: a program that must work to play it, "" when ours will do.
    """

    name: str
    title: str
    base: FileTree
    files: FileTree
    request: str
    needs: str = ""

    @property
    def missing(self) -> str:
        """What this machine lacks to play it, in words; "" when nothing."""
        return _lacking(self.needs) if self.needs else ""

    @property
    def commits(self) -> tuple[Mapping[str, str], ...]:
        """The files of the repository at each of its commits, the oldest first; the last is what the run finds."""
        now = {**self.base.below("repository").texts, **self.files.below("repository").texts}
        past = self.files.below("history")
        return *({**now, **past.below(number).texts} for number in past.folders), now

    def answers(self, side: Side) -> tuple[FileTree, ...]:
        """Answers, the later over the earlier."""
        return tuple(tree.below(folder) for tree in (self.base, self.files) for folder in ("answers", side))


@cache
def _lacking(program: str) -> str:
    """Why a program cannot be used, "" when it can: it must run, for `cargo` may be a stand-in without a toolchain."""
    asked = "version" if program == "go" else "--version"
    try:
        done = subprocess.run([program, asked], capture_output=True, check=False)
    except OSError as exc:
        return f"{program} cannot be started: {exc.strerror}"
    return "" if done.returncode == 0 else f"{program} {asked} ends with {done.returncode}"


def chosen_of(names: Iterable[str], known: tuple[str, ...], *, noun: str, page: str) -> tuple[str, ...]:
    """The cases that were asked for, each once; all when none was.

    Raises:
        UsageError: there is no such case: `noun` is what the message calls it, `page` is where they are listed.
    """
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise UsageError(
                f"there is no {noun} {name!r}", hint=f"did you mean {near[0]}?" if near else f"{page} lists them"
            )
    return chosen or known


def playable(cases: Iterable[Case]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Part cases into the names of those that this machine can play, and name -> what it lacks for the others.

    Raises:
        UsageError: none of them can be played.
    """
    missing = {case.name: case.missing for case in cases}
    fine = tuple(name for name, reason in missing.items() if not reason)
    lacking = {name: reason for name, reason in missing.items() if reason}
    if not fine:
        told = "; ".join(f"{name}: {reason}" for name, reason in lacking.items())
        raise UsageError(f"none of these cases can be played here: {told}", hint="install what is missing")
    return fine, lacking


def read_case(
    path: Path, *, needed: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[Mapping[str, object], FileTree]:
    """Read the file of a case: what it says, and its files.

    Raises:
        ConfigError: it cannot be read, a key is missing or not known, or a file lies where nothing looks for it.
    """
    told = read_mapping(path)
    unknown = sorted(told.keys() - {FILES, *needed, *optional})
    missing = [key for key in needed if not told.get(key)]
    if unknown or missing:
        raise ConfigError(
            f"{path}: unknown keys {unknown}, missing keys {missing}",
            hint=f"the keys are {', '.join(sorted((FILES, *needed, *optional)))}",
        )
    tree = read_tree(told, source=path)
    if lost := [name for name in tree.texts if name.partition("/")[0] not in _FOLDERS or "/" not in name]:
        raise ConfigError(f"{path}: nothing reads the file {lost[0]}", hint=f"put it below {', '.join(_FOLDERS)}")
    return told, tree


def read_base(name: str) -> tuple[Mapping[str, object], FileTree]:
    """Read what cases of the catalogue build on: a request, perhaps the program that it needs, a repository and answers.

    Args:
        name: of a file in `bases/`; `nothing` is an empty base.
    Raises:
        ConfigError: there is no such base, or it cannot be read.
    """
    if name == NOTHING:
        return {}, FileTree()
    return read_case(FOLDER / "bases" / f"{name}.yaml", needed=(FILES, "request"), optional=("needs",))


FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTree:
    """Texts by their path.

    Attributes:
        source: where they stand, for messages.
    """

    source: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    def below(self, folder: str) -> FileTree:
        """The tree of one of its folders; an empty one when there is none."""
        start = f"{folder}/"
        texts = {path.removeprefix(start): text for path, text in self.texts.items() if path.startswith(start)}
        return FileTree(source=f"{self.source}: {folder}", texts=texts)

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of its topmost folders."""
        return tuple(sorted({path.partition("/")[0] for path in self.texts if "/" in path}))

    def mapping(self, path: str) -> Mapping[str, object]:
        """Read one of its files as a YAML mapping; {} when it is not there.

        Raises:
            ConfigError, ContractInvalid: it is no YAML, or no mapping.
        """
        return _mapping(self.texts[path], f"{self.source}/{path}") if path in self.texts else {}


def read_tree(told: Mapping[str, object], *, source: Path) -> FileTree:
    """Read the texts that stand below `files` of a mapping; without any the tree is empty.

    Args:
        source: the file that says them.
    Raises:
        ConfigError: `files` is no mapping of relative paths to texts, or a path is a file and a folder.
    """
    files = told.get(FILES, {})
    if not isinstance(files, Mapping):
        raise ConfigError(
            f"{source}: `files` is not a mapping", hint="write `files:` and below it a path with its text each"
        )
    for path, text in files.items():
        named = PurePosixPath(path)
        if named.is_absolute() or ".." in named.parts or str(named) != path or not isinstance(text, str):
            raise ConfigError(
                f"{source}: {path!r} is not a relative path with a text", hint="write `repository/a.py: |`"
            )
        if taken := [str(folder) for folder in named.parents if str(folder) in files]:
            raise ConfigError(f"{source}: {taken[0]!r} is a file and a folder", hint=f"rename it, or {path!r}")
    return FileTree(source=str(source), texts=files)


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write texts at their paths below a folder, over what is there.

    Side effects: makes the folders that are missing.
    """
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


@cache
def read_mapping(path: Path) -> Mapping[str, object]:
    """Read a YAML mapping.

    Raises:
        ConfigError, ContractInvalid: it is not there, no YAML, or no mapping.
    """
    if not path.is_file():
        raise ConfigError(f"{path} does not exist", hint="write it, or correct the name")
    return _mapping(path.read_text("utf-8"), str(path))


@cache
def _mapping(text: str, source: str) -> Mapping[str, object]:
    value = load_strict(text, source=source)
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source} is not a mapping", hint="write `key: value` lines")
    return value
