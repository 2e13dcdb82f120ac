"""What a change does to public names of the changed files of which neither request nor specification speaks.

Tests cannot tell of a function that none of them calls. Seen without running anything: a name that is gone, a default or a
parameter that is another, a constant with another value. Measured in plain processes: an undeclared function with another body is
asked the same at the base and in the tree. What declared functions use, or used, is part of the change and is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.languages.python.source import module_of
from agentforge.languages.symbols import Symbol
from agentforge.suite import Rig
from agentforge.verification.effects.recorded_calls import differing_in, probe_of
from agentforge.verification.examples.answer_tables import varied
from agentforge.verification.examples.plain_check import Probe, spellings
from agentforge.verification.examples.suite_claims import asserted
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ASKED = 12
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TEST_FILES = 20
_SAMPLES = {
    "str": ("ab Cd", "", "Two  Words", "x9-_Z.", " q "),
    "int": (0, 1, -3, 17, 250),
    "float": (0.0, 2.5, -1.25, 1e6),
    "bool": (True, False),
    "list[str]": (["b", "A", "b"], [], ["Two Words"]),
    "list[int]": ([3, -1, 3], [], [7]),
    "list[float]": ([2.5, -1.0], []),
    "dict[str, int]": ({"b": 2, "A": 0}, {}),
    "dict[str, str]": ({"b": "x", "A": ""}, {}),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedScope:
    """What was asked for.

    Attributes:
        symbols: declared by the specification; without any, nothing is known of what may change.
        told: the words of the request and of people's answers; a name that stands in them is asked for.
    """

    symbols: Sequence[Symbol]
    told: str

    def speaks_of(self, name: str) -> bool:
        """Whether a name is declared or mentioned."""
        last = name.rpartition(".")[2]
        declared = {part for one in self.symbols for part in (one.name, one.last, *one.name.split(".")[:1])}
        if {name, name.split(".", maxsplit=1)[0]} & declared:
            return True
        return bool(re.search(rf"(?<!\w){re.escape(last)}s?(?!\w)", self.told)) or self._says(last)

    def _says(self, name: str) -> bool:
        """Whether a name of several words stands there in words: `the default timeout` is `DEFAULT_TIMEOUT`."""
        words = [word.lower() for word in _WORD.findall(name)]
        spaced = r"[\s_-]+".join(map(re.escape, words))
        return len(words) > 1 and bool(re.search(rf"(?i)(?<!\w){spaced}s?(?!\w)", self.told))


def out_of_scope_changes(
    changed: Iterable[str], *, before: Read, after: Read, asked: RequestedScope
) -> tuple[str, ...]:
    """List what became of public names of the changed Python files, as far as their sources show it."""
    found: list[str] = []
    pairs = list(_pairs(changed, before, after)) if asked.symbols else []
    part = _used(asked, [tree for _, *trees in pairs for tree in trees], after)
    for path, old, new in pairs:
        lost = _lost(old, new, declared=frozenset(one.last for one in asked.symbols))
        found += [f"{path}: {text}" for name, text in lost if name not in part and not asked.speaks_of(name)]
    return tuple(found)


def out_of_scope_behaviour(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], asked: RequestedScope
) -> tuple[str, ...]:
    """Ask undeclared public functions that were rewritten the same at the base and in the tree; list what differs.

    Only functions that answer at the base with one and the same value twice are compared.
    """
    pairs = list(_pairs(changed, rig.read(base_tree), rig.read(tree)))
    part = _used(asked, [new for _, _, new in pairs], rig.read(tree)) if asked.symbols else set()
    rewritten = [(path, node) for path, old, new in pairs for node in _rewritten(old, new, asked, part)]
    if not asked.symbols or not rewritten or not rig.plan.interpreter:
        return ()
    calls = _calls(rig, base_tree)
    groups: list[list[Probe]] = []
    for path, node in rewritten:
        origin = (spellings(path, rig.plan.roots), node.name)
        sources = list(dict.fromkeys([*calls.get(node.name, ()), *_sampled(node)]))[:_ASKED]
        groups.append([Probe(source=source, names={node.name: origin}) for source in sources])
    rows = differing_in(groups, rig, base_tree, tree)
    return tuple(f"{path}: {text}" for (path, _), one in zip(rewritten, rows, strict=True) for text in _told(one[:1]))


def out_of_scope_results(
    rig: Rig,
    rows: Sequence[Mapping[str, Any]],
    *,
    base_tree: str,
    tree: str,
    changed: Sequence[str],
    asked: RequestedScope,
) -> tuple[str, ...]:
    """Make the recorded calls of functions that neither are asked for nor read what is, at the base and in the tree.

    Args:
        rows: calls that the tests were seen to make; see `programs/recorded_calls.py`.
    Returns:
        sentences about plain values that the base gives twice and the tree gives not, one for each function.
    """
    pairs = list(_pairs(changed, rig.read(base_tree), rig.read(tree)))
    if not asked.symbols or not pairs or not rig.plan.interpreter:
        return ()
    modules = [one for _, *trees in pairs for one in trees]
    part = _used(asked, modules, rig.read(tree))
    reads = _reading(modules)
    wanted: dict[str, list[Probe]] = {}
    for row in rows:
        name = str(row["name"])
        parts = set(name.split("."))
        if (
            row["path"] in changed
            and not parts & part
            and not any(map(asked.speaks_of, (name, *_reached(parts, reads))))
        ):
            wanted.setdefault(f"{row['path']}: {name}", []).append(probe_of(row))
    told = {probe_of(row).source: str(row["told"]) for row in rows}
    found = differing_in(tuple(wanted.values()), rig, base_tree, tree, told=told)
    return tuple(
        f"{name.partition(':')[0]}: {text}" for name, one in zip(wanted, found, strict=True) for text in _told(one[:1])
    )


def _reading(modules: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Function or class -> the names that it reads."""
    found: dict[str, set[str]] = {}
    for node in (one for module in modules for one in ast.walk(module)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, set()).update(_read_names(node))
    return found


