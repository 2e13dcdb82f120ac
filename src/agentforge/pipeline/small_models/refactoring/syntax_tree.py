"""A change that the syntax tree carries out, as the stages speak of it: what is declared, which tests show it. Pure."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import Json, items, texts

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTree:
    """One mechanical change.

    Attributes:
        told: one sentence: what is the case afterwards; criterion: how one can see it.
        modified, created: product files.
        symbols: what the specification declares, tests that change or end with it.
        seen: what the analysis names at the base.
        functions: ids of the test functions that show it.
        ended_files: test files that go as a whole.
    """

    told: str
    criterion: str
    modified: tuple[str, ...]
    created: tuple[str, ...]
    symbols: tuple[Json, ...]
    seen: tuple[Json, ...]
    functions: tuple[str, ...]
    ended_files: tuple[str, ...] = ()

    @property
    def summaries(self) -> list[Row]:
        """What is handed in for GREEN."""
        return [{"path": path, "changes_summary": self.told} for path in self.modified]


def by_tree(state: RunState) -> ByTree | None:
    """The mechanical change that was measured, None when the request is another one."""
    places = state.work.facts.get("places", {})
    rename, value = places.get("rename"), places.get("mechanical")
    if isinstance(rename, Mapping) and rename:
        return _of_renaming(rename)
    if not isinstance(value, Mapping) or not value:
        return None
    return ByTree(
        told=str(value.get("told")),
        criterion=str(value.get("criterion")),
        modified=tuple(texts(value.get("modified"))),
        created=tuple(texts(value.get("created"))),
        symbols=tuple(items(value.get("symbols"))),
        seen=tuple(items(value.get("seen"))),
        functions=tuple(texts(value.get("functions"))),
        ended_files=tuple(texts(value.get("ended_files"))),
    )


def suite_rows(change: ByTree, requirement: str) -> list[Row]:
    """The tests that show a change, for RED: targets where they fail today, guards where they hold."""
    rows: dict[str, list[Row]] = {}
    for nodeid in change.functions:
        path, _, name = nodeid.partition("::")
        test: Row = {
            "name": name,
            "requirement_ref": requirement,
            "acceptance_criterion": f"{requirement}.1",
            "kind": "target",
        }
        rows.setdefault(path, []).append(test)
    return [{"path": path, "tests": tests} for path, tests in rows.items()]


def uses(source: str, name: str) -> bool:
    """Whether a name stands in a source as a name: not in a text, not in a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return any(one.type == tokenize.NAME and one.string == name for one in tokens)


def _of_renaming(row: Mapping[str, object]) -> ByTree:
    """A renaming as runs of 0.1.0 recorded it: {old, new, file, kind, line, files, functions, affected}."""
    old, new, file, line = str(row.get("old")), str(row.get("new")), str(row.get("file")), row.get("line")
    owner = old.rpartition(".")[0]
    name = f"{owner}.{new}" if owner else new
    symbols: list[Row] = [
        {"name": name, "file": file, "kind": row.get("kind"), "change": "new"},
        {"name": old, "file": file, "kind": row.get("kind"), "change": "removed"},
    ]
    for nodeid in texts(row.get("affected")):
        path, _, test = nodeid.partition("::")
        symbols.append({"name": test.replace("::", "."), "file": path, "kind": "function", "change": "changed"})
    return ByTree(
        told=f"{old} is called {name}",
        criterion=f"every test that used {old} passes with {name}",
        modified=tuple(texts(row.get("files"))),
        created=(),
        symbols=tuple(symbols),
        seen=({"name": old, "file": file, "line": line if isinstance(line, int) else 1, "role": f"becomes {new}"},),
        functions=tuple(texts(row.get("functions"))),
    )
