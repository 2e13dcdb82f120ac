"""The user's repositories: `repos.yaml` of the user, of which a project's own file overrides entries by name."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from agentforge.config.edits import write_text
from agentforge.config.paths import home_dir
from agentforge.errors import ConfigError, ConflictError, StorageError, UsageError
from agentforge.frozen import dataclass

_KEYS = ("name", "path", "default_branch", "contracts_path")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One entry of the registry.

    Attributes:
        path: absolute.
        default_branch: where tasks start from.
        contracts_path: a folder of contracts inside the repository, beside `.agentforge/contracts`; "" = none.
        origin: the file that says so.
    """

    name: str
    path: Path
    default_branch: str = "main"
    contracts_path: str = ""
    origin: str = ""


def registry_file(environ: Mapping[str, str]) -> Path:
    """Name the user's registry: `$AGENTFORGE_HOME/repos.yaml`, else `~/.agentforge/repos.yaml`; it need not exist."""
    own = environ.get("AGENTFORGE_HOME", "")
    return (Path(own).expanduser().absolute() if own else home_dir(environ) / ".agentforge") / "repos.yaml"


def known_repositories(environ: Mapping[str, str], *, project: Path | None = None) -> dict[str, Repository]:
    """Read the registry, by name, in the order of the file.

    Args:
        project: top folder of a repository whose own `.agentforge/config/repos.yaml` overrides entries by name.
    Raises:
        ConfigError: a file that cannot be read or is not in the form, or two names for one path.
    """
    found = _read(registry_file(environ))
    if project is not None:
        found = {**found, **_read(project / ".agentforge" / "config" / "repos.yaml")}
    _refuse_two_names(found)
    return found


def check_name(name: str) -> str:
    """Return a name that can stand in the registry.

    Raises:
        UsageError: it holds other characters than letters, digits, dot, hyphen and underscore.
    """
    if not re.fullmatch(_NAME, name):
        raise UsageError(
            f"{name!r} cannot name a repository", hint="use letters, digits, `.`, `-`, `_`: repo add PATH --name NAME"
        )
    return name


def add_entry(environ: Mapping[str, str], entry: Repository) -> None:
    """Put a repository into the user's registry; one of the same name whose folder is gone is replaced: it was moved.

    Raises:
        ConflictError: the name belongs to another repository, or the path has a name already.
        ConfigError, StorageError: the registry cannot be read or written.
    """
    with _changing(environ) as entries:
        old = entries.get(entry.name)
        if old is not None and old.path.exists() and not _same_place(old.path, entry.path):
            raise ConflictError(
                f"{entry.name} is the name of {old.path}", hint="give another one: repo add PATH --name NAME"
            )
        for other in entries.values():
            if other.name != entry.name and _same_place(other.path, entry.path):
                raise ConflictError(
                    f"{entry.path} is known as {other.name} already",
                    hint=f"one path has one name: agentforge repo remove {other.name}",
                )
        entries[entry.name] = entry


def remove_entry(environ: Mapping[str, str], name: str) -> Repository:
    """Take a repository out of the user's registry; its files stay.

    Raises:
        UsageError: there is no such entry.
        ConfigError, StorageError: the registry cannot be read or written.
    """
    with _changing(environ) as entries:
        if name not in entries:
            raise unknown_repository(name, entries)
        return entries.pop(name)


def unknown_repository(name: str, known: Sequence[str] | Mapping[str, object]) -> UsageError:
    """Say that a name stands for no repository, and which is meant."""
    near = get_close_matches(name, list(known), n=1)
    told = f"did you mean {near[0]}?" if near else "see `agentforge repo list`, or add it: agentforge repo add PATH"
    return UsageError(f"no repository is known as {name!r}", hint=told)


