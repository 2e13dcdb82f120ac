"""Trust in a project: what it would run or be steered by is used only after a person agreed to exactly these bytes.

What a person did not want to use of a project: nobody asks again before it is something else.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

from agentforge.canonical import canonical_bytes, digest_value
from agentforge.config.edits import write_text
from agentforge.config.paths import data_dir
from agentforge.config.steering_files import Item, instruction_item, is_nested, steering_items
from agentforge.errors import StorageError, TrustRequired
from agentforge.frozen import dataclass

_VERSION = 1
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustChange:
    """What is not as it was when it was trusted."""

    name: str
    kind: str
    what: Literal["new", "changed", "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Where a project stands.

    Attributes:
        items: what it would run or be steered by.
        changes: the differences to what was trusted; every item when nothing ever was.
        since: when it was trusted, "" never.
        deep: whether instructions of inner folders were looked for.
    """

    project: Path
    items: tuple[Item, ...]
    changes: tuple[TrustChange, ...]
    since: str = ""
    deep: bool = True

    def holds(self, kinds: Collection[str] | None = None) -> bool:
        """Whether everything of these kinds (None: of every kind) is trusted as it stands; nothing at all needs no trust."""
        return not self.pending(kinds)

    def pending(self, kinds: Collection[str] | None = None) -> tuple[TrustChange, ...]:
        """What a person has to look at before these kinds may be used; what was removed needs nobody."""
        return tuple(one for one in self.changes if one.what != "removed" and (kinds is None or one.kind in kinds))

    def files(self, kind: str) -> tuple[Path, ...]:
        """The files of a kind, absolute, in order of their names; settings stand in a file but are none."""
        found = (self.project / item.name for item in self.items if item.kind == kind and ": " not in item.name)
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedProject:
    """One line of the record."""

    project: str
    since: str
    items: Mapping[str, str]


def trusted(project: Path, environ: Mapping[str, str], *, kinds: Collection[str] | None = None) -> Trust:
    """Say how far a project is trusted. Every loader of a project's hooks, tools, skills and the like asks this first.

    Args:
        kinds: what will be asked about; without "instructions" the project's inner folders are not walked through.
    Raises:
        StorageError: the record of trust cannot be read, or others could have written it.
    """
    project = project.resolve()
    deep = kinds is None or "instructions" in kinds
    items = steering_items(project, environ, deep=deep)
    known = _read(environ).get(str(project))
    before = {name: digest for name, digest in (known.items if known else {}).items() if deep or not is_nested(name)}
    since = known.since if known else ""
    return Trust(project=project, items=items, changes=tuple(_changes(items, before)), since=since, deep=deep)


def agreed_items(project: Path, environ: Mapping[str, str]) -> Mapping[str, str]:
    """What a person agreed to in a project: digests by name; empty when nobody ever did.

    Raises:
        StorageError: the record of trust cannot be read, or others could have written it.
    """
    known = _read(environ).get(str(project.resolve()))
    return known.items if known is not None else {}


def is_trusted_instruction(project: Path, environ: Mapping[str, str], file: Path) -> bool:
    """Whether a person agreed to the instructions of a sub-folder as they are now."""
    project = project.resolve()
    known = _read(environ).get(str(project))
    if known is None or not file.is_relative_to(project):
        return False
    item = instruction_item(project, file)
    return known.items.get(item.name) == item.digest


def require_trust(project: Path, environ: Mapping[str, str], *, kinds: Collection[str] | None = None) -> Trust:
    """Return the trust in a project that is about to be used; the one gate in front of every loader.

    A loader calls it with its kinds and then reads only what `Trust.files` names, so that nothing is loaded that nobody was
    shown. Where a person can answer, `cli.trusting.ensure_trust` asks and then calls this.

        trust = require_trust(project, environ, kinds={"skill"})
        for path in trust.files("skill"): ...

    Kinds: "instructions" AGENTS.md and CLAUDE.md at any depth, `developer_instructions`; "skill" skills with their scripts and
    `skill_roots`; "environment" `.env`, which is also where addresses (`*_BASE_URL`) and names of keys would come from;
    "mcp" servers, their addresses and the scripts that start them; "tool" `.agentforge/tools`; "hook" hooks and their scripts;
    "settings" `subagents`; "protection" values that protect less than those that hold without the project, which
    `config.settings` leaves out until then; "check", "stage", "contract" what a task runs. A digest stands for each file, its
    rights and where a link leads: a changed byte asks again, for its kind alone. A project's settings name no address of a
    model outside the machine at all: they are refused when they are read (`config.schema`).

    Args:
        kinds: what would be used of it; None = everything.
    Raises:
        TrustRequired: it was never trusted, or changed since; names the files.
    """
    trust = trusted(project, environ, kinds=kinds)
    pending = trust.pending(kinds)
    if pending:
        named = ", ".join(f"{one.name} ({one.what})" for one in pending[:_SHOWN])
        more = f" and {len(pending) - _SHOWN} more" if len(pending) > _SHOWN else ""
        what = "changed since it was trusted" if trust.since else "is not trusted"
        raise TrustRequired(
            f"{trust.project} {what}: {named}{more}",
            hint="look at these files, then run `agentforge trust`, or pass --trust",
        )
    return trust


