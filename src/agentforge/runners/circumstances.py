"""Finds new code that decides by circumstances of which nobody spoke: the clock, chance, the machine, the environment, a count.

Such code is right on the day and in the place where it is verified. A comparison with something that the program was given (a
start time, an owner's process number) is honest and is not seen; nor is one whose constant is computed at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agentforge.runners.circumstance_sources import Names, Scope, text_of

_PLACE = re.compile(
    r"/\.dockerenv|/run/\.containerenv|^/(?:proc|sys)/|^/etc/(?:hostname|machine-id|resolv\.conf|hosts|mtab)$"
    r"|/proc/(?:self|1|\d+)/(?:cgroup|status|mounts|mountinfo|cmdline|stat)\b"
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
    r"|load|memory|rss|cgroups?|resources?|kubernetes|podman|wsl|optimi[sz]\w*|bytecode|main thread"
    r"|modules?|root|admin\w*|privileg\w*|permission\w*|rights?|log\w*"
    r"|limits?|groups?|uids?|gids?|warnings?|garbage|recursion|kernel|hardware|devices?|sensors?|temperature|batter\w+|uptime|systems?|linux|interactive\w*)\b"
)
_OF_CHANCE = re.compile(
    r"(?i)\b(?:random\w*|chances?|probab\w*|sampl\w*|shuffl\w*|jitter\w*|nois\w*|dice|die|coins?|toss\w*|flip\w*|lotter\w*|pick\w*|rolls?"
    r"|generat\w*|simulat\w*|monte|stochastic\w*|backoff|retr\w+|uuid\w*|tokens?|passwords?|secrets?|fuzz\w*|mutat\w*|luck\w*|unique\w*|games?)\b"
)
_OF_COUNT = re.compile(
    r"(?i)\b(?:count\w*|calls?|called|times|limit\w*|rates?|quotas?|attempts?|retr\w+|budget\w*|sequen\w*|ids?|serial\w*|number\w*|cycl\w*|rotat\w*"
    r"|max\w*|capacity|batch\w*|every|throttl\w*|increment\w*|next|round.robin|hits?|progress|once|first|generat\w*|levels?|depth)\b"
)
_OF_TERMINAL = re.compile(
    r"(?i)\b(?:tty|terminals?|colou?r\w*|interactiv\w*|consoles?|ansi|screens?|progress\w*|prompt\w*|pip(?:e|ed|es)|width|columns?|stdin|stdout|stderr"
    r"|cli|commands?|print\w*|output\w*|highlight\w*|log\w*)\b"
)
_OF_FILES = re.compile(
    r"(?i)\b(?:files?|folders?|director\w*|paths?|config\w*|settings?|home|install\w*|disks?|systems?|platforms?|logs?|cach\w*|data|locations?|exist\w*"
    r"|packag\w*|modules?|environ\w*|working|read\w*|load\w*|writ\w*|sav\w*|import\w*|stor\w*|plugins?|scripts?|programs?|checkout|modified|changed)\b"
)
_OF_ENVIRONMENT = re.compile(r"(?i)\b(?:environ\w*|env|variables?|config\w*|settings?|shells?|process\w*|commands?)\b")
_OF_VARIABLES = re.compile(
    r"(?i)\b(?:environ\w*|env|variables?|config\w*|settings?|home|locales?|languages?|encod\w*|display|shells?|users?|host\w*|paths?|folders?"
    r"|director\w*|switch\w*|options?|ci|github|ssh|process\w*|commands?|temp\w*)\b"
)
_WORDS = {
    **{"clock": _OF_TIME, "machine": _OF_MACHINE, "chance": _OF_CHANCE, "count": _OF_COUNT, "terminal": _OF_TERMINAL},
    **{"place": _OF_FILES, "file": _OF_FILES, "environment": _OF_ENVIRONMENT, "variable": _OF_VARIABLES},
}
_TERMINAL_WORDS = re.compile(r"(?:.*\.)?(?:print|input|s?echo|getpass)|sys\.std(?:out|err)\.\w*write\w*")
_LOOKS = frozenset({"startswith", "endswith", "find", "count", "index", "match", "search", "fullmatch"})
_Part = tuple[ast.expr, Scope]
DECIDING = ("decides by ", "looks at the machine: ")
"""How the findings of this module begin."""


def decisions(tree: ast.Module, *, told: str) -> Iterator[tuple[int, str]]:
    """List (line, text) of the places that decide by circumstances of which nobody spoke.

    Args:
        told: the words of request and specification.
    """
    names = Names(tree)
    silent = {"terminal"} if _talks(tree) else set()
    for node, scope in _conditions(tree, names):
        if not names.only_asks(node, scope):
            continue
        for kind, source in names.sources(node, scope):
            if kind not in silent and _counts(kind, node) and not _is_told(kind, node, told):
                yield node.lineno, f"decides by {source}: {ast.unparse(node)[:80]}"
    if not _OF_MACHINE.search(told):
        for one in ast.walk(tree):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and _PLACE.search(one.value):
                yield one.lineno, f"looks at the machine: {one.value[:60]!r}"


def _is_told(kind: str, node: ast.expr, told: str) -> bool:
    """Whether the words speak of such things, or hold a constant of the very condition."""
    texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return bool(_WORDS[kind].search(told)) or any(len(text) > 2 and text in told for text in texts)


def _counts(kind: str, node: ast.expr) -> bool:
    """Whether a condition over places is about the machine and not about the project's own files, which may be anywhere."""
    if kind not in ("place", "file"):
        return True
    if kind == "file":
        return _looks_at_the_text(node)
    texts = [text_of(one) for one in ast.walk(node) if isinstance(one, ast.expr)]
    stamps = any(isinstance(one, ast.Attribute) and one.attr.startswith("st_") for one in ast.walk(node))
    return stamps or "time(" in ast.unparse(node) or any(text.startswith(("/", "~")) for text in texts)


