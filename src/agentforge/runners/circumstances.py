"""Finds new code that decides by circumstances: the clock, the machine or the interpreter compared with constants.

Such code is right on the day and in the place where it is verified. A comparison with something that the program itself keeps
(a start time, an owner's process number) is honest and is not seen; nor is one whose constant is computed at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_CLOCK = re.compile(
    r"(?:^|\.)(?:datetime|date)\.(?:now|today|utcnow)$|^time\.(?:time|time_ns|localtime|gmtime|strftime|ctime)$"
)
_MACHINE = re.compile(
    r"^(?:os\.(?:getpid|getppid|getpgrp|getsid|getlogin|getloadavg|times)|socket\.(?:gethostname|getfqdn|if_nameindex)"
    r"|platform\.node|getpass\.getuser|uuid\.getnode|sys\.(?:gettrace|getprofile|getallocatedblocks|_getframe|_current_frames)"
    r"|inspect\.(?:stack|currentframe)|threading\.active_count)$"
)
_STATE = re.compile(r"^sys\.(?:dont_write_bytecode|meta_path|path_hooks|monitoring|flags\.\w+)$")
_PLACE = re.compile(
    r"/\.dockerenv|/run/\.containerenv|/proc/(?:self|1|\d+)/(?:cgroup|status|mounts|mountinfo|cmdline|stat)\b"
)
_OF_TIME = re.compile(
    r"(?i)\b(?:clocks?|dat(?:e|ed|es|etimes?)|days?|daily|daytime|today\w*|tomorrow|yesterday|now|hour\w*|minutes?|seconds?|weeks?|weekly"
    r"|week(?:day|end)s?|month\w*|year\w*|time\w*|timing|mornings?|\w*noon|evenings?|nights?|midnight|expir\w*|deadlines?|season\w*|leap"
    r"|birth\w*|ages?|aged|utc|schedul\w*|recent\w*|elapsed|durations?|ttl|calend\w*|quarter\w*|fiscal|centur\w+|decades?|ago"
    r"|stale\w*|outdated|overdue|due|sunday|monday|tuesday|wednesday|thursday|friday|saturday|holidays?|era|epoch|moment|january|february|march|april|june|july"
    r"|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|new year|(?:19|20)\d\d)\b"
)
_OF_MACHINE = re.compile(
    r"(?i)\b(?:pids?|process\w*|hosts?|hostnames?|machines?|users?|usernames?|logins?|network\w*|interfaces?|platforms?|containers?|docker"
    r"|sandbox\w*|trac\w*|profil\w*|frames?|stacks?|threads?|interpreters?|debug\w*|/proc|callers?|call sites?|coverage|cpus?"
    r"|load|memory|rss|cgroups?|resources?|kubernetes|podman|wsl|optimi[sz]\w*|bytecode|main thread)\b"
)
_WRAPPERS = frozenset(
    {"len", "int", "bool", "str", "float", "abs", "round", "hash", "list", "tuple", "type", "any", "all", "min", "max"}
)


def decisions(tree: ast.Module, *, told: str) -> Iterator[tuple[int, str]]:
    """List (line, text) of the places that decide by circumstances of which nobody spoke.

    Args:
        told: the words of request and specification.
    """
    names = _Names(tree)
    for node in _conditions(tree):
        sources = list(names.sources(node))
        if not sources or not names.is_constant_otherwise(node):
            continue
        for kind, source in sources:
            if not (_OF_TIME if kind == "clock" else _OF_MACHINE).search(told):
                yield node.lineno, f"decides by {source}: {ast.unparse(node)[:80]}"
    if not _OF_MACHINE.search(told):
        for one in ast.walk(tree):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and _PLACE.search(one.value):
                yield one.lineno, f"looks at the machine: {one.value[:60]!r}"


def _conditions(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions by which something is chosen."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield node
        elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            yield from (one for one in _parts(node.test) if not isinstance(one, ast.Compare))
        elif isinstance(node, ast.Subscript) and not isinstance(
            node.value, ast.Attribute
        ):  # `sys.flags[...]` is a source
            yield node.slice


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The operands of `and`, `or` and `not`."""
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    else:
        yield test


class _Names:
    """What the names of a module stand for: imported modules and functions, and constants of its own."""

    def __init__(self, tree: ast.Module) -> None:
        self._meaning: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    first = one.name.split(".")[0]
                    self._meaning |= {one.asname: one.name} if one.asname else {first: first}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._meaning |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        self._constants: set[str] = set()
        for statement in tree.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
            value = getattr(statement, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, ast.expr) and self.is_constant_otherwise(value):
                self._constants.add(target.id)

    def sources(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        """(clock or machine, dotted name) of every circumstance that an expression asks."""
        for one in ast.walk(node):
            if isinstance(one, ast.Call):
                name = self._dotted(one.func)
                if _CLOCK.search(name):
                    yield "clock", name
                elif _MACHINE.search(name):
                    yield "machine", name
                elif ast.unparse(one.func) == "len" and one.args and self._dotted(one.args[0]) == "sys.modules":
                    yield "machine", "the number of modules"  # `"numpy" in sys.modules` is honest
            elif isinstance(one, ast.Attribute) and _STATE.search(self._dotted(one)):
                yield "machine", self._dotted(one)

    def is_constant_otherwise(self, node: ast.expr) -> bool:
        """Whether an expression consists of circumstances and constants alone."""
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        bound = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        return used <= {*bound, *self._constants, *self._meaning, *_WRAPPERS}

    def _dotted(self, node: ast.expr) -> str:
        """`dt.now` under `from datetime import datetime as dt` is `datetime.datetime.now`; empty for anything computed."""
        if isinstance(node, ast.Name):
            return self._meaning.get(node.id, "")
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""
