"""Whole definitions put into a file by the syntax tree: no diff is asked of a model, and none is read."""

from __future__ import annotations

import ast
import re
import textwrap

from agentforge.frozen import dataclass
from agentforge.pipeline.small_models.generation.units import Unit

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)(?:```|\Z)", re.DOTALL)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Unusable(ValueError):
    """A sample that holds no definition of what was asked for; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleDefinition:
    """What a sample holds of use.

    Attributes:
        text: the definition's source, not indented, decorators included.
        imports: import statements that it brings.
        beside: further functions that the definition calls.
    """

    text: str
    imports: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def answer_in(sample: str, unit: Unit) -> SampleDefinition:
    """Read the definition out of what a model wrote; tests, prints and imports of the file itself are dropped.

    Raises:
        Unusable: it does not parse, or defines something else.
    """
    source, tree = _parsed(_code(sample))
    found = _definition(tree, unit)
    if found is None:
        defined = ", ".join(node.name for node in tree.body if isinstance(node, _DEFINITIONS)) or "nothing"
        raise Unusable(f"it defines {defined}, not {unit.last}")
    text = textwrap.dedent(_text_of(found, source))
    if not _does_something(found):
        raise Unusable(f"{unit.last} has no body")
    called = {node.id for node in ast.walk(found) if isinstance(node, ast.Name)}
    others = [node for node in tree.body if isinstance(node, _DEFINITIONS) and node is not found]
    beside = [_text_of(node, source) for node in others if node.name in called and not node.name.startswith("test")]
    return SampleDefinition(text=text, imports=_imports(tree, unit), beside=tuple(beside))


def spliced(source: str, unit: Unit, answer: SampleDefinition) -> str:
    """Put a definition into the text of its file: in the place of the old one, else where such things stand.

    Args:
        source: "" = the file does not exist yet.
    Raises:
        Unusable: the result does not parse, or the class of a method is not there.
    """
    tree = ast.parse(source)
    there = find_definition(tree, unit.name)
    text = _kept(answer.text, there, source)
    if there is not None:
        lines = source.splitlines(keepends=True)
        start, end = first_line(there) - 1, there.end_lineno or there.lineno
        new = "".join([*lines[:start], _indented(text, there.col_offset), *lines[end:]])
    elif unit.owner:
        new = _with_method(source, tree, unit, text)
    else:
        new = _appended(source, tree, text)
    new = _with_imports(new, answer.imports)
    for function in answer.beside:
        name = next(node.name for node in ast.parse(function).body if isinstance(node, _DEFINITIONS))
        if find_definition(ast.parse(new), name) is None:
            new = _appended(new, ast.parse(new), function)
    try:
        ast.parse(new)
    except SyntaxError as exc:
        raise Unusable(f"the file does not parse with it: {exc.msg}") from exc
    return new


def find_definition(tree: ast.Module, name: str) -> Definition | None:
    """The definition of a dotted name, the last one where there are several."""
    body: list[ast.stmt] = tree.body
    found: Definition | None = None
    for part in name.split("."):
        rows = [node for node in body if isinstance(node, _DEFINITIONS) and node.name == part]
        if not rows:
            return None
        found = rows[-1]
        body = found.body
    return found


def same_code(text: str) -> str:
    """A definition without what makes no difference: layout, comments, docstrings; equal texts are the same sample."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (*_DEFINITIONS, ast.Module)) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _code(sample: str) -> str:
    fenced = _FENCE.findall(sample)
    text = max(fenced, key=len) if fenced else sample
    return textwrap.dedent(text.strip("\n")).rstrip()


def _parsed(text: str) -> tuple[str, ast.Module]:
    """The longest beginning of a text that parses: a sample may have been cut off."""
    lines = text.splitlines()
    first = next(
        (number for number, line in enumerate(lines) if re.match(r"(async )?def |class |@|import |from ", line)), 0
    )
    reason = "it is empty"
    for start in dict.fromkeys((0, first)):
        for end in range(len(lines), start, -1):
            piece = "\n".join(lines[start:end])
            try:
                return piece, ast.parse(piece)
            except SyntaxError as exc:
                reason = f"line {exc.lineno}: {exc.msg}"
            except (ValueError, RecursionError, MemoryError) as exc:
                reason = str(exc)
    raise Unusable(f"it is no Python ({reason})")


def _definition(tree: ast.Module, unit: Unit) -> Definition | None:
    found = find_definition(tree, unit.name) or find_definition(tree, unit.last)
    if found is None and unit.owner:
        return None
    wants_class = unit.kind == "class"
    return found if found is not None and isinstance(found, ast.ClassDef) == wants_class else None


def _does_something(node: Definition) -> bool:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    empty = (ast.Pass, ast.Expr)
    return any(
        not isinstance(one, empty) or (isinstance(one, ast.Expr) and not isinstance(one.value, ast.Constant))
        for one in body
    )


def _imports(tree: ast.Module, unit: Unit) -> tuple[str, ...]:
    own = {unit.module, unit.module.partition(".")[0]}
    rows = [
        ast.unparse(node)
        for node in tree.body
        if (isinstance(node, ast.Import) and not any(one.name in own for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module not in (*own, "__future__"))
    ]
    return tuple(row for row in rows if "pytest" not in row and "unittest" not in row)


def _kept(text: str, there: Definition | None, source: str) -> str:
    """The new text with decorators and docstring of the old one where it has none of its own."""
    if there is None:
        return text
    new = ast.parse(text).body[0]
    assert isinstance(new, _DEFINITIONS)
    lines = text.splitlines()
    doc = there.body[0] if ast.get_docstring(there, clean=False) is not None else None
    if doc is not None and ast.get_docstring(new, clean=False) is None and new.body[0].lineno > new.lineno:
        old = source.splitlines()[doc.lineno - 1 : doc.end_lineno]
        shift = new.body[0].col_offset
        lines[new.body[0].lineno - 1 : new.body[0].lineno - 1] = _shifted(old, shift)
    if there.decorator_list and not new.decorator_list:
        old = source.splitlines()[first_line(there) - 1 : there.lineno - 1]
        lines[:0] = _shifted(old, 0)
    return "\n".join(lines)


def _shifted(lines: list[str], indent: int) -> list[str]:
    plain = textwrap.dedent("\n".join(lines)).splitlines()
    return [f"{' ' * indent}{line}" if line.strip() else "" for line in plain]


def first_line(node: Definition) -> int:
    """The line on which a definition begins, decorators included; from 1."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _text_of(node: Definition, source: str) -> str:
    return "\n".join(source.splitlines()[first_line(node) - 1 : node.end_lineno])


def _indented(text: str, columns: int) -> str:
    return textwrap.indent(text.rstrip(), " " * columns, lambda line: bool(line.strip())) + "\n"


def _with_method(source: str, tree: ast.Module, unit: Unit, text: str) -> str:
    owner = find_definition(tree, unit.owner)
    if owner is None:
        raise Unusable(f"{unit.file} has no class {unit.owner}")
    lines = source.splitlines(keepends=True)
    end = owner.end_lineno or owner.lineno
    if lines and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    return "".join([*lines[:end], "\n", _indented(text, owner.body[0].col_offset), *lines[end:]])


def _appended(source: str, tree: ast.Module, text: str) -> str:
    """Behind the last definition; a main block stays at the end."""
    main = next((node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)), None)
    if not source.strip():
        return f"{text.rstrip()}\n"
    lines = source.splitlines(keepends=True)
    if main is None:
        return f"{source.rstrip()}\n\n\n{text.rstrip()}\n"
    before = "".join(lines[: main.lineno - 1]).rstrip()
    return f"{before}\n\n\n{text.rstrip()}\n\n\n{''.join(lines[main.lineno - 1 :])}"


def _with_imports(source: str, imports: tuple[str, ...]) -> str:
    """The import statements that the file lacks, behind its own or behind its docstring."""
    tree = ast.parse(source)
    known = {alias for node in tree.body for alias in _brought(node)}
    new = [row for row in imports if not set(_brought(ast.parse(row).body[0])) <= known]
    if not new:
        return source
    own = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    lines = source.splitlines(keepends=True)
    if own:
        end = own[-1].end_lineno or own[-1].lineno
        return "".join([*lines[:end], *(f"{row}\n" for row in new), *lines[end:]])
    documented = bool(tree.body) and ast.get_docstring(tree, clean=False) is not None
    end = (tree.body[0].end_lineno or 1) if documented else 0
    block = "\n".join(new)
    rest = "".join(lines[end:]).lstrip("\n")
    return "".join(lines[:end]) + ("\n" if end else "") + f"{block}\n\n\n{rest}"


def _brought(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.asname or one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [one.asname or one.name for one in node.names]
    return []