def _looks_at_the_text(node: ast.expr) -> bool:
    """Whether the path itself is compared: `"x" in __file__`, `os.getcwd().startswith("/x")`."""
    asks = any(
        isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] in _ASKING for one in ast.walk(node)
    )
    return not asks and (isinstance(node, ast.Compare) or _is_look(node))


_ASKING = frozenset({"exists", "is_file", "is_dir", "isfile", "isdir", "stat", "access", "iterdir", "listdir", "glob"})


def _is_look(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKS


def _talks(tree: ast.Module) -> bool:
    """Whether a module speaks to a terminal: it prints, or holds escape sequences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _TERMINAL_WORDS.fullmatch(ast.unparse(node.func)):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\x1b" in node.value:
            return True
    return False


def _conditions(tree: ast.Module, names: Names) -> Iterator[_Part]:
    """Expressions by which something is chosen, each with the names that mean something there."""
    waiting: list[tuple[ast.AST, Scope]] = [(tree, names.module)]
    while waiting:
        node, scope = waiting.pop()
        yield from ((one, scope) for one in _chosen_by(node, names))
        inner = (
            names.inside(node, scope)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            else scope
        )
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _chosen_by(node: ast.AST, names: Names) -> Iterator[ast.expr]:
    """The expressions by which one node chooses."""
    if isinstance(node, ast.Compare):
        yield node
    elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        yield from (one for one in _parts(node.test) if not isinstance(one, ast.Compare))
    elif isinstance(node, ast.comprehension):
        yield from (one for test in node.ifs for one in _parts(test) if not isinstance(one, ast.Compare))
    elif isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Attribute):  # `sys.flags[...]` is a source
        yield node.slice
    elif isinstance(node, ast.Match):
        yield node.subject
    elif isinstance(node, ast.BoolOp):
        yield from (one for one in node.values[:-1] if not isinstance(one, (ast.Compare, ast.BoolOp)))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        if any(isinstance(one, ast.Constant) and isinstance(one.value, (str, bytes)) for one in sides):
            yield from sides
    elif isinstance(node, ast.Call):
        yield from _handed(node, names)


def _handed(node: ast.Call, names: Names) -> Iterator[ast.expr]:
    """What a call chooses by: `{...}.get(x)`, `operator.lt(a, b)`, `(5).__gt__(x)`, `text.startswith("x")`."""
    function = node.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    last = function.attr if isinstance(function, ast.Attribute) else ""
    if last == "get" and isinstance(owner, (ast.Dict, ast.Name)) and node.args:
        yield node.args[0]
    elif (
        names.dotted(function).startswith("operator.")
        or (last.startswith("__") and last.endswith("__"))
        or last in _LOOKS
    ):
        yield node


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The operands of `and`, `or` and `not`."""
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    else:
        yield test
