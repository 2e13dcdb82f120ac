"""How one function is asked for: several forms of the same question, because fresh words give fresh samples."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.messages import Message, Text
from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.pipeline.small_models.refactoring.splices import find_definition
from agentforge.tokens import cut_end, cut_middle

PREFILL = "```python\n"
"""An answer begins inside of a code block, before `def`: a begun signature costs more right answers than it saves."""
STOP = ("```",)
_SOURCE_TOKENS = 550
_TESTS_TOKENS = 350
_REQUEST_TOKENS = 250
_NEIGHBOURS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeShown:
    """What is shown of a unit.

    Attributes:
        source: text of its file, "" = there is none.
        tests: assertions or test functions that must pass.
        wrong: what an earlier round's samples got wrong, one line each; shown in some forms only.
    """

    request: str
    unit: Unit
    source: str
    tests: str
    wrong: tuple[str, ...] = ()


def asked(sight: CodeShown, *, form: int) -> tuple[Message, ...]:
    """The messages of one form; forms repeat when there are no more.

    Args:
        form: counts from 0.
    """
    texts = _FORMS[form % len(_FORMS)]
    system = prompt("small_green")
    user = texts(sight)
    return (_said("system", system), *_example(form), _said("user", user))


@cache
def prompt(name: str) -> str:
    """A prompt of the road, from the files beside the stages' own."""
    return (Path(__file__).parents[2] / "prompts" / f"{name}.md").read_text("utf-8").strip()


def _plain(sight: CodeShown) -> str:
    """Request, code, tests, in this order."""
    verb = "Write the new" if sight.unit.change == "new" else "Rewrite the"
    what = "class" if sight.unit.kind == "class" else "method" if sight.unit.owner else "function"
    return _joined(
        f"{_task(sight)}",
        _code(sight),
        f"These tests must pass:\n```python\n{_tests(sight)}\n```",
        f"{verb} whole {what} `{sight.unit.last}`.",
    )


def _as_documented(sight: CodeShown) -> str:
    """A signature with the request as its docstring, to be completed; again without the code of today."""
    stub = _stub(sight)
    return _joined(
        _code(sight, with_own=not stub),
        f"Implement this completely:\n```python\n{stub}\n```"
        if stub
        else f"Implement `{sight.unit.last}`: {_request(sight)}",
        f"It is checked by:\n```python\n{_tests(sight)}\n```",
    )


def _with_mistakes(sight: CodeShown) -> str:
    """What others got wrong, so that it is thought of."""
    mistakes = "\n".join(f"- {line}" for line in sight.wrong[:4])
    return _joined(
        _task(sight),
        _code(sight),
        f"These tests must pass:\n```python\n{_tests(sight)}\n```",
        f"Common mistakes here:\n{mistakes}" if mistakes else "Think of every case that the tests show.",
        f"Write the whole `{sight.unit.last}` with simple, explicit steps.",
    )


def _tests_first(sight: CodeShown) -> str:
    """What must hold comes first, the request explains it; the code of today is not shown, it would be copied."""
    head = _head(sight)
    return _joined(
        f"Make these assertions true:\n```python\n{_tests(sight)}\n```",
        _code(sight, with_own=not head),
        f"What is wanted: {_request(sight)}",
        f"Give the complete code of `{head or sight.unit.last}`, correct for every input of that kind, not just for these.",
    )


_FORMS = (_plain, _as_documented, _with_mistakes, _tests_first)


def _task(sight: CodeShown) -> str:
    place = f" of the class `{sight.unit.owner}`" if sight.unit.owner else ""
    verb = "Add" if sight.unit.change == "new" else "Change"
    return f"{verb} `{sight.unit.last}`{place} in {sight.unit.file}.\nRequest: {_request(sight)}"


def _request(sight: CodeShown) -> str:
    return cut_end(" ".join(sight.request.split()), limit=_REQUEST_TOKENS)


def _tests(sight: CodeShown) -> str:
    return cut_end(sight.tests, limit=_TESTS_TOKENS)


def _code(sight: CodeShown, *, with_own: bool = True) -> str:
    """The definition as it is, with what stands around it: imports, neighbours by their signatures, the class."""
    tree = ast.parse(sight.source)
    own = find_definition(tree, sight.unit.name)
    parts = [_around(tree, sight)]
    if own is not None and with_own:
        text = "\n".join(sight.source.splitlines()[_start(own) - 1 : own.end_lineno])
        parts.append(f"The code today:\n```python\n{cut_middle(textwrap.dedent(text), limit=_SOURCE_TOKENS)}\n```")
    return _joined(*parts)


def _around(tree: ast.Module, sight: CodeShown) -> str:
    imports = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__")
    ]
    owner = find_definition(tree, sight.unit.owner) if sight.unit.owner else None
    if isinstance(owner, ast.ClassDef):
        shown = [*_class(owner, sight.unit.last)]
    else:
        near = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        shown = [_signature(node) for node in near if node.name != sight.unit.last][:_NEIGHBOURS]
        shown = [*(_constant(node) for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))), *shown]
    rows = [row for row in (*imports, *shown) if row]
    text = cut_end("\n".join(rows), limit=260)
    return f"Already there, not to be repeated:\n{text}" if rows else ""


def _class(owner: ast.ClassDef, method: str) -> list[str]:
    """A class by its fields, its constructor whole, its methods by their signatures."""
    rows = [f"class {owner.name}:"]
    for node in owner.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != method:
            whole = node.name in ("__init__", "__post_init__")
            text = ast.unparse(node) if whole else _signature(node)
            rows += [f"    {line}" for line in text.splitlines()]
        elif isinstance(node, (ast.AnnAssign, ast.Assign)):
            rows.append(f"    {ast.unparse(node)}")
    return rows


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}: ..."
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {node.name}({ast.unparse(node.args)}){returns}: ..."


def _constant(node: ast.Assign | ast.AnnAssign) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 160 else f"{text[:150]} ..."


def _stub(sight: CodeShown) -> str:
    """The head of a function with its docstring and the request beneath; "" where no signature is known."""
    head = _head(sight)
    own = find_definition(ast.parse(sight.source), sight.unit.name)
    known = ast.get_docstring(own) if isinstance(own, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    words = f"{known or ''}\n\n{_request(sight)}".strip().replace('"""', "'''")
    return f'{head}\n    """{words}"""' if head else ""


def _head(sight: CodeShown) -> str:
    """`def name(parameters):` as it is today, else as the request has it; "" for a class, or where nothing tells."""
    own = find_definition(ast.parse(sight.source), sight.unit.name)
    if isinstance(own, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _signature(own).removesuffix(" ...")
    return f"{sight.unit.signature}:" if sight.unit.signature.startswith("def ") else ""


def _start(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _said(role: str, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text, stable=role == "system"),))  # type: ignore[arg-type] # one of the roles


def _example(form: int) -> Sequence[Message]:
    """An earlier turn that shows what an answer is: inside the question it would be copied."""
    if form % 2 == 0:
        return ()
    asked_for, answer = prompt("small_example").split("\n---\n")
    return (_said("user", asked_for), _said("assistant", answer))
