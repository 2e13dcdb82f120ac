"""What is defined in one source file: Python by its own parser, other languages by ast-grep."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from agentforge.frozen import dataclass
from agentforge.workspace.code.symbols_javascript import constant_of, scope_of, valued
from agentforge.workspace.code.symbols_rust import holds_tests, target_of, written_in

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Kind = Literal["class", "function", "method", "variable", "type"]

_SUFFIXES = {
    "python": ".py .pyi",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "kotlin": ".kt",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp",
    "csharp": ".cs",
    "ruby": ".rb",
    "php": ".php",
    "swift": ".swift",
    "scala": ".scala",
    "lua": ".lua",
    "bash": ".sh .bash",
}
LANGUAGES = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
"""The grammar of a file, by its suffix."""

_LARGEST_SOURCE_BYTES = 2_000_000
_REMEMBERED = 256  # outlines: ranking and showing look at the same few files
_LONGEST_SIGNATURE = 160
_NODES: dict[Kind, str] = {
    "class": (
        "class class_definition class_declaration abstract_class_declaration class_specifier module object_declaration "
        "object_definition"
    ),
    "type": (
        "struct_specifier struct_item struct_declaration enum_item enum_declaration enum_specifier trait_item "
        "trait_declaration trait_definition type_item type_spec type_alias_declaration union_item "
        "interface_declaration record_declaration protocol_declaration annotation_type_declaration type_definition"
    ),
    "function": (
        "function_definition function_declaration generator_function_declaration function_item function_signature "
        "function_signature_item "
        "macro_definition preproc_function_def"
    ),
    "variable": "const_spec var_spec const_item static_item preproc_def",
    "method": "method method_definition method_declaration constructor_declaration singleton_method",
}
_KIND_OF_NODE = {node: kind for kind, nodes in _NODES.items() for node in nodes.split()}
_WITHOUT_BODY = frozenset(
    {"function_signature", "function_signature_item", "method_signature", "abstract_method_signature"}
)
_PLAIN_NAMES = frozenset({"simple_identifier", "type_identifier", "identifier"})
_BY_VALUE = frozenset({"javascript", "typescript", "tsx"})
_MACROS = frozenset({"macro_definition", "macro_invocation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A definition.

    Attributes:
        path: of the file, relative to the workspace.
        line, end_line: from 1, decorators included, both inclusive.
        signature: on one line, as it is written in the language, at most 160 characters.
        parent: the classes and functions around it, `A.b`; "" at the top.
        doc: first line of the docstring (Python).
        stub: a declaration without a body of its own: an overload, a signature of an interface or trait.
        in_tests: it stands in a module of tests inside a file of the product (Rust).
    """

    name: str
    kind: Kind
    path: str
    line: int
    end_line: int
    signature: str
    parent: str = ""
    doc: str = ""
    stub: bool = False
    in_tests: bool = False

    @property
    def qualified(self) -> str:
        """`parent.name`."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The definitions of a file in their order; `note` says why they may be incomplete, "" when they are not."""

    path: str
    symbols: tuple[Symbol, ...]
    note: str = ""


def language_of(path: str) -> str | None:
    """The grammar for a file, None when it is no source that is known."""
    name, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return LANGUAGES.get(f".{suffix.lower()}") if name and dot else None


