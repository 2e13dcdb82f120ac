"""The Python files of a project as one: what each import means, and every place that means a definition. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from agentforge.python_refactoring.names import Name, Names, NameScope, names_in

Kind = Literal["name", "attribute", "import", "export", "text", "star"]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, kw_only=True, eq=False)
class PythonFile:
    """One file.

    Attributes:
        module: its dotted name, as the project's own code would import it.
    """

    path: str
    text: str
    module: str
    is_test: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """As it is parsed."""
        return ast.parse(self.text)

    @cached_property
    def names(self) -> Names:
        """Every name of it."""
        return names_in(self.tree)

    @property
    def package(self) -> str:
        """What a relative import begins with."""
        return self.module if self.path.endswith("__init__.py") else self.module.rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SymbolReference:
    """A place that means a definition.

    Attributes:
        kind: name = the bare name, attribute = through its module, import = an alias, export = an entry of `__all__`,
            text = a text that holds its dotted name, star = a name that a star import brings.
        node: the name, attribute, alias or text itself.
        module: of an attribute, the dotted module that it is taken from.
    """

    source: PythonFile
    kind: Kind
    node: ast.AST
    line: int
    name: Name | None = None
    module: str = ""

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.source.path}:{self.line}"


@dataclass(frozen=True, kw_only=True, eq=False)
class PythonProject:
    """All Python files of a project.

    Attributes:
        modules: every spelling of a module name -> its path.
        plain: path -> text of configuration files and scripts that may name a module.
        unread: path -> text of code that cannot be read: what does not parse, type stubs, notebooks.
    """

    sources: Mapping[str, PythonFile]
    modules: Mapping[str, str]
    plain: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    def module_path(self, dotted: str) -> str:
        """The file of a module, "" it is none of the project's."""
        return self.modules.get(dotted, "")

    def is_module(self, dotted: str) -> bool:
        """Whether a dotted name is a module or a package of the project."""
        return dotted in self.modules or any(one.startswith(f"{dotted}.") for one in self.modules)

    def imported_from(self, source: PythonFile, statement: ast.ImportFrom) -> str:
        """The dotted module that an import statement takes from."""
        if not statement.level:
            return statement.module or ""
        parts = source.package.split(".") if source.package else []
        base = parts[: len(parts) - (statement.level - 1)] if statement.level > 1 else parts
        return ".".join([*base, *([statement.module] if statement.module else [])])

    def meaning(self, source: PythonFile, alias: ast.alias) -> tuple[str, str]:
        """What an alias stands for: (path, name) of a definition, ("", dotted) of a module, ("", "") nothing of the project."""
        statement = source.names.imports[alias]
        if isinstance(statement, ast.Import):
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            return ("", dotted) if self.is_module(dotted) else ("", "")
        dotted = self.imported_from(source, statement)
        return self.member(dotted, alias.name)

    def member(self, dotted: str, name: str) -> tuple[str, str]:
        """What a name of a module stands for, as for an alias."""
        path = self.module_path(dotted)
        found = self.exported(path, name) if path else ("", "")
        if not found[0] and self.is_module(f"{dotted}.{name}"):
            return "", f"{dotted}.{name}"
        return found

    def exported(self, path: str, name: str, *, seen: tuple[str, ...] = ()) -> tuple[str, str]:
        """Where a name that a file offers is defined; ("", "") it does not offer it."""
        if path in seen or path not in self.sources:
            return "", ""
        source = self.sources[path]
        bound = source.names.module.bound.get(name, [])
        aliases = [one for one in bound if isinstance(one, ast.alias)]
        if bound and len(aliases) < len(bound):
            return path, name
        for alias in aliases:
            statement = source.names.imports[alias]
            if isinstance(statement, ast.ImportFrom):
                dotted = self.imported_from(source, statement)
                inner = self.exported(self.module_path(dotted), alias.name, seen=(*seen, path))
                return inner if inner[0] else self.member(dotted, alias.name) if not seen else ("", "")
            return self.meaning(source, alias)
        for dotted in self.stars(source):
            found = self.exported(self.module_path(dotted), name, seen=(*seen, path))
            if found[0] and not name.startswith("_"):
                return found
        return "", ""

    def stars(self, source: PythonFile) -> Iterator[str]:
        """The modules from which a file imports everything."""
        for alias, statement in source.names.imports.items():
            if alias.name == "*" and isinstance(statement, ast.ImportFrom):
                yield self.imported_from(source, statement)


def references(project: PythonProject, path: str, name: str) -> list[SymbolReference]:
    """Every place that means a definition at the top of a file, those inside of it too, but not its own head."""
    found: list[SymbolReference] = []
    for source in project.sources.values():
        if name in source.text or source.path == path:
            found += _own(source, name) if source.path == path else _elsewhere(project, source, (path, name))
            found += _in_texts(project, source, path, name)
    return found


def module_references(project: PythonProject, path: str) -> list[SymbolReference]:
    """Every import of a module."""
    found = []
    for source in project.sources.values():
        if source.path == path:
            continue
        for alias, statement in source.names.imports.items():
            if path in _modules_of(project, source, alias, statement):
                found.append(SymbolReference(source=source, kind="import", node=alias, line=statement.lineno))
    return found


def _modules_of(project: PythonProject, source: PythonFile, alias: ast.alias, statement: ast.stmt) -> set[str]:
    """The files that an import loads by name."""
    if isinstance(statement, ast.ImportFrom):
        dotted = project.imported_from(source, statement)
        return {project.module_path(dotted), project.module_path(f"{dotted}.{alias.name}")} - {""}
    return {project.module_path(alias.name)} - {""}


