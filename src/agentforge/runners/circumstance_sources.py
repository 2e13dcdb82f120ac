"""What an expression asks of its circumstances: clock, chance, machine, terminal, environment, place, and counters of calls.

Names are followed: an import under another name, a variable that holds a circumstance and nothing else, a function of the module
that returns one. What is computed at run time, and what an object keeps, is not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from agentforge.frozen import dataclass

_CALLS = {
    "clock": re.compile(
        r"(?:^|\.)(?:datetime|date)\.(?:now|today|utcnow)$|^uuid\.uuid1$|^email\.utils\.(?:formatdate|localtime)$"
        r"|^time\.(?:(?:time|monotonic|perf_counter|process_time|thread_time|clock_gettime)(?:_ns)?|localtime|gmtime|strftime|a?s?ctime)$"
    ),
    "machine": re.compile(
        r"^(?:os\.(?:getpid|getppid|getpgrp|getsid|getlogin|getloadavg|times|gete?[ug]id|getgroups)"
        r"|socket\.(?:gethostname|getfqdn|if_nameindex)|platform\.node|getpass\.getuser|uuid\.getnode|resource\.getr\w+"
        r"|sys\.(?:gettrace|getprofile|getallocatedblocks|getrefcount|getrecursionlimit|_getframe|_current_frames)"
        r"|gc\.(?:isenabled|get_count|get_threshold|get_freeze_count)|traceback\.(?:extract|walk)_stack"
        r"|inspect\.(?:stack|currentframe)|threading\.(?:active_count|current_thread|enumerate))$"
    ),
    "chance": re.compile(
        r"^(?:random\.(?:random|randint|randrange|getrandbits|uniform|choice|gauss)|secrets\.\w+|os\.urandom|uuid\.uuid4)$"
    ),
    "terminal": re.compile(r"^(?:os\.isatty|(?:os|shutil)\.get_terminal_size)$"),
    "place": re.compile(
        r"^(?:os\.path\.(?:exists|lexists|isfile|isdir|islink|ismount|get[acm]time|getsize)|os\.(?:access|listdir|scandir|l?stat))$"
    ),
}  # fmt: skip
_STATE = re.compile(
    r"^sys\.(?:dont_write_bytecode|meta_path|path_hooks|monitoring|flags\.\w+|excepthook|displayhook|ps[12])$|^warnings\.filters$"
)
_STREAM = re.compile(r"^sys\.(?:__)?std(?:in|out|err)(?:__)?$")
_STANDARD = re.compile(
    r"HOME|USER|LOGNAME|PWD|OLDPWD|SHELL|SHLVL|HOSTNAME|LANG|LANGUAGE|LC_\w+|PYTHON\w+|CI|GITHUB_\w+|SSH_\w+|DISPLAY|TMPDIR|_"
)
_STAMPS = frozenset(
    {"st_mtime", "st_ctime", "st_atime", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev", "st_uid", "st_gid"}
)
_WRAPPERS = frozenset(
    {"len", "int", "bool", "str", "float", "abs", "round", "hash", "list", "tuple", "type", "any", "all", "min", "max", "next",
     "set", "sorted", "sum", "iter", "map", "chr", "ord", "reversed", "filter", "zip", "range", "enumerate", "bytes", "dict",
     "repr", "getattr", "hasattr", "isinstance", "__file__", "__import__", "None"}
)  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Found = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The names that mean something in a function, or in the module.

    Attributes:
        asked: variables that hold circumstances and nothing else, with (kind, name) of those.
        constant: variables that are bound once, to a constant.
        early: variables that were set while the module was imported.
    """

    asked: Mapping[str, _Found]
    constant: frozenset[str]
    early: frozenset[str] = frozenset()


