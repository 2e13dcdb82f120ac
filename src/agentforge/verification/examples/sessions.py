"""Blocks of code as people paste them: lines with prompts, comments and results, and the steps before a call. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentforge.languages.javascript.source import broken
from agentforge.workspace.code.symbols import parse_tree

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|>|\$|In \[\d+\]:)(?:\s|\Z)")
_GOES_ON = re.compile(r"\s*\.\.\.(?:\s|\Z)")
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\):\s*\Z")
_QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`"
_COMMENT = {
    False: re.compile(rf"(?:{_QUOTED}|[^'\"#])*?(?P<comment>#.*)\Z", re.DOTALL),
    True: re.compile(rf"(?:{_QUOTED}|[^'\"`/]|/(?![/*]))*?(?P<comment>/[/*].*)\Z", re.DOTALL),
}
_DECLARED = re.compile(r"(?:(?:const|let|var)\s+)?(?P<name>[A-Za-z_$][\w$]*)\s*=(?!=)\s*(?P<value>.+)\Z", re.DOTALL)
_BRINGS = re.compile(r"(?:import|export)\b|(?:const|let|var)\s*[\w${},\s]*=\s*(?:await\s+import|require)\(")
_OPENS, _CLOSES = "([{", ")]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """A line of a block: the whole of it, its code without prompt and comment, and the comment."""

    text: str
    code: str
    comment: str = ""


def lines_of(block: str, *, javascript: bool) -> Iterator[SessionLine]:
    """The lines of a block; a statement that goes over several lines is one, and of a traceback only its last line is left."""
    waiting, inside = "", False
    for raw in block.splitlines():
        if _FENCE.match(raw) or not raw.strip():
            continue
        if _TRACEBACK.match(raw) or (inside and raw[:1].isspace() and not _PROMPT.match(raw)):
            inside = True
            continue
        inside = False
        prompt = _PROMPT.match(raw)
        line = raw[prompt.end() :] if prompt is not None else raw
        whole = f"{waiting}\n{line}" if waiting else line
        code, comment = _parted(whole, javascript=javascript)
        if _open(code) > 0 and whole.count("\n") < _LONGEST:
            waiting = whole
            continue
        waiting = ""
        yield SessionLine(text=whole.strip(), code=" ".join(code.split()).rstrip(";").strip(), comment=comment)


_LONGEST = 40
"""Lines over which a statement may go."""


def _parted(line: str, *, javascript: bool) -> tuple[str, str]:
    match = _COMMENT[javascript].match(line)
    return (line[: match.start("comment")], match["comment"]) if match is not None else (line, "")


def _open(code: str) -> int:
    bare = re.sub(_QUOTED, "", code)
    return sum(bare.count(one) for one in _OPENS) - sum(bare.count(one) for one in _CLOSES)


def step_of(code: str, *, javascript: bool) -> str | None:
    """What a statement is as a step before a call: an expression that may bind a name.

    Returns:
        "" for a statement that no step is needed for, such as an import; None where the text is no statement that can be one.
    """
    if javascript:
        if _BRINGS.match(code):
            return ""
        declared = _DECLARED.match(code)
        return f"{declared['name']} = {declared['value']}" if declared is not None else None
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    match body:
        case [ast.Import() | ast.ImportFrom()]:
            return ""
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            return f"({name} := {ast.unparse(value)})"
    return None


def is_code(text: str, *, javascript: bool) -> bool:
    """Whether a line is code, and no sentence that begins with a call."""
    if javascript:
        root = parse_tree(text, "javascript")
        return root is not None and not broken(root)
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def after_steps(steps: Sequence[str], call: str, *, javascript: bool) -> str:
    """An expression that makes steps and then a call, and gives what the call gives."""
    if not steps:
        return call
    if not javascript:
        return f"[{', '.join([*steps, call])}][-1]"
    names = dict.fromkeys(match["name"] for one in steps if (match := _DECLARED.match(one)) is not None)
    return f"(({', '.join(names)}) => ({', '.join([*steps, call])}))()"
