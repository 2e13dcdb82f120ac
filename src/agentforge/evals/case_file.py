"""One YAML file of an evaluation: what it says, and below `files` the texts of a tree, written where they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError

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