def contracts_folders(repo: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Folders of the contracts of a repository: its own, and the one that the registry names for it.

    Raises:
        ConfigError: the registry is wrong, or names a folder outside of the repository.
    """
    own = repo / ".agentforge" / "contracts"
    if not registry_file(environ).exists():
        return (own,)
    for entry in _read(registry_file(environ)).values():
        if not entry.contracts_path or not _same_place(entry.path, repo):
            continue
        folder = (repo / entry.contracts_path).resolve()
        if not folder.is_relative_to(repo.resolve()):
            raise ConfigError(
                f"{entry.origin}: contracts_path of {entry.name} leads out of the repository: {entry.contracts_path}",
                hint="name a folder inside it",
            )
        return (folder, own)
    return (own,)


# -- below: the file


def _read(file: Path) -> dict[str, Repository]:
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{file} cannot be read: {exc}", hint="save it as UTF-8 text") from exc
    rows = _rows(text, file)
    found: dict[str, Repository] = {}
    for number, row in enumerate(rows, start=1):
        entry = _entry(row, file, number)
        if entry.name in found:
            raise ConfigError(f"{file}: the name {entry.name} appears twice", hint="rename one of them")
        found[entry.name] = entry
    return found


def _rows(text: str, file: Path) -> list[object]:
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise ConfigError(f"{file} is not YAML: {exc}", hint="correct it by hand") from exc
    if value is None:
        return []
    rows = value.get("repositories") if isinstance(value, dict) and set(value) <= {"repositories"} else None
    if not isinstance(rows, list):
        raise ConfigError(f"{file}: a mapping with the one key `repositories`, a list, is wanted", hint="see the docs")
    return rows


def _entry(row: object, file: Path, number: int) -> Repository:
    place = f"{file}: entry {number}"
    if not isinstance(row, dict) or not all(isinstance(value, str) for value in row.values()):
        raise ConfigError(f"{place}: name and path must be text", hint="quote the values")
    unknown = sorted(str(key) for key in row if key not in _KEYS)
    if unknown:
        raise ConfigError(f"{place}: unknown key {unknown[0]}", hint=f"known are {', '.join(_KEYS)}")
    values = cast("dict[str, str]", row)
    missing = [key for key in ("name", "path") if not values.get(key)]
    if missing:
        raise ConfigError(f"{place}: {missing[0]} is missing", hint="name and path are needed")
    if not re.fullmatch(_NAME, values["name"]):
        raise ConfigError(f"{place}: {values['name']!r} cannot be a name", hint="letters, digits, `.`, `-`, `_`")
    base = file.parents[2] if file.parent.name == "config" else file.parent
    return Repository(
        name=values["name"],
        path=Path(os.path.normpath(base / Path(values["path"]).expanduser())),
        default_branch=values.get("default_branch") or "main",
        contracts_path=values.get("contracts_path", ""),
        origin=str(file),
    )


def _refuse_two_names(found: Mapping[str, Repository]) -> None:
    seen: dict[str, Repository] = {}
    for entry in found.values():
        place = str(entry.path.resolve())
        if place in seen:
            raise ConfigError(
                f"{entry.path} has two names: {seen[place].name} and {entry.name}",
                hint=f"keep one: agentforge repo remove {entry.name}",
            )
        seen[place] = entry


def _same_place(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


@contextmanager
def _changing(environ: Mapping[str, str]) -> Iterator[dict[str, Repository]]:
    """The entries, to be changed; written when the block ends well. Two programs change the file one after the other."""
    file = registry_file(environ)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(file.with_name(".repos.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise StorageError(f"{file} cannot be changed: {exc.strerror}", hint="check its folder's permissions") from exc
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = _read(file)
        yield entries
        write_text(file, _written(list(entries.values())))
    finally:
        os.close(lock)


def _written(entries: Sequence[Repository]) -> str:
    """The file in the form that people write it: every value in double quotes, which JSON shares with YAML."""
    lines = ["repositories:"] if entries else ["repositories: []"]
    for entry in entries:
        values = {
            "path": str(entry.path),
            "default_branch": entry.default_branch,
            "contracts_path": entry.contracts_path,
        }
        lines.append(f"  - name: {json.dumps(entry.name)}")
        lines += [f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value]
    return "\n".join(lines) + "\n"
