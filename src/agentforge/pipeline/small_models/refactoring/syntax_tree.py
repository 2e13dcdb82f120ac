"""A change that the syntax tree carries out, as the stages speak of it: what is declared, which tests show it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.pipeline.small_models.refactoring.rename_request import Renaming, rename_symbols, renaming_of

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
    rename = renaming_of(state)
    if rename is not None:
        return _of_renaming(rename)
    value = state.facts.get("places", {}).get("mechanical")
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


def _of_renaming(rename: Renaming) -> ByTree:
    return ByTree(
        told=f"{rename.old} is called {rename.new_name}",
        criterion=f"every test that used {rename.old} passes with {rename.new_name}",
        modified=rename.files,
        created=(),
        symbols=tuple(rename_symbols(rename)),
        seen=({"name": rename.old, "file": rename.file, "line": max(rename.line, 1), "role": f"becomes {rename.new}"},),
        functions=rename.functions,
    )
