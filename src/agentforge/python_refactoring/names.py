"""Which scope every name of a Python file is bound in: what a name means where it stands. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameScope:
    """A module, class, function or comprehension.

    Attributes:
        bound: name -> what binds it here: definitions, imported aliases, arguments, assigned names.
        outer: names that a `global` or `nonlocal` statement takes from outside.
    """

    node: ast.AST
    parent: NameScope | None = None
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        """Whether names of it are not seen by the functions inside."""
        return isinstance(self.node, ast.ClassDef)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Name:
    """A name where it stands.

    Attributes:
        node: the name; of a quoted annotation it has no place of its own, `text` has.
        scope: where it stands; `home`: where it is bound, None nowhere in this file.
        text: the quoted annotation that it stands in.
    """

    word: str
    node: ast.Name
    scope: NameScope
    home: NameScope | None
    text: ast.Constant | None = None

    @property
    def line(self) -> int:
        """From 1."""
        return (self.text or self.node).lineno


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """All names of a file.

    Attributes:
        module: the scope of the file; scopes: all of them.
        imports: alias -> its statement.
        parents: node -> the node around it.
    """

    module: NameScope
    scopes: tuple[NameScope, ...]
    names: tuple[Name, ...]
    imports: dict[ast.alias, ast.Import | ast.ImportFrom]
    parents: dict[ast.AST, ast.AST]

    def of(self, home: NameScope | None, word: str) -> tuple[Name, ...]:
        """The names that mean what a scope binds."""
        return tuple(one for one in self.names if one.word == word and one.home is home)


def names_in(tree: ast.Module) -> Names:
    """Resolve every name of a file."""
    reader = _Reader(tree)
    found = [
        Name(word=node.id, node=node, scope=scope, home=_home(scope, node.id), text=text)
        for node, scope, text in reader.seen
    ]
    return Names(
        module=reader.scope,
        scopes=tuple(reader.scopes),
        names=tuple(found),
        imports=reader.imports,
        parents=reader.parents,
    )


def _home(scope: NameScope, word: str) -> NameScope | None:
    """Where a name that stands in a scope is bound."""
    place: NameScope | None = scope
    while place is not None:
        how = place.outer.get(word)
        if how == "global":
            while place.parent is not None:
                place = place.parent
            return place
        if how is None and word in place.bound and (place is scope or not place.is_class):
            return place
        place = place.parent
    return None


class _Reader(ast.NodeVisitor):
    """Walks a file once; what stands in a scope is collected, and resolved when all is bound."""

    def __init__(self, tree: ast.Module) -> None:
        self.scope = NameScope(node=tree)
        self.scopes = [self.scope]
        self.seen: list[tuple[ast.Name, NameScope, ast.Constant | None]] = []
        self.imports: dict[ast.alias, ast.Import | ast.ImportFrom] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self._text: ast.Constant | None = None
        self._note_parents(tree)
        for node in tree.body:
            self.visit(node)

    def _note_parents(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def _bind(self, word: str, node: ast.AST) -> None:
        place = self.scope
        if place.outer.get(word) == "global":
            while place.parent is not None:
                place = place.parent
        place.bound.setdefault(word, []).append(node)

    def _visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _inside(self, node: ast.AST, parts: Iterable[ast.AST], bound: Iterable[tuple[str, ast.AST]] = ()) -> None:
        self.scope = NameScope(node=node, parent=self.scope)
        self.scopes.append(self.scope)
        for word, one in bound:
            self._bind(word, one)
        self._visit_all(parts)
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    def visit_Name(self, node: ast.Name) -> None:
        """Note the name, and bind it where it is assigned."""
        self.seen.append((node, self.scope, self._text))
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id, node)

    def visit_FunctionDef(self, node: _Function) -> None:
        """What stands at its head belongs outside, its body is a scope."""
        self._bind(node.name, node)
        self._visit_all([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults])
        arguments = _arguments(node.args)
        for one in (*arguments, None):
            self._annotation(one.annotation if one is not None else node.returns)
        self._inside(node, node.body, [(one.arg, one) for one in arguments])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """As any function."""
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        self._inside(node, [node.body], [(one.arg, one) for one in _arguments(node.args)])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Bases and decorators belong outside."""
        self._bind(node.name, node)
        self._visit_all([*node.decorator_list, *node.bases, *(one.value for one in node.keywords)])
        self._inside(node, node.body)

    def _comprehension(self, node: _Comprehension) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        rest: list[ast.AST] = [first.target, *first.ifs]
        for one in node.generators[1:]:
            rest += [one.target, one.iter, *one.ifs]
        rest += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._inside(node, rest)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """A scope of its own."""
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        """A scope of its own."""
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """A scope of its own."""
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """A scope of its own."""
        self._comprehension(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """`:=` binds outside of the comprehension that it stands in."""
        self.visit(node.value)
        place = self.scope
        while isinstance(place.node, _Comprehension) and place.parent is not None:
            place = place.parent
        place.bound.setdefault(node.target.id, []).append(node.target)
        self.seen.append((node.target, self.scope, self._text))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind each alias."""
        for alias in node.names:
            self.imports[alias] = node
            whole = alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]
            if alias.name != "*":
                self._bind(alias.asname or whole, alias)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Bind each alias."""
        self.visit_Import(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        """Names of another scope."""
        how = "global" if isinstance(node, ast.Global) else "nonlocal"
        self.scope.outer.update(dict.fromkeys(node.names, how))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Names of a function outside."""
        self.visit_Global(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except E as name` binds."""
        if node.name:
            self._bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        """A capture binds."""
        if node.name:
            self._bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """A capture binds."""
        self.visit_MatchAs(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """`**rest` binds."""
        if node.rest:
            self._bind(node.rest, node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The annotation may be quoted."""
        self._visit_all([node.target, node.value])
        self._annotation(node.annotation)

    def visit_Call(self, node: ast.Call) -> None:
        """The first argument of `cast` is an annotation."""
        if ast.unparse(node.func).rpartition(".")[2] == "cast" and node.args:
            self._annotation(node.args[0])
            self._visit_all([node.func, *node.args[1:], *node.keywords])
            return
        self.generic_visit(node)

    def _annotation(self, node: ast.expr | None) -> None:
        if node is None:
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._quoted(node, node.value)
        elif isinstance(node, ast.Subscript):
            literal = ast.unparse(node.value).rpartition(".")[2] == "Literal"
            self.visit(node.value)
            self.visit(node.slice) if literal else self._annotation(node.slice)
        elif isinstance(node, (ast.Tuple, ast.List, ast.BinOp)):
            for child in ast.iter_child_nodes(node):
                self._annotation(child) if isinstance(child, ast.expr) else self.visit(child)
        else:
            self.visit(node)

    def _quoted(self, node: ast.Constant, text: str) -> None:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError):
            return
        self._note_parents(tree)
        outer, self._text = self._text, node
        self._annotation(tree.body)
        self._text = outer


def _arguments(node: ast.arguments) -> list[ast.arg]:
    known = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    return [*known, *(one for one in (node.vararg, node.kwarg) if one is not None)]
