"""The tool apply_patch: a unified diff over one or more files, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, number, text
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.files.patch import Reject, apply_patch
from agentforge.workspace.files.patchformat import parse_patch, strip_name


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    patch, dry_run = text(arguments, "patch"), flag(arguments, "dry_run")
    for path in _writes(arguments):
        _refuse_if_changed(context, path)
    strip = number(arguments, "strip", default=1)
    if not flag(arguments, "create_parent_dirs", default=True):
        _refuse_new_folders(arguments, context)
    result = apply_patch(context.root, patch, strip=strip, dry_run=dry_run, may_write=context.may_write)
    if result.rejected:
        return _rejected(result.rejected)
    notes = [] if dry_run else [note for path in result.changed if (note := _syntax(context, path))]
    return Observation(
        status="success",
        summary=f"{'would change' if dry_run else 'changed'} {', '.join(result.changed) or 'nothing'}",
        text="\n".join(notes),
        artifacts=result.changed,
        changed=() if dry_run else result.changed,
        next_actions=("correct the syntax",) if notes else (),
    )


def _writes(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The paths that the headers of the patch name."""
    strip = number(arguments, "strip", default=1)
    names = [name for patch in parse_patch(text(arguments, "patch")) for name in (patch.old, patch.new) if name]
    plain = [name if strip == 1 and name[:2] not in ("a/", "b/") else strip_name(name, strip=strip) for name in names]
    return tuple(dict.fromkeys(name for name in plain if name))


def _refuse_new_folders(arguments: Mapping[str, object], context: ToolContext) -> None:
    for path in _writes(arguments):
        if not _files.place(context, path).parent.is_dir():
            raise ToolError(failed(f"the folder of {path} does not exist; nothing was written", error_type="not-found"))


def _refuse_if_changed(context: ToolContext, path: str) -> None:
    if path in context.seen and _files.place(context, path).is_file():
        _files.refuse_if_changed(context, path, _files.read(context, path))


def _syntax(context: ToolContext, path: str) -> str:
    target = context.root / path
    return (
        _files.syntax_note(path, _files.read(context, path).text) if target.suffix == ".py" and target.is_file() else ""
    )


def _rejected(rejects: tuple[Reject, ...]) -> Observation:
    first = rejects[0]
    return failed(
        f"the patch was not applied: {first.path + ': ' if first.path else ''}{first.reason}",
        error_type="patch-rejected",
        text="\n".join(row for reject in rejects for row in _rows(reject)),
        next_actions=("read_file the place and use edit, or write the hunk anew",),
    )


def _rows(reject: Reject) -> Iterator[str]:
    yield f"{reject.path or 'patch'}: {reject.reason}"
    if reject.nearest_lines:
        yield "Nearest lines:"
        yield from reject.nearest_lines


TOOL = Tool(
    name="apply_patch",
    description="Apply a unified diff.",
    parameters=takes(
        "patch", intent=TEXT, patch=TEXT, dry_run=FLAG, strip={"type": "integer", "minimum": 0}, create_parent_dirs=FLAG
    ),
    effect="write",
    run=_run,
    writes=_writes,
)