def plain_mentions(project: PythonProject, words: Sequence[str]) -> list[str]:
    """`path:line` of configuration files and scripts that hold one of the words."""
    return _mentioned(project.plain, words)


def unread_mentions(project: PythonProject, words: Sequence[str]) -> list[str]:
    """`path:line` of code that cannot be read and holds one of the words."""
    return _mentioned(project.unread, words)


def _mentioned(texts: Mapping[str, str], words: Sequence[str]) -> list[str]:
    return [
        f"{path}:{number}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if any(_holds(line, word) for word in words)
    ]


def _holds(line: str, word: str) -> bool:
    start = line.find(word)
    while start >= 0:
        before, after = line[start - 1 : start], line[start + len(word) : start + len(word) + 1]
        if not (before.isalnum() or (before in "_." and before)) and not (after.isalnum() or after == "_"):
            return True
        start = line.find(word, start + 1)
    return False


def spellings_of(project: PythonProject, path: str) -> list[str]:
    """The dotted names of a file."""
    return [dotted for dotted, one in project.modules.items() if one == path]


def _own(source: PythonFile, name: str) -> Iterator[SymbolReference]:
    names = source.names
    for one in names.of(names.module, name):
        if isinstance(one.node.ctx, ast.Load):
            yield SymbolReference(source=source, kind="name", node=one.text or one.node, line=one.line, name=one)
    yield from _exports(source, name)


def _elsewhere(project: PythonProject, source: PythonFile, target: tuple[str, str]) -> Iterator[SymbolReference]:
    names = source.names
    for scope, word, alias in _aliases(source):
        meaning = project.meaning(source, alias)
        if meaning == target:
            statement = names.imports[alias]
            yield SymbolReference(
                source=source, kind="import", node=alias, line=getattr(alias, "lineno", statement.lineno)
            )
            for one in names.of(scope, word):
                yield SymbolReference(source=source, kind="name", node=one.text or one.node, line=one.line, name=one)
            if scope is names.module:
                yield from _exports(source, word)
        elif meaning[1] and not meaning[0]:
            for one in names.of(scope, word):
                node, module = _through(project, names, one.node, meaning[1], target)
                if node is not None:
                    yield SymbolReference(
                        source=source, kind="attribute", node=node, line=one.line, name=one, module=module
                    )
    if any(project.exported(project.module_path(dotted), target[1]) == target for dotted in project.stars(source)):
        for one in names.of(None, target[1]):
            yield SymbolReference(source=source, kind="star", node=one.text or one.node, line=one.line, name=one)
        yield from _exports(source, target[1])


def _aliases(source: PythonFile) -> Iterator[tuple[NameScope, str, ast.alias]]:
    """Each alias with the scope and the name that it binds."""
    for scope in source.names.scopes:
        for word, nodes in scope.bound.items():
            yield from ((scope, word, node) for node in nodes if isinstance(node, ast.alias))


def _through(
    project: PythonProject, names: Names, node: ast.AST, dotted: str, target: tuple[str, str]
) -> tuple[ast.Attribute | None, str]:
    """The attribute that means the target in a chain such as `package.module.name`, and the module that it is taken from."""
    parent = names.parents.get(node)
    while isinstance(parent, ast.Attribute) and parent.value is node:
        meaning = project.member(dotted, parent.attr)
        if meaning == target:
            return parent, dotted
        if meaning[0] or not meaning[1]:
            return None, ""
        node, dotted, parent = parent, meaning[1], names.parents.get(parent)
    return None, ""


def _exports(source: PythonFile, name: str) -> Iterator[SymbolReference]:
    for node in exported_texts(source.tree):
        if node.value == name:
            yield SymbolReference(source=source, kind="export", node=node, line=node.lineno)


def exported_texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The entries of `__all__`, as they stand in lists and tuples."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(value, (ast.List, ast.Tuple)) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in targets
        ):
            yield from (one for one in value.elts if isinstance(one, ast.Constant))


def _in_texts(project: PythonProject, source: PythonFile, path: str, name: str) -> Iterator[SymbolReference]:
    """Texts that name the definition for a look-up: `"module.name"`, `getattr(module, "name")`."""
    dotted = {f"{module}{sign}{name}" for module in spellings_of(project, path) for sign in ".:"}
    for node in ast.walk(source.tree):
        told = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in dotted
        if told or (isinstance(node, ast.Call) and _looks_up(node, name)):
            yield SymbolReference(source=source, kind="text", node=node, line=getattr(node, "lineno", 1))


def _looks_up(node: ast.Call, name: str) -> bool:
    looking = ast.unparse(node.func).rpartition(".")[2] in (
        "getattr",
        "setattr",
        "hasattr",
        "delattr",
        "attrgetter",
        "object",
    )
    return looking and any(isinstance(one, ast.Constant) and one.value == name for one in node.args)


def member_references(project: PythonProject, name: str) -> list[SymbolReference]:
    """Every place that may mean a member of a class by its name: `.name` of whatever object, and look-ups by text."""
    found = []
    for source in project.sources.values():
        for node in ast.walk(source.tree) if name in source.text else ():
            if isinstance(node, ast.Attribute) and node.attr == name:
                found.append(
                    SymbolReference(source=source, kind="attribute", node=node, line=node.end_lineno or node.lineno)
                )
            elif isinstance(node, ast.Call) and _looks_up(node, name):
                found.append(SymbolReference(source=source, kind="text", node=node, line=node.lineno))
    return found
