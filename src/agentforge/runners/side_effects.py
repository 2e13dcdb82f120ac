"""Finds new product code that does behind the caller's back what nobody asked for: networks, processes, swallowed errors, hooks.

No test notices any of them: the sandbox has no network, and what swallows every error fails nowhere. A request or specification
that speaks of such things, in its own words, allows them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_NETWORK = re.compile(
    r"^(?:socket|ssl|http\.client|urllib\.request|urllib3|requests|httpx|aiohttp|smtplib|ftplib|telnetlib|imaplib|poplib"
    r"|xmlrpc\.client|websockets?|paramiko)(?:\.|$)"
)
_PROCESS = re.compile(
    r"^(?:subprocess|pty|ctypes|os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|fork|forkpty))(?:\.|$)"
)
_TO_NETWORK, _TO_PROGRAMS = REACHING = "reaches for the network", "starts or reaches other programs"
"""How the findings begin that say where code reaches out to."""
_PURE = re.compile(
    r"^(?:socket\.(?:inet_\w+|[nh]to[hn][sl]|\w*(?:error|timeout)|[A-Z]\w+)"
    r"|ssl\.(?:[A-Z]\w+|DER_cert_to_PEM_cert|PEM_cert_to_DER_cert|cert_time_to_seconds|create_default_context)"
    r"|http\.client\.(?:HTTPException|HTTPResponse|[A-Z]\w*(?:Error|Exception|Disconnected|Request|Read|Protocol|State|URL))"
    r"|urllib\.request\.(?:Request|pathname2url|url2pathname|parse_\w+|quote|unquote|\w*Handler)"
    r"|requests\.(?:(?:utils|exceptions|structures|compat|cookies|models|codes|auth)\.\w+|Request|PreparedRequest|\w*(?:Error|Timeout))"
    r"|httpx\.(?:URL|Headers|Request|Response|Timeout|Limits|QueryParams|Cookies|\w*(?:Error|Exception|Timeout|Auth|Transport))"
    r"|urllib3\.(?:(?:util|exceptions|response)\.\w+(?:\.\w+)?|Retry|Timeout|HTTPResponse)"
    r"|aiohttp\.(?:web\.(?:\w*Response|HTTP\w+)|ClientTimeout|\w*(?:Error|Exception))"
    r"|subprocess\.(?:list2cmdline|\w*(?:Error|Expired)|CompletedProcess|STARTUPINFO)"
    r"|ctypes\.(?:c_\w+|sizeof|Structure|Union|Array|BigEndian\w+|LittleEndian\w+|byref|create_\w*buffer))$"
)
"""What only computes or describes, though its module reaches out: addresses, messages, errors, numbers of a width."""
_OF_NETWORK = re.compile(
    r"(?i)\b(?:https?|ur[il]s?|network\w*|sockets?|internet|download\w*|upload\w*|fetch\w*|apis?|servers?|clients?|hosts?|ports?|mails?"
    r"|e-?mails?|smtp|ftp|ssh|connect\w*|web\w*|rest|rpc|endpoints?|dns|ip(?:v?[46])?|address\w*|domains?|hostnames?|listen\w*|ssl|tls|ping|sync\w*|remote\w*|online|send\w*|proxy"
    r"|telemetry|tcp|udp|requests|httpx|sockets?)\b"
)
_OF_PROCESS = re.compile(
    r"(?i)\b(?:process\w*|subprocess\w*|commands?|shells?|runs?|git|execut\w*|cli|tools?|programs?|scripts?|spawn\w*|launch\w*|invok\w*"
    r"|external|binar\w*|pipes?|fork\w*|terminals?|native|c library|ctypes|editor|open\w*)\b"
)
_OF_ERRORS = re.compile(
    r"(?i)\b(?:errors?|exceptions?|fail\w*|invalid|ignor\w*|never rais\w*|fall ?back|defaults?|best.effort|robust\w*|swallow\w*"
    r"|safe\w*|broken|malformed|whatever|crash\w*|silent\w*|suppress\w*|invalid\w*|valid\w*|cannot|can['\u2019]?t|could not"
    r"|unable|impossible|bad|wrong|corrupt\w*|garbage|damaged|unknown|unsupported|unpars\w+|unread\w+|toleran\w*|tolerat\w*"
    r"|lenient\w*|forgiv\w*|graceful\w*|skip\w*|recover\w*|retr(?:y|ies|ied|ying)|raises?|raised|raising)\b"
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BROAD = frozenset({"Exception", "BaseException"})


def effects(tree: ast.Module, *, told: str) -> Iterator[tuple[int, str]]:
    """List (line, text) of the places that reach out or hide errors, as far as nobody spoke of such things.

    Args:
        told: the words of request and specification.
    """
    meaning = _meaning(tree)
    for node in ast.walk(tree):
        name = _dotted(node.func, meaning) if isinstance(node, ast.Call) else ""
        if _PURE.search(name):
            continue
        if _NETWORK.search(name) and not _OF_NETWORK.search(told):
            yield node.lineno, f"{_TO_NETWORK}: {name}"  # type: ignore[attr-defined]  # a call
        elif _PROCESS.search(name) and not _OF_PROCESS.search(told):
            yield node.lineno, f"{_TO_PROGRAMS}: {name}"  # type: ignore[attr-defined]  # a call
        elif isinstance(node, ast.ExceptHandler) and _hides(node) and not _OF_ERRORS.search(told):
            yield node.lineno, "swallows every error and says nothing"
        elif name == "contextlib.suppress" and _BROAD & _last_names(node) and not _OF_ERRORS.search(told):
            yield node.lineno, "swallows every error and says nothing"  # type: ignore[attr-defined]  # a call
        elif isinstance(node, _Function) and node.name.startswith("pytest_") and "pytest" not in told:
            yield node.lineno, f"is a hook of the test runner: {node.name}"


def _meaning(tree: ast.Module) -> dict[str, str]:
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


def _dotted(node: ast.expr, meaning: dict[str, str]) -> str:
    """The full name of what is called; empty for anything computed."""
    if isinstance(node, ast.Name):
        return meaning.get(node.id, "")
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, meaning)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _last_names(node: ast.AST) -> set[str]:
    """Names of the arguments of a call, without their modules."""
    return {ast.unparse(one).rpartition(".")[2] for one in getattr(node, "args", ())}


def _hides(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every exception and neither looks at it nor calls, raises or keeps anything."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if not any(kind is None or ast.unparse(kind).rpartition(".")[2] in _BROAD for kind in kinds):
        return False
    quiet = (ast.Pass, ast.Return, ast.Continue, ast.Break)
    return all(
        isinstance(one, quiet) and not any(isinstance(part, (ast.Call, ast.Name)) for part in ast.walk(one))
        for one in handler.body
    )
