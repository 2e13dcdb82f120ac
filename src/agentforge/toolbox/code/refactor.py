"""The tool refactor: rename, move, delete or change the parameters of Python code by its syntax tree, with every use of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from agentforge.python_refactoring import (
    PythonProject,
    RefactoringPlan,
    RefactoringRequest,
    Unclear,
    What,
    diff_of,
    plan_of,
    read_project,
)
from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, text
from agentforge.tools.base import FLAG, TEXT, Foreseen, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.files.search import files

_ROOTS = (".", "src", "lib")
_WHAT: Mapping[str, What] = {
    "rename": "rename",
    "move": "move",
    "delete": "delete",
    "add_parameter": "add",
    "rename_parameter": "rename",
    "drop_parameter": "drop",
}
_BOTH = {"rename_parameter": ("parameter", "to")}


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    plan = _planned(_wanted(arguments), context.root)
    for path in plan.files:
        if path in context.seen and _files.place(context, path).is_file():
            _files.refuse_if_changed(context, path, _files.read(context, path))
    only_shown = flag(arguments, "dry_run")
    if not only_shown:
        _write(plan, context)
    changed = tuple(sorted(plan.files))
    return Observation(
        status="success",
        summary=f"{plan.told}; {'would change' if only_shown else 'changed'} {len(changed)} files"[:200],
        text=diff_of(plan, lambda path: _bytes(context.root / path)) if only_shown else "\n".join(changed),
        artifacts=changed,
        changed=() if only_shown else changed,
        next_actions=() if only_shown else ("run_tests",),
    )


def _foreseen(arguments: Mapping[str, object], root: Path) -> Foreseen:
    """What a call would write; nothing where it cannot be planned, since it then writes nothing."""
    if flag(arguments, "dry_run"):
        return Foreseen()
    try:
        plan = _planned(_wanted(arguments), root)
    except ToolError:
        return Foreseen()
    return Foreseen(paths=tuple(sorted(plan.files)), diff=diff_of(plan, lambda path: _bytes(root / path)))


def _wanted(arguments: Mapping[str, object]) -> RefactoringRequest:
    action, symbol, to = (text(arguments, name) for name in ("action", "symbol", "to"))
    parameter = text(arguments, "parameter")
    needs = {"rename": "to", "move": "to", "add_parameter": "parameter", "drop_parameter": "parameter"}
    missing = [name for name in (needs.get(action, ""), *_BOTH.get(action, ())) if name and not arguments.get(name)]
    if missing:
        raise ToolError(failed(f"{action} needs `{missing[0]}`", error_type="bad-arguments"))
    place, _, name = symbol.rpartition("::")
    named = RefactoringRequest(what=_WHAT[action], names=(name,), place=place, new=to)
    if action == "move":
        return replace(named, target=to, fresh=True, reexport=flag(arguments, "reexport"), new="")
    if action == "add_parameter":
        head, _, default = parameter.partition("=")
        word, _, annotation = head.partition(":")
        return replace(named, parameter=word.strip(), annotation=annotation.strip(), default=default.strip())
    return replace(named, parameter=parameter)


def _planned(wanted: RefactoringRequest, root: Path) -> RefactoringPlan:
    try:
        plan = plan_of(_project(root, _state_of(root)), wanted)
    except Unclear as exc:
        choices = tuple(getattr(exc, "choices", ()))
        shown = tuple(f"symbol {one.partition(' (')[2].rstrip(')')}::{one.partition(' (')[0]}" for one in choices)
        raise ToolError(
            failed(
                f"{exc}; nothing was written"[:200],
                error_type="ambiguous" if choices else "unclear",
                text=str(exc),
                next_actions=shown or ("edit the places by hand, then run_tests",),
            )
        ) from exc
    if plan is None:
        names = ", ".join(wanted.names)
        raise ToolError(failed(f"{names} is no Python code of this project", error_type="not-found"))
    return plan


@lru_cache(maxsize=1)
def _project(root: Path, _state: tuple[tuple[str, int, int], ...]) -> PythonProject:
    """The files as they are in a state; judging, showing and carrying out one call read them once."""
    return read_project(files(root), lambda path: _bytes(root / path), roots=_ROOTS)


def _state_of(root: Path) -> tuple[tuple[str, int, int], ...]:
    stats = [(path, (root / path).lstat()) for path in files(root)]
    return tuple((path, one.st_mtime_ns, one.st_size) for path, one in stats)


def _write(plan: RefactoringPlan, context: ToolContext) -> None:
    """Write what the plan holds, in the encoding and with the line ends of each file."""
    for path, content in plan.files.items():
        target = _files.place(context, path)
        if content is None:
            target.unlink()
            continue
        before = _files.read(context, path) if target.exists() else None
        target.parent.mkdir(parents=True, exist_ok=True)
        _files.store(context, path, content, like=before)


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


TOOL = Tool(
    name="refactor",
    description="Rename, move or delete Python code, or change parameters, with every import and call. symbol: [path::]name.",
    parameters=takes(
        "action symbol", action={"enum": list(_WHAT)}, symbol=TEXT, to=TEXT, parameter=TEXT, reexport=FLAG, dry_run=FLAG
    ),
    effect="write",
    run=_run,
    foresees=_foreseen,
)
