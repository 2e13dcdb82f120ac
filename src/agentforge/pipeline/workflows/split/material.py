"""What PLAN is shown, and what is measured of its draft: the named repositories at the commits that were bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from agentforge.context.sections import Level, Piece, Section
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.measurement import Measured
from agentforge.pipeline.model.prompt_text import terms_of
from agentforge.pipeline.model.stage import Json, items
from agentforge.pipeline.parallel.artifact_versions import versions_in
from agentforge.pipeline.workflows.split.parts import named_rows
from agentforge.workspace.git.queries import top_level
from agentforge.workspace.git.repository import Git

_FILES = 60
_READMES = ("README.md", "README.rst", "README.txt", "README")


def gather_plan(state: RunState) -> list[Section]:
    """The request, and each repository: top of the README, files (those that the request's words fit first), contracts."""
    rows = named_rows(state)
    request = Piece(
        name="the request, verbatim", text=state.request, level=Level.LAW, note="a long request is cut here"
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
    words = [word.lower() for word in terms_of(state.request)]
    files = sorted(git.list_files(commit), key=lambda path: not any(word in path.lower() for word in words))
    more = f"\n... and {len(files) - _FILES} more" if len(files) > _FILES else ""
    told = " ".join(readme[:4000].decode("utf-8", "replace").split())[:600]
    text = f"{told}\nfiles:\n" + "\n".join(files[:_FILES]) + more
    return Piece(name=f"repository {row['name']}", text=text, foreign=True, ends=True)
