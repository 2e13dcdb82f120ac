"""The public names of what was changed, as the examiner is shown them."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set as AbstractSet

from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.examination.examiner import changed_files, request_words
from agentforge.pipeline.model.runtime import Runtime
from agentforge.workspace.code.symbols import Symbol, implementations, outline_of

_MOST_NAMED = 15
_MAKING = ("__init__", "constructor", "new", "initialize", "__construct")
"""What languages call the method that makes an object; others give it the name of its class."""
_SHOWN = ("function", "class", "method", "type", "variable")


def interface(state: RunState, runtime: Runtime) -> str:
    """The public names of the changed files: what is new or changed with signature and first line of the docstring, what is as
    before with its signature where the request names it, how the objects of both are made, and of the rest the first names.

    Returns:
        "" where no file has a public name any more.
    """
    tree, base = judged(state.work.trees, ""), state.work.trees["baseline"]
    parts: list[str] = []
    for path in changed_files(state):
        now, before = (_source(runtime, one, path) for one in (tree, base))
        known = {one.qualified: _lines(before, one.line, one.end_line) for one in outline_of(path, before).symbols}
        whole = implementations(outline_of(path, now).symbols)
        public = [one for one in whole if _is_public(one.qualified)]
        rows = [(known.get(one.qualified) != _lines(now, one.line, one.end_line), one) for one in public]
        rows = [row for row in rows if row[1].kind in _SHOWN]
        words = set(re.findall(r"\w+", request_words(state)))
        told = [row for row in rows if row[0] or row[1].qualified.rpartition(".")[2] in words]
        told.sort(key=lambda row: not row[0])
        rest = [row[1].qualified for row in rows if row not in told and row[1].kind != "variable"]
        parts += [
            f"## {path}",
            *(_told(one.qualified, one.signature, one.doc, changed=new) for new, one in told),
            *_making(whole, told=[one for _, one in told]),
            *_rest(rest),
        ]
    return "\n".join(parts)


def _making(whole: Sequence[Symbol], *, told: Sequence[Symbol]) -> list[str]:
    """How the objects are made whose class or methods are told: by which signature, or else of which typed fields."""
    shown = {one.qualified for one in told}
    owners = dict.fromkeys(one.qualified.rpartition(".")[0] if one.kind == "method" else one.qualified for one in told)
    lines = []
    for owner in owners:
        members = {one.qualified: one for one in whole if one.qualified.rpartition(".")[0] == owner}
        makers = [f"{owner}.{name}" for name in (*_MAKING, owner.rpartition(".")[2]) if owner]
        found = [members[name] for name in makers if name in members]
        lines += [f"- makes {owner}: {one.signature}" for one in found if one.qualified not in shown]
        lines += [] if found else _fields(owner, list(members.values()), shown=shown)
    return lines


def _fields(owner: str, members: Sequence[Symbol], *, shown: AbstractSet[str]) -> list[str]:
    typed = [one for one in members if one.kind == "variable" and ":" in one.signature]
    told = ", ".join(one.signature for one in typed[:_MOST_NAMED])
    return [f"- makes {owner}: {told}"] if any(one.qualified not in shown for one in typed) else []


def _rest(names: Sequence[str]) -> list[str]:
    """The names of what is as before and what the request does not name, in a line."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return [f"- as before, too: {', '.join(names[:_MOST_NAMED])}{more}"] if names else []


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
