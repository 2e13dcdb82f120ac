"""The tool edit: replace one exact piece of text in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from agentforge.toolbox import _files
from agentforge.toolbox._arguments import flag, text
from agentforge.toolbox.files._mismatch import explain
from agentforge.tools.base import FLAG, TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.workspace.files.file_access import TextFile

_AROUND = 2
_LONGEST_SHOWN = 24
_MOST_NAMED = 10
_BLANKS = " \t"
_TELLING = 12  # characters that make a text unlikely to stand somewhere by chance


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    path = _files.shown(context, _files.place(context, text(arguments, "path")))
    file = _files.read(context, path)
    _files.refuse_if_changed(context, path, file)
    old, new = _as_in(file, text(arguments, "old_string")), _as_in(file, text(arguments, "new_string"))
    _refuse_empty(path, old, new)
    old = _but_for_ends(file.text, old)
    count = file.text.count(old)
    if count == 0:
        return _not_there(path, file, old, new)
    if count > 1 and not flag(arguments, "replace_all"):
        raise ToolError(_ambiguous(path, file.text, old, count))
    first = file.text.index(old)
    after = file.text.replace(old, new)
    note = _files.store(context, path, after, like=file)
    line = file.text.count("\n", 0, first) + 1
    return Observation(
        status="success",
        summary=f"edited {path} at line {line}" + (f" and {count - 1} more places" if count > 1 else ""),
        text="\n".join(part for part in (note, _snippet(after, line, new)) if part),
        artifacts=(path,),
        changed=(path,),
        next_actions=(f"correct the syntax of {path}",) if note else (),
    )


def _as_in(file: TextFile, piece: str) -> str:
    """A piece of text with the line ends that the file has in memory."""
    return piece if file.newline == "mixed" else piece.replace("\r\n", "\n")


def _but_for_ends(content: str, old: str) -> str:
    """The one place of the file that equals a text but for blanks at the ends of its lines; else the text itself."""
    *lines, last = old.split("\n")
    if old in content or not lines:
        return old
    ends = "".join(f"{re.escape(line.rstrip(_BLANKS))}[{_BLANKS}]*\n" for line in lines)
    found = list(islice(re.finditer(ends + re.escape(last), content), 2))
    return found[0].group() if len(found) == 1 else old


def _refuse_empty(path: str, old: str, new: str) -> None:
    if not old:
        raise ToolError(
            failed(
                f"{path}: old_string is empty; nothing was written",
                error_type="bad-arguments",
                next_actions=(f"append_file to add to the end of {path}", f"write_file to replace {path} whole"),
            )
        )
    if old == new:
        raise ToolError(
            failed(f"{path}: old_string and new_string are the same; nothing was written", error_type="no-change")
        )


def _not_there(path: str, file: TextFile, old: str, new: str) -> Observation:
    if len(new.strip()) >= _TELLING and new not in old and new in file.text:
        line = file.text.count("\n", 0, file.text.index(new)) + 1
        return Observation(
            status="success",
            summary=f"already applied: new_string stands at line {line} of {path}; nothing was changed",
            artifacts=(path,),
        )

    return failed(
        f"{path}: old_string was not found; nothing was written",
        error_type="no-match",
        text=explain(file.text, old),
        next_actions=(f"copy old_string exactly from {path}, without line numbers; \\u00a0 in JSON writes U+00A0",),
    )


def _ambiguous(path: str, content: str, old: str, count: int) -> Observation:
    lines: list[int] = []
    at = content.find(old)
    while at >= 0 and len(lines) < _MOST_NAMED:
        lines.append(content.count("\n", 0, at) + 1)
        at = content.find(old, at + len(old))
    more = " ..." if count > len(lines) else ""
    return failed(
        f"{path}: old_string stands {count} times, at lines {', '.join(map(str, lines))}{more}; nothing was written",
        error_type="ambiguous",
        next_actions=("add lines around it to old_string so that it is unique", "or set replace_all"),
    )


def _snippet(content: str, line: int, new: str) -> str:
    """The replaced lines as they stand now, with their neighbours."""
    lines = content.split("\n")
    start = max(1, line - _AROUND)
    end = min(len(lines), line + min(new.count("\n"), _LONGEST_SHOWN) + _AROUND)
    return _files.numbered(lines[start - 1 : end], first=start)


TOOL = Tool(
    name="edit",
    description="Replace an exact piece of text, which must stand once.",
    parameters=takes("path old_string new_string", path=TEXT, old_string=TEXT, new_string=TEXT, replace_all=FLAG),
    effect="write",
    run=_run,
    writes=lambda arguments: (text(arguments, "path"),),
)
