"""The stable part of a fix's contexts: the violations with the words of their contract, their places, how tests look here."""

from __future__ import annotations

from agentforge.context.sections import Level, Piece, Section
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.excerpts import code_view
from agentforge.pipeline.context.excerpts_of_tests import style_views
from agentforge.pipeline.context.material import frozen_tests
from agentforge.pipeline.model.prompt_text import baseline_text
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import fix_scope, suite_files
from agentforge.pipeline.model.stage import Json, items, texts

_FILES_SHOWN = 12


def gather_fix(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    """The pieces for a stage of a fix; a stage without a model needs none."""
    if stage == "guard":
        return _guard(state, runtime)
    return _change(state, runtime)


def _guard(state: RunState, runtime: Runtime) -> list[Section]:
    rows = _violations(state)
    files = list(dict.fromkeys(str(row.get("file")) for row in rows))
    known = texts(state.work.facts.get("baseline", {}).get("test_files"))
    unguarded = texts(state.work.facts.get("analyze", {}).get("unguarded"))
    return [
        Piece(name="places that no test watches (measured)", text="\n".join(unguarded), level=Level.LAW),
        Piece(name="what will be repaired there later", text=_told(rows), level=Level.LAW),
        Piece(name="how tests run", text=baseline_text(state), level=Level.LAW),
        *style_views(runtime.worktree, near=files, tests=known),
        *_code(rows, runtime),
    ]


def _change(state: RunState, runtime: Runtime) -> list[Section]:
    rows = _violations(state)
    return [
        Piece(name="the violations (measured)", text=_told(rows), level=Level.LAW),
        Piece(name="files that you may write", text="\n".join(fix_scope(state)), level=Level.LAW),
        *frozen_tests(runtime, dict.fromkeys(suite_files(state), ()), state),
        *_code(rows, runtime),
    ]


def _violations(state: RunState) -> list[Json]:
    return items(state.work.artifacts.get("analyze", {}).get("violations"))


def _told(rows: list[Json]) -> str:
    """One paragraph per violation: place, rule, message, and why the rule is there."""
    lines = []
    for row in rows:
        place = f"{row.get('file')}:{row.get('line')}" if row.get("line") else str(row.get("file"))
        lines.append(f"{place} {row.get('rule')} {row.get('message')}")
        lines += [f"  rule: {row['description']}"] if row.get("description") else []
        lines += [f"  how: {row['hint']}"] if row.get("hint") else []
    return "\n".join(lines)


def _code(rows: list[Json], runtime: Runtime) -> list[Section]:
    """The source around the violations, whole files where they are small."""
    lines: dict[str, list[int]] = {}
    for row in rows:
        number = row.get("line")
        lines.setdefault(str(row.get("file")), []).append(number if isinstance(number, int) else 0)
    shown = [path for path in lines if (runtime.worktree / path).is_file()][:_FILES_SHOWN]
    state = "as it is at the start of this stage"
    views = [code_view(runtime.worktree, path, lines=lines[path], state=state) for path in shown]
    return [view for view in views if view is not None]