def _reached(names: Collection[str], reads: Mapping[str, set[str]]) -> set[str]:
    """Everything that some functions read, directly or through others."""
    seen, waiting = set(names), list(names)
    while waiting:
        new = reads.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def _pairs(changed: Iterable[str], before: Read, after: Read) -> Iterator[tuple[str, ast.Module, ast.Module]]:
    """(path, old, new) of the product modules that were there and still are."""
    for path in changed:
        if path.endswith(".py"):
            old, new = before(path), after(path)
            if old is not None and new is not None:
                try:
                    yield path, ast.parse(old), ast.parse(new)
                except (SyntaxError, ValueError):
                    continue  # a file that cannot be read is no Python of this version


def _lost(old: ast.Module, new: ast.Module, *, declared: Collection[str]) -> Iterator[tuple[str, str]]:
    """(name, what happened to it) of the public names that are not what they were.

    Args:
        declared: last names of what the specification declares; an entry of a table that names one changes with it.
    """
    after, bound = _public(new.body), set(_bound(new))
    exported = _exported(old)
    for name, node in _public(old.body).items():
        now = after.get(name)
        if exported is not None and name not in exported:
            continue
        if name not in bound:
            yield name, f"{name} is gone, and nobody spoke of it"
        elif isinstance(node, _Function) and isinstance(now, _Function):
            yield from ((name, f"{name}: {text}, and nobody spoke of it") for text in _signature_changes(node, now))
        elif isinstance(node, ast.ClassDef) and isinstance(now, ast.ClassDef):
            yield from _lost_methods(node, now)
        elif (
            isinstance(node, ast.expr)
            and isinstance(now, ast.expr)
            and _is_another(node, now)
            and not _differing_words(node, now) & set(declared)
        ):
            yield name, f"{name} was {ast.unparse(node)[:60]} and is {ast.unparse(now)[:60]}, and nobody spoke of it"


def _lost_methods(old: ast.ClassDef, new: ast.ClassDef) -> Iterator[tuple[str, str]]:
    if [ast.dump(one) for one in old.bases] != [ast.dump(one) for one in new.bases]:
        return  # what is gone may be inherited now
    after, bound = _public(new.body), set(_bound(new))
    for name, node in _public(old.body).items():
        now, full = after.get(name), f"{old.name}.{name}"
        if name not in bound:
            yield full, f"{full} is gone, and nobody spoke of it"
        elif isinstance(node, _Function) and isinstance(now, _Function):
            yield from ((full, f"{full}: {text}, and nobody spoke of it") for text in _signature_changes(node, now))


def _public(body: Sequence[ast.stmt]) -> dict[str, ast.AST]:
    """Functions, classes and values that stand in a body under a public name; the last of a name counts."""
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {one.id: node.value for one in node.targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return {name: node for name, node in found.items() if not name.startswith("_")}


def _bound(owner: ast.Module | ast.ClassDef) -> Iterator[str]:
    """Every name that a module or class may bind, under conditions and by imports too."""
    for node in ast.walk(owner):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((one.asname or one.name).split(".")[0] for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """The names of a literal `__all__`."""
    for node in tree.body:
        named = isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets
        )
        if named and isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple)):
            return frozenset(str(one.value) for one in node.value.elts if isinstance(one, ast.Constant))
    return None


def _signature_changes(old: _Function, new: _Function) -> Iterator[str]:
    """What callers of the old signature would notice."""
    before, after = _parameters(old), _parameters(new)
    open_ended = new.args.vararg is not None or new.args.kwarg is not None
    for name, default in before.items():
        if name not in after and not open_ended:
            yield f"the parameter {name} is gone"
        elif default != after.get(name, default):
            yield f"the default of {name} was {default or 'none'} and is {after[name] or 'none'}"
    for name, default in after.items():
        if name not in before and not default:
            yield f"the parameter {name} is new and has no default"