def read_source(root: Path, path: str) -> str | None:
    """The text of a source file with `\\n` as line end, None for a missing, binary or huge one."""
    try:
        if (root / path).stat().st_size > _LARGEST_SOURCE_BYTES:
            return None
        data = (root / path).read_bytes()
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def parse_python(text: str) -> ast.Module | str:
    """Parse Python source; a text says why it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes of the user's code are none of our business
            return ast.parse(text)
    except SyntaxError as exc:
        return f"line {exc.lineno}: {exc.msg}"
    except (ValueError, RecursionError, MemoryError) as exc:
        return f"{type(exc).__name__}: {exc}"


def parse_tree(text: str, language: str) -> SgNode | None:
    """Parse with ast-grep, which goes on after errors; None when it has no wheel for this machine."""
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        return None
    return SgRoot(text, language).root()


@lru_cache(maxsize=_REMEMBERED)
def outline_of(path: str, text: str) -> Outline:
    """List the definitions in the text of a file."""
    language = language_of(path)
    if language is None:
        return Outline(path=path, symbols=(), note=f"{path} is no source file of a known language")
    note = ""
    if language == "python":
        module = parse_python(text)
        if isinstance(module, ast.Module):
            return Outline(path=path, symbols=tuple(_python_symbols(module.body, path=path, parent="", in_class=False)))
        note = f"{path} does not parse as Python ({module})"
    tree = parse_tree(text, language)
    if tree is None:
        return Outline(
            path=path, symbols=(), note=note or f"the code map of {language} needs ast-grep-py, which is not installed"
        )
    by_value = language in _BY_VALUE
    found = _tree_symbols(tree, path=path, parent="", in_class=False, by_value=by_value)
    return Outline(path=path, symbols=tuple(found), note=note)


def implementations(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Leave out the stubs of definitions that have an implementation in the same file."""
    whole = {symbol.qualified for symbol in symbols if not symbol.stub}
    return [symbol for symbol in symbols if not symbol.stub or symbol.qualified not in whole]


def of_product(symbols: Sequence[Symbol]) -> list[Symbol]:
    """The implementations that stand in no module of tests."""
    return [symbol for symbol in implementations(symbols) if not symbol.in_tests]


def _python_symbols(body: list[ast.stmt], *, path: str, parent: str, in_class: bool) -> Iterator[Symbol]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield _python_symbol(node, "class", path=path, parent=parent)
                yield from _python_symbols(node.body, path=path, parent=_inside(parent, node.name), in_class=True)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _python_symbol(node, "method" if in_class else "function", path=path, parent=parent)
            case ast.Assign() | ast.AnnAssign():
                yield from _python_variables(node, path=path, parent=parent)
            case ast.If() | ast.Try() | ast.With():
                for inner in _inner_bodies(node):
                    yield from _python_symbols(inner, path=path, parent=parent, in_class=in_class)


def _inner_bodies(node: ast.If | ast.Try | ast.With) -> list[list[ast.stmt]]:
    if isinstance(node, ast.With):
        return [node.body]
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]