def grant(trust: Trust, environ: Mapping[str, str], *, now: str) -> None:
    """Remember that a person agreed to what a project holds now, exactly as it was looked at.

    Raises:
        StorageError: the record cannot be read or written.
    """
    record = _read(environ)
    project = str(trust.project)
    known = record[project].items if project in record else {}
    unseen = {name: digest for name, digest in known.items() if not trust.deep and is_nested(name)}
    items = {**unseen, **{item.name: item.digest for item in trust.items}}
    _write(environ, {**record, project: TrustedProject(project=project, since=now, items=items)})


def revoke(project: Path, environ: Mapping[str, str]) -> bool:
    """Forget a project.

    Returns:
        Whether it was known.
    Raises:
        StorageError: the record cannot be read or written.
    """
    record = _read(environ)
    known = record.pop(str(project.resolve()), None) or record.pop(str(project), None)
    if known is not None:
        _write(environ, record)
    return known is not None


def trusted_projects(environ: Mapping[str, str]) -> tuple[TrustedProject, ...]:
    """List what was trusted, sorted by path.

    Raises:
        StorageError: the record cannot be read.
    """
    return tuple(one for _, one in sorted(_read(environ).items()))


def _changes(items: Iterable[Item], before: Mapping[str, str]) -> Iterable[TrustChange]:
    names = set()
    for item in items:
        names.add(item.name)
        if item.name not in before:
            yield TrustChange(name=item.name, kind=item.kind, what="new")
        elif before[item.name] != item.digest:
            yield TrustChange(name=item.name, kind=item.kind, what="changed")
    for name in sorted(before.keys() - names):
        yield TrustChange(name=name, kind="", what="removed")


def _read(environ: Mapping[str, str]) -> dict[str, TrustedProject]:
    path = data_dir(environ) / "trust.json"
    try:
        info = path.lstat()
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise StorageError(f"{path} cannot be read: {exc}", hint="remove it; projects are asked about again") from exc
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o022:
        raise StorageError(f"{path} could have been written by others", hint=f"chmod 600 {path}, or remove it")
    try:
        value = json.loads(text)
        return {
            str(project): TrustedProject(project=str(project), since=str(one["since"]), items=dict(one["items"]))
            for project, one in value["projects"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise StorageError(f"{path} is damaged", hint="remove it; projects are asked about again") from exc


def _write(environ: Mapping[str, str], record: Mapping[str, TrustedProject]) -> None:
    path = data_dir(environ) / "trust.json"
    projects = {name: {"since": one.since, "items": dict(one.items)} for name, one in record.items()}
    write_text(path, canonical_bytes({"version": _VERSION, "projects": projects}).decode())


def is_declined(trust: Trust, environ: Mapping[str, str]) -> bool:
    """Whether the person said no to exactly what waits for trust now."""
    return _declined_in(environ).get(str(trust.project)) == _digest(trust)


def decline(trust: Trust, environ: Mapping[str, str]) -> None:
    """Remember that the person said no to what waits for trust now.

    Raises:
        StorageError: it cannot be written.
    """
    known = {**_declined_in(environ), str(trust.project): _digest(trust)}
    write_text(data_dir(environ) / "declined.json", canonical_bytes(known).decode())


def _digest(trust: Trust) -> str:
    pending = {one.name for one in trust.pending()}
    return digest_value([[item.name, item.digest] for item in trust.items if item.name in pending])


def _declined_in(environ: Mapping[str, str]) -> dict[str, str]:
    """The digests by project; a file that is damaged says nothing, and the person is asked again."""
    try:
        value = json.loads((data_dir(environ) / "declined.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
