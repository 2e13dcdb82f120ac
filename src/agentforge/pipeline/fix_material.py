"""The stable part of a fix's contexts: the violations with the words of their contract, their places, how tests look here."""

from __future__ import annotations

from agentforge.context.budget import Piece
from agentforge.events.state import RunState
from agentforge.pipeline.excerpts import code_of, test_sample
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import fix_scope, suite_files
from agentforge.pipeline.stage import Json, items, texts

_CODE_TOKENS = 2400
_LEAST_CODE = 400


def gather_fix(stage: str, state: RunState, runtime: Runtime) -> list[Piece]:
    """The pieces for a stage of a fix; a stage without a model needs none."""
    if stage == "guard":
        return _guard(state, runtime)
    return _change(state, runtime)


def _guard(state: RunState, runtime: Runtime) -> list[Piece]:
    from agentforge.pipeline.wording import baseline_text

    rows = _violations(state)
    files = list(dict.fromkeys(str(row.get("file")) for row in rows))
    known = texts(state.facts.get("baseline", {}).get("test_files"))
    unguarded = texts(state.facts.get("analyze", {}).get("unguarded"))
    return [
        Piece(name="places that no test watches (measured)", text="\n".join(unguarded), limit=300),
        Piece(name="what will be repaired there later", text=_told(rows), limit=500),
        Piece(name="how tests run", text=baseline_text(state), limit=120),
        Piece(
            name="style of the tests here",
            text=test_sample(runtime.worktree, near=files, tests=known),
            limit=600,
            foreign=True,
        ),
        *_code(rows, runtime),
    ]


def _change(state: RunState, runtime: Runtime) -> list[Piece]:
    rows = _violations(state)
    guards = "\n".join(f"--- {path}\n{_text(runtime, path)}" for path in suite_files(state))
    return [
        Piece(name="the violations (measured)", text=_told(rows), limit=900),
        Piece(name="files that you may write", text="\n".join(fix_scope(state)), limit=200),
        Piece(name="guard tests, frozen", text=guards, limit=600, foreign=True),
        *_code(rows, runtime),
    ]


def _text(runtime: Runtime, path: str) -> str:
    from agentforge.workspace.symbols import read_source

    return (read_source(runtime.worktree, path) or "").rstrip()


def _violations(state: RunState) -> list[Json]:
    return items(state.artifacts.get("analyze", {}).get("violations"))


def _told(rows: list[Json]) -> str:
    """One paragraph per violation: place, rule, message, and why the rule is there."""
    lines = []
    for row in rows:
        place = f"{row.get('file')}:{row.get('line')}" if row.get("line") else str(row.get("file"))
        lines.append(f"{place} {row.get('rule')} {row.get('message')}")
        lines += [f"  rule: {row['description']}"] if row.get("description") else []
        lines += [f"  how: {row['hint']}"] if row.get("hint") else []
    return "\n".join(lines)


def _code(rows: list[Json], runtime: Runtime) -> list[Piece]:
    """The source around the violations, whole files where they are small."""
    lines: dict[str, list[int]] = {}
    for row in rows:
        number = row.get("line")
        lines.setdefault(str(row.get("file")), []).append(number if isinstance(number, int) else 0)
    shown = [path for path in lines if (runtime.worktree / path).is_file()][:4]
    share = max(_LEAST_CODE, _CODE_TOKENS // max(1, len(shown)))
    return [
        Piece(
            name=f"{path} (as it is at the start of this stage)",
            text=code_of(
                runtime.worktree, path, _enclosing(runtime, path, lines[path]), lines=lines[path], limit=share
            ),
            limit=share + 40,
            note=f"read_file path={path} offset=N",
            foreign=True,
        )
        for path in shown
    ]


def _enclosing(runtime: Runtime, path: str, lines: list[int]) -> list[str]:
    """The dotted names of the innermost symbols around lines."""
    from agentforge.workspace.codemap import outline

    symbols = outline(runtime.worktree, path)
    found = []
    for line in lines:
        around = [one for one in symbols if one.line <= line <= one.end_line]
        if around:
            found.append(max(around, key=lambda one: one.line).qualified)
    return list(dict.fromkeys(found))