def _python_symbol(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, kind: Kind, *, path: str, parent: str
) -> Symbol:
    doc = ast.get_docstring(node, clean=False) or ""
    return Symbol(
        name=node.name,
        kind=kind,
        path=path,
        line=min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
        end_line=node.end_lineno or node.lineno,
        signature=_short(_python_signature(node)),
        parent=parent,
        doc=doc.strip().partition("\n")[0].strip(),
        stub=any(_last_name(decorator) == "overload" for decorator in node.decorator_list),
    )


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _python_signature(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join([*map(ast.unparse, node.bases), *(ast.unparse(keyword) for keyword in node.keywords)])
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"


def _python_variables(node: ast.Assign | ast.AnnAssign, *, path: str, parent: str) -> Iterator[Symbol]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            yield Symbol(
                name=target.id,
                kind="variable",
                path=path,
                line=node.lineno,
                end_line=node.end_lineno or node.lineno,
                signature=_short(_python_variable_signature(node, target.id)),
                parent=parent,
            )


def _python_variable_signature(node: ast.Assign | ast.AnnAssign, name: str) -> str:
    kind = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
    value = node.value
    if value is None or (node.end_lineno or node.lineno) - node.lineno > 2:  # a table is not a signature
        return f"{name}{kind}"
    return f"{name}{kind} = {ast.unparse(value)}"


def _tree_symbols(node: SgNode, *, path: str, parent: str, in_class: bool, by_value: bool) -> Iterator[Symbol]:
    """The definitions below a node.

    Args:
        by_value: the language gives functions names by giving them to variables and members.
    """
    for child in node.children():
        kind, name, body = _tree_definition(child, by_value=by_value)
        if kind is None:
            scope = _scope_name(child, by_value=by_value)
            inside = in_class or (bool(scope) and child.kind() not in ("internal_module", "mod_item"))
            within = _inside(parent, scope)
            found = _tree_symbols(child, path=path, parent=within, in_class=inside, by_value=by_value)
            of_tests = child.kind() == "mod_item" and holds_tests(child)
            yield from (replace(one, in_tests=True) for one in found) if of_tests else found
            if child.kind() in _MACROS:
                yield from _macro_symbols(child, path=path, parent=parent)
            continue
        if kind == "function" and in_class:
            kind = "method"
        if in_class and child.kind() == "type_item":  # `type Item = u8;` of a block: as little as a constant of it
            kind = "variable"
        owner, _, last = name.rpartition(".") if by_value else ("", "", name)
        within = _inside(parent, owner or _receiver(child))
        yield _tree_symbol(child, kind, last, path=path, parent=within, body=body)
        if child.kind() in _MACROS:
            yield from _macro_symbols(child, path=path, parent=_inside(within, last))
        if kind in ("class", "type") or (
            kind == "variable" and by_value
        ):  # an object's members are defined inside of it
            yield from _tree_symbols(child, path=path, parent=_inside(within, last), in_class=True, by_value=by_value)


def _macro_symbols(node: SgNode, *, path: str, parent: str) -> Iterator[Symbol]:
    for one in written_in(node):
        yield Symbol(
            name=one.name,
            kind=cast("Kind", one.kind),
            path=path,
            line=one.line,
            end_line=one.end_line,
            signature=_short(one.signature),
            parent=parent,
            stub=one.stub and one.kind == "function",
        )


def _tree_definition(node: SgNode, *, by_value: bool) -> tuple[Kind | None, str, SgNode | None]:
    """What a node defines, under which name, and its body; (None, "", None) for a node that defines nothing."""
    if by_value and (found := valued(node)) is not None:
        kind, name, value = found
        return cast("Kind", kind), name, value.field("body")
    if by_value and (constant := constant_of(node)) is not None:
        return "variable", constant.text(), None
    field = node.field("name") if not by_value and _is_field(node) else None
    if field is not None:
        return "variable", field.text(), None
    own = _KIND_OF_NODE.get(node.kind()) if node.is_named() else None
    if node.kind() == "preproc_def" and node.field("value") is None:
        return None, "", None  # what guards a header against being read twice
    named = (node.field("name") or _declared_name(node)) if own is not None else None
    if named is None or (node.kind().endswith("_specifier") and node.field("body") is None):
        return None, "", None
    return own, named.text(), node.field("body")


def _is_field(node: SgNode) -> bool:
    """A constant or field of a Java class."""
    around = node.parent() if node.kind() == "variable_declarator" else None
    return around is not None and around.kind() == "field_declaration"


def _declared_name(node: SgNode) -> SgNode | None:
    """C hides the name inside declarators, `int (*f)(void)`; Kotlin's grammar gives names no field."""
    inner = node.field("declarator")
    if inner is None:
        return next((child for child in node.children() if child.kind() in _PLAIN_NAMES), None)
    while inner is not None and (deeper := inner.field("declarator")) is not None:
        inner = deeper
    return inner


def _scope_name(node: SgNode, *, by_value: bool) -> str:
    """The type whose methods stand in an `impl` block of Rust, or its module; what is around JavaScript's members."""
    if by_value:
        return scope_of(node)
    field = {"impl_item": "type", "mod_item": "name"}.get(node.kind())
    target = node.field(field) if field is not None else None
    return target_of(target.text()) if target is not None else ""


def _receiver(node: SgNode) -> str:
    """The type of a Go method's receiver, without star and name."""
    receiver = node.field("receiver")
    return (
        receiver.text().strip("()").partition("[")[0].split()[-1].lstrip("*")
        if receiver is not None and receiver.text().strip("() ")
        else ""
    )


def _tree_symbol(node: SgNode, kind: Kind, name: str, *, path: str, parent: str, body: SgNode | None) -> Symbol:
    where, text = node.range(), node.text()
    head = text[: body.range().start.index - where.start.index] if body is not None else ""
    text = head.strip() or text.partition("\n")[0]
    return Symbol(
        name=name,
        kind=kind,
        path=path,
        line=where.start.line + 1,
        end_line=where.end.line + 1,
        signature=_short(text.strip().rstrip("{:=").strip()),
        parent=parent,
        stub=body is None and node.kind() in _WITHOUT_BODY,
    )


def _inside(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent and name else parent or name


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SIGNATURE else f"{line[: _LONGEST_SIGNATURE - 4]} ..."