class Names:
    """What the names of a module stand for: imported modules and functions, constants, functions that ask, counters."""

    def __init__(self, tree: ast.Module) -> None:
        self.meaning = imported(tree)
        self.functions: dict[str, _Found] = {}
        self.counters = set(_counters(tree))
        module = self._scope(tree.body, Scope(asked={}, constant=frozenset()), rebound=set(_rebound(tree)))
        self.module = Scope(asked=module.asked, constant=module.constant, early=frozenset(module.asked))
        for _ in range(2):  # one that returns what another one asks
            for node in (one for one in tree.body if isinstance(one, _Function)):
                given = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
                inside = self.inside(node, self.module)
                if given and all(self.only_asks(one, inside) for one in given):
                    self.functions[node.name] = frozenset(found for one in given for found in self.sources(one, inside))

    def inside(self, node: _Function | ast.Lambda, outer: Scope) -> Scope:
        """The scope of a function that stands in another scope."""
        arguments = node.args
        given = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        given |= {one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None}
        hidden = Scope(
            asked={name: found for name, found in outer.asked.items() if name not in given},
            constant=outer.constant - given,
            early=outer.early - given,
        )
        return hidden if isinstance(node, ast.Lambda) else self._scope(node.body, hidden, rebound=given)

    def sources(self, node: ast.AST, scope: Scope) -> Iterator[tuple[str, str]]:
        """(kind, dotted name) of every circumstance that an expression asks; a time that went by inside a function is none."""
        if isinstance(node, (ast.BinOp, ast.Compare)) and self._is_elapsed(node, scope):
            return
        if isinstance(node, ast.Call):
            yield from self._called(node)
        elif isinstance(node, ast.Attribute) and _STREAM.search(self.dotted(node)):
            yield "terminal", self.dotted(node)
        elif isinstance(node, ast.Attribute):
            if _STATE.search(self.dotted(node)):
                yield "machine", self.dotted(node)
            elif node.attr in _STAMPS:
                yield "place", node.attr
        elif isinstance(node, ast.Name) and node.id in scope.asked:
            yield from scope.asked[node.id]
        elif isinstance(node, ast.Name) and node.id in self.counters:
            yield "count", f"how often {node.id} was asked"
        yield from self._environment(node)
        if not (isinstance(node, (ast.Call, ast.Subscript, ast.Compare)) and self._names_a_key(node)):
            for child in ast.iter_child_nodes(node):
                yield from self.sources(child, scope)

    def only_asks(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression asks circumstances, and consists of them and of constants alone."""
        return next(iter(self.sources(node, scope)), None) is not None and self.is_constant_otherwise(node, scope)

    def is_constant_otherwise(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression consists of circumstances and constants alone."""
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        bound = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        known = {*scope.constant, *scope.asked, *self.meaning, *self.functions, *self.counters, *_WRAPPERS}
        return used <= bound | known

    def dotted(self, node: ast.expr) -> str:
        """`dt.now` under `from datetime import datetime as dt` is `datetime.datetime.now`; empty for anything computed."""
        if isinstance(node, ast.Name):
            return self.meaning.get(node.id, "")
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.Call) and node.args:
            called = node.func.id if isinstance(node.func, ast.Name) else self.dotted(node.func)
            last = text_of(node.args[-1])
            if called in ("__import__", "importlib.import_module") and last:
                return last
            if called == "getattr" and len(node.args) == 2 and last:
                owner = self.dotted(node.args[0])
                return f"{owner}.{last}" if owner else ""
        return ""

    def _called(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        name = self.dotted(node.func)
        yield from ((kind, name) for kind, pattern in _CALLS.items() if pattern.search(name))
        if name == "logging.getLogger" and not node.args:
            yield "machine", "the root of the logs"
        if isinstance(node.func, ast.Name) and node.func.id in self.functions and not node.args:
            yield from self.functions[node.func.id]

    def _environment(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        """The environment as a whole, the loaded modules as a whole, and variables that every process has."""
        if isinstance(node, (ast.Call, ast.Subscript, ast.Compare)) and (key := self._key(node)):
            if key[0] == "environment" and _STANDARD.fullmatch(key[1]):
                yield "variable", key[1]
            elif key == ("modules", "__main__"):
                yield "machine", "the main module"
        elif isinstance(node, ast.Attribute) and self.dotted(node) in ("os.environ", "sys.modules"):
            yield ("environment" if node.attr == "environ" else "machine"), self.dotted(node)
        elif isinstance(node, ast.Name) and node.id == "__file__":
            yield "file", "__file__"
        elif isinstance(node, ast.Call) and self.dotted(node.func) in ("os.getcwd", "pathlib.Path.cwd"):
            yield "file", "the working directory"

    def _names_a_key(self, node: ast.Call | ast.Subscript | ast.Compare) -> bool:
        return bool(self._key(node))

    def _key(self, node: ast.Call | ast.Subscript | ast.Compare) -> tuple[str, str] | None:
        """(environment or modules, key) of `os.environ.get("X")`, `os.environ["X"]`, `"x" in sys.modules`, `os.getenv("X")`.

        A key that is computed is "": which one it is stands elsewhere, and one that is hidden is found by `hidden_code.py`.
        """
        owner: ast.expr | None = None
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            owner, key = node.value, node.slice
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            owner, key = node.comparators[0], node.left
        elif isinstance(node, ast.Call) and node.args:
            key = node.args[0]
            if self.dotted(node.func) == "os.getenv":
                return "environment", text_of(key)
            owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "get" else None
        kind = {"os.environ": "environment", "sys.modules": "modules"}.get(self.dotted(owner)) if owner else None
        return (kind, text_of(key)) if kind and key is not None else None

    def _is_elapsed(self, node: ast.BinOp | ast.Compare, scope: Scope) -> bool:
        """Two readings of a clock taken from each other, none of them from the time of the import."""
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Sub):
            return False
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.left, *node.comparators)
        clocks = [any(kind == "clock" for kind, _ in self.sources(side, scope)) for side in sides]
        names = {one.id for side in sides for one in ast.walk(side) if isinstance(one, ast.Name)}
        return all(clocks) and not names & scope.early

    def _scope(self, body: Sequence[ast.stmt], outer: Scope, *, rebound: set[str]) -> Scope:
        """The variables of a body that are bound to circumstances, or once to a constant; what is given is neither."""
        values: dict[str, list[ast.expr | None]] = {name: [None] for name in rebound}
        for name, value in _bindings(body):
            values.setdefault(name, []).append(value)
        asked = {name: found for name, found in outer.asked.items() if name not in values}
        constant = set(outer.constant) - values.keys()
        scope = Scope(asked=asked, constant=frozenset(constant), early=outer.early - values.keys())
        for name, given in values.items():
            known = [one for one in given if one is not None]
            if len(known) < len(given):
                continue
            if all(self.only_asks(one, scope) for one in known):
                asked[name] = frozenset(found for one in known for found in self.sources(one, scope))
            elif len(known) == 1 and self.is_constant_otherwise(known[0], scope):
                constant.add(name)
            scope = Scope(asked=asked, constant=frozenset(constant), early=scope.early)
        return scope


def imported(tree: ast.Module) -> dict[str, str]:
    """What the imported names of a module stand for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.split(".")[0]
                found |= {one.asname: one.name} if one.asname else {first: first}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


def text_of(node: ast.expr | None) -> str:
    """The text of a constant, or of constants that are added; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return left + right if left and right else ""
    return ""


def _bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """(name, value) of what a body binds, functions inside of it left out; None where the value is not one expression."""
    for node in _own_nodes(body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.For, ast.AsyncFor, ast.withitem)):
            places = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            places = [node.optional_vars] if isinstance(node, ast.withitem) else places
            inside = [one for place in places if place is not None for one in ast.walk(place)]
            yield from (
                (one.id, None) for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a body that does not belong to a function or class inside of it."""
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield node
            yield from _own_nodes(list(ast.iter_child_nodes(node)))


def _rebound(tree: ast.Module) -> Iterator[str]:
    """Variables of the module that functions set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names


def _counters(tree: ast.Module) -> Iterator[str]:
    """Variables of the module that count: iterators, and numbers that functions add to."""
    shared = set(_rebound(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in shared:
            yield node.target.id
    for name, value in _bindings(tree.body):
        made = ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
        if made in ("count", "cycle", "iter"):
            yield name