def _parameters(node: _Function) -> dict[str, str]:
    """Parameter -> source of its default, "" without one."""
    plain = [*node.args.posonlyargs, *node.args.args]
    padding = [None] * (len(plain) - len(node.args.defaults))
    rows = [*zip(plain, [*padding, *node.args.defaults], strict=True)]
    rows += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {one.arg: "" if default is None else ast.unparse(default) for one, default in rows}


def _is_another(old: ast.expr, new: ast.expr) -> bool:
    """Whether a literal has another value; a table that only got more entries is the same one."""
    try:
        before, after = ast.literal_eval(old), ast.literal_eval(new)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return False
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return any(key not in after or after[key] != value for key, value in before.items())
    if isinstance(before, (list, tuple, set, frozenset)) and type(before) is type(after):
        return any(one not in after for one in before)
    return type(before) is not type(after) or before != after


def _differing_words(old: ast.expr, new: ast.expr) -> set[str]:
    """The words of the texts in those entries of two tables that are not in both: {'drain': 'drain'} -> {'drain': 'take'}."""
    before, after = ast.literal_eval(old), ast.literal_eval(new)

    def entries(value: object) -> list[object]:
        if isinstance(value, Mapping):
            return list(value.items())
        return list(value) if isinstance(value, (list, tuple, set, frozenset)) else []

    first, second = entries(before), entries(after)
    differing = [one for one in first if one not in second] + [one for one in second if one not in first]
    return set(re.findall(r"\w+", repr(differing)))


def _rewritten(old: ast.Module, new: ast.Module, asked: RequestedScope, used: Collection[str]) -> Iterator[_Function]:
    """Undeclared public functions with another body that no declared function uses."""
    before, after = _public(old.body), _public(new.body)
    for name, node in before.items():
        now = after.get(name)
        if name in used or asked.speaks_of(name) or not isinstance(node, _Function) or not isinstance(now, _Function):
            continue
        if _meaning(node) != _meaning(now) and not node.decorator_list:
            yield node


def _meaning(node: _Function) -> list[str]:
    """The statements of a function without its docstring."""
    prose = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    return [ast.dump(one) for one in node.body[1 if prose else 0 :]]


def _used(asked: RequestedScope, changed: Sequence[ast.Module], read: Read) -> set[str]:
    """Names that declared functions and classes read, directly or through others, in whatever changed module they stand.

    Args:
        changed: the changed modules, before and after.
        read: the tree after the change, for declared symbols whose files did not change.
    """
    nodes: dict[str, list[ast.AST]] = {}
    for tree in [*changed, *_parsed({one.file for one in asked.symbols}, read)]:
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                nodes.setdefault(node.name, []).append(node)
    waiting = [name for name in nodes if asked.speaks_of(name)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += [text for node in nodes.get(name, ()) for text in _read_names(node)]
    return seen


def _parsed(paths: Iterable[str], read: Read) -> Iterator[ast.Module]:
    for path in paths:
        yield module_of(read(path) if path.endswith(".py") else None)


def _read_names(node: ast.AST) -> Iterator[str]:
    """`total` of both `total(rows)` and `calc.total(rows)`."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def _calls(rig: Rig, tree: str) -> dict[str, list[str]]:
    """Function -> calls of it that the tests of a tree make with literals, and calls near to them."""
    found: dict[str, list[str]] = {}
    paths = [path for path in rig.git.list_files(tree) if path.endswith(".py") and is_test_path(path)]
    for path in paths[:_TEST_FILES]:
        for one in asserted(path, rig.git.show(tree, path) or b""):
            node = ast.parse(one.call, mode="eval").body
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                node.func = ast.Name(id=name, ctx=ast.Load())
                found.setdefault(name, []).extend(_near(node))
    return found


def _near(call: ast.Call) -> Iterator[str]:
    """A call, and the same with other first arguments of the same shape."""
    yield ast.unparse(call)
    try:
        first = ast.literal_eval(call.args[0]) if call.args else None
    except ValueError:
        return
    for value in varied(first):
        arguments = [ast.parse(repr(value), mode="eval").body, *call.args[1:]]
        yield ast.unparse(ast.Call(func=call.func, args=arguments, keywords=call.keywords))


def _sampled(node: _Function) -> Iterator[str]:
    """Calls with sample values, when every parameter without a default is of a plain declared type."""
    needed = [one for one in [*node.args.posonlyargs, *node.args.args] if not _parameters(node)[one.arg]]
    samples = [_SAMPLES.get(ast.unparse(one.annotation) if one.annotation else "", ()) for one in needed]
    keyed = any(default is None for default in node.args.kw_defaults)
    if not needed or keyed or not all(samples):
        return
    for number in range(max(len(one) for one in samples)):
        values = [repr(one[(number + place) % len(one)]) for place, one in enumerate(samples)]
        yield f"{node.name}({', '.join(values)})"


def _told(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    return (f"{call} gave {before} and gives {after}, and nobody spoke of it" for call, before, after in rows)
