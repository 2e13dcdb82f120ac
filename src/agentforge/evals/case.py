"""A case that is played through the whole pipeline: a repository, a request, and what a scripted model answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError, UsageError

Side = Literal["trick", "twin"]
FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What every case has, dishonest or honest.

    Attributes:
        title: what it is about, for listings.
        base: folder with the repository and the answers that this one builds on; it need not exist.
        folder: its own files.
        request: what is asked for.
        needs: a program that must work to play it, "" when ours will do.
    """

    name: str
    title: str
    base: Path
    folder: Path
    request: str
    needs: str = ""

    @property
    def missing(self) -> str:
        """What this machine lacks to play it, in words; "" when nothing."""
        return _lacking(self.needs) if self.needs else ""

    @property
    def repositories(self) -> tuple[Path, ...]:
        """Folders whose files make the repository, the later over the earlier."""
        return self.base / "repository", self.folder / "repository"

    def answers(self, side: Side) -> tuple[Path, ...]:
        """Folders of answers, the later over the earlier."""
        return self.base / "answers", self.base / side, self.folder / "answers", self.folder / side


@cache
def _lacking(program: str) -> str:
    """Why a program cannot be used, "" when it can: it must run, for `cargo` may be a stand-in without a toolchain."""
    import subprocess

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
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            raise UsageError(
                f"there is no {noun} {name!r}", hint=f"did you mean {near[0]}?" if near else f"{page} lists them"
            )
    return chosen or known


def read_case(path: Path, *, needed: tuple[str, ...], optional: tuple[str, ...]) -> Mapping[str, object]:
    """Read a `case.yaml`.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    value = read_mapping(path)
    unknown = sorted(value.keys() - {*needed, *optional})
    missing = [key for key in needed if not value.get(key)]
    if unknown or missing:
        raise ConfigError(
            f"{path}: unknown keys {unknown}, missing keys {missing}",
            hint=f"the keys are {', '.join(sorted((*needed, *optional)))}",
        )
    return value


@cache
def read_mapping(path: Path) -> Mapping[str, object]:
    """Read a YAML mapping; {} when the file does not exist.

    Raises:
        ConfigError: it is no YAML, or no mapping.
    """
    if not path.is_file():
        return {}

    value = load_strict(path.read_text("utf-8"), source=str(path))
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path} is no mapping", hint="write `key: value` lines")
    return value
