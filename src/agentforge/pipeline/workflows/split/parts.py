"""A request that is split into parts: which one becomes a task next, what it is told, and which version a commit holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_bytes
from agentforge.context.sections import Level, Piece, Section
from agentforge.contracts.rulebook.plan import asked_of, earlier_parts, in_order, key_of, needs_of
from agentforge.contracts.versions import satisfies
from agentforge.errors import UsageError
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import StartPart
from agentforge.pipeline.model.prompt_text import terms_of
from agentforge.pipeline.model.runtime import Measured
from agentforge.pipeline.model.stage import Json, items
from agentforge.workspace.git.queries import top_level
from agentforge.workspace.git.repository import Git

REPOSITORIES = "repositories"
"""Under which name the first record of a plan binds the named repositories: {name, path, default_branch, commit}."""
PLAN = "plan"
"""Under which name the first record of a part binds its plan: {run_id, repo, path, digest}, and part where it has a name."""
_ENDS_WITH = (".json", ".yaml", ".yml", ".toml")
_MANIFESTS = ("pyproject.toml", "package.json")


def next_part(state: RunState) -> StartPart | None:
    """The next part that becomes a task, after those that it waits for; None when there is none left."""
    plan = state.work.artifacts.get("plan")
    if plan is None:
        return None
    return next((StartPart(part=name) for name in in_order(needs_of(plan)) if name not in state.relations.parts), None)


def named_rows(state: RunState) -> list[Json]:
    """The repositories that were named when the plan began."""
    return items(state.identity.digests.get(REPOSITORIES))


def part_of(state: RunState, key: str) -> Json:
    """A part as the plan has it; it is called by its name, else by its repository."""
    return next(part for part in items(state.work.artifacts["plan"].get("parts")) if key_of(part) == key)


def part_request(part: Json) -> str:
    """What the task of a part is asked to do: its request, and the contracts that others rely on."""
    lines = [str(part.get("request", "")).strip()]
    for item in items(part.get("provides")):
        name = item.get("artifact")
        lines.append(
            f"Other repositories rely on the contract {name}: deliver it as a file {name}.json, {name}.yaml or {name}.toml "
            f'with the top-level entry version: "{item.get("version")}".'
        )
    lines += [
        f"Rely on the contract {item.get('artifact')} {item.get('version')} of the repository {item.get('repo')}."
        for item in items(part.get("uses"))
    ]
    return "\n\n".join(lines)


def part_after(state: RunState, part: Json) -> tuple[dict[str, object], ...]:
    """What the task of a part waits for: the tasks of other parts, and the contracts that these provide.

    The last of the parts of its own repository that come before is what it starts from.
    """
    planned = f"planned so by {state.identity.run_id}"
    needs = {asked_of(need): need for need in items(part.get("needs"))}
    base = earlier_parts(state.work.artifacts["plan"], key_of(part))[-1:]
    rows: list[dict[str, object]] = [
        {
            "task_id": state.relations.parts[other]["task_id"],
            "required_stage": needs.get(other, {}).get("required_stage") or "deliver",
            "repo": part_of(state, other)["repo"],
            "reason": str(needs.get(other, {}).get("reason") or planned),
            **({"onto": True} if other in base else {}),
        }
        for other in dict.fromkeys([*needs, *base])
    ]
    for item in items(part.get("uses")):
        if (item.get("repo"), item.get("artifact")) in _provided(state):
            reason = f"a contract of plan {state.identity.run_id}"
            rows.append({**{key: item[key] for key in ("repo", "artifact", "version")}, "reason": reason})
    return tuple(rows)


def _provided(state: RunState) -> set[tuple[object, object]]:
    """The contracts that parts with a task provide: (repository, contract)."""
    parts = [part for part in items(state.work.artifacts["plan"].get("parts")) if key_of(part) in state.relations.parts]
    return {(part.get("repo"), item.get("artifact")) for part in parts for item in items(part.get("provides"))}


_FILES = 60
_READMES = ("README.md", "README.rst", "README.txt", "README")


def gather_plan(state: RunState) -> list[Section]:
    """The request, and each repository: top of the README, files (those that the request's words fit first), contracts."""
    rows = named_rows(state)
    request = Piece(
        name="the request, verbatim", text=state.brief.request, level=Level.LAW, note="a long request is cut here"
    )
    return [request, *(_piece(row, state) for row in rows)]


def measure_plan(state: RunState, draft: Json) -> Measured:
    """The named repositories, and which versions of the planned contracts stand in them already."""
    rows = named_rows(state)
    wanted: dict[str, set[str]] = {}
    for part in items(draft.get("parts")):
        for item in items(part.get("provides")):
            wanted.setdefault(str(part.get("repo")), set()).add(str(item.get("artifact")))
        for item in items(part.get("uses")):
            wanted.setdefault(str(item.get("repo")), set()).add(str(item.get("artifact")))
    found = [found for row in rows for found in _contracts(row, wanted.get(str(row.get("name")), set()))]
    listed = [{"name": row.get("name"), "commit": row.get("commit")} for row in rows]
    return Measured(facts={"repositories": listed, "contracts": found})


def _contracts(row: Json, names: set[str]) -> Iterator[dict[str, object]]:
    for name in sorted(names):
        for path, version, _ in versions_in(Path(str(row["path"])), str(row["commit"]), name):
            yield {"repo": row["name"], "artifact": name, "version": version, "path": path}


def _piece(row: Mapping[str, object], state: RunState) -> Piece:
    git, commit = Git(Path(str(row["path"]))), str(row["commit"])
    _, readme = top_level(git, commit, texts=_READMES)
    words = [word.lower() for word in terms_of(state.brief.request)]
    files = sorted(git.list_files(commit), key=lambda path: not any(word in path.lower() for word in words))
    more = f"\n... and {len(files) - _FILES} more" if len(files) > _FILES else ""
    told = " ".join(readme[:4000].decode("utf-8", "replace").split())[:600]
    text = f"{told}\nfiles:\n" + "\n".join(files[:_FILES]) + more
    return Piece(name=f"repository {row['name']}", text=text, foreign=True, ends=True)


def versions_in(repo: Path, commit: str, artifact: str) -> Iterator[tuple[str, str, str]]:
    """Find (path, version, digest) of the files of a commit that say which version of the artifact they are."""
    git = Git.open(repo)
    for path in git.list_files(commit):
        name = path.rpartition("/")[2]
        if name in _MANIFESTS or (name.startswith(f"{artifact}.") and name.endswith(_ENDS_WITH)):
            data = git.show(commit, path) or b""
            version = _version_of(name, data, artifact)
            if version:
                yield path, version, digest_bytes(data)


def satisfies_or_fails(version: str, condition: str) -> bool:
    """Whether a version meets a condition; what is written in a delivered file may be no version at all: then not.

    Raises:
        UsageError: the condition itself is wrong.
    """
    satisfies("0", condition)
    try:
        return satisfies(version, condition)
    except UsageError:
        return False


def _version_of(name: str, data: bytes, artifact: str) -> str:
    """The version that a file states of the artifact, "" when it states none."""
    value = _parsed(name, data)
    if name in _MANIFESTS:
        value = value.get("project", {}) if name == "pyproject.toml" else value
        if not isinstance(value, Mapping) or value.get("name") != artifact:
            return ""
    version = value.get("version")
    return version if isinstance(version, str) else ""


def _parsed(name: str, data: bytes) -> Any:
    """The mapping that a file holds; one that is broken states nothing."""
    import tomllib

    import yaml

    try:
        text = data.decode("utf-8")
        if name.endswith(".toml"):
            value: object = tomllib.loads(text)
        else:
            value = json.loads(text) if name.endswith(".json") else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        return {}
    return value if isinstance(value, Mapping) else {}
