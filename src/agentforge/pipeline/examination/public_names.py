"""The public names of what was changed, as the examiner is shown them."""

from __future__ import annotations

from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.examination.examiner import changed_files
from agentforge.pipeline.model.runtime import Runtime
from agentforge.workspace.code.symbols import implementations, outline_of

_SHOWN = ("function", "class", "method", "type", "variable")


def interface(state: RunState, runtime: Runtime) -> str:
    """The public names of the changed files with signature and first line of the docstring, what is new or changed first.

    Returns:
        "" where no file has a public name any more.
    """
    tree, base = judged(state.work.trees, ""), state.work.trees["baseline"]
    parts: list[str] = []
    for path in changed_files(state):
        now, before = (_source(runtime, one, path) for one in (tree, base))
        known = {one.qualified: _lines(before, one.line, one.end_line) for one in outline_of(path, before).symbols}
        public = [one for one in implementations(outline_of(path, now).symbols) if _is_public(one.qualified)]
        rows = [(known.get(one.qualified) != _lines(now, one.line, one.end_line), one) for one in public]
        rows = [row for row in rows if row[1].kind in _SHOWN]
        rows.sort(key=lambda row: not row[0])
        parts += [f"## {path}", *(_told(one.qualified, one.signature, one.doc, changed=new) for new, one in rows)]
    return "\n".join(parts)


def _told(name: str, signature: str, doc: str, *, changed: bool) -> str:
    owner = f" (of {name.rpartition('.')[0]})" if "." in name else ""
    return f"- {'' if changed else 'as before: '}{signature}{owner}{f': {doc}' if doc and changed else ''}"


def _is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def _source(runtime: Runtime, tree: str, path: str) -> str:
    data = runtime.git.show(tree, path)
    return data.decode("utf-8", "replace") if data is not None else ""


def _lines(text: str, first: int, last: int) -> str:
    return "\n".join(text.splitlines()[first - 1 : last])
