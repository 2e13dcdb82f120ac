"""Finds new product code that does behind the caller's back what nobody asked for: networks, processes, swallowed errors.

No test notices any of them: the sandbox has no network, and what swallows every error fails nowhere. A request that speaks of
such things, in its own words, allows them. Other effects are measured where calls are repeated (`dependencies.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agentforge.languages.python.imports import imported_names

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
    r"^(?:socket\.(?:gethostname|inet_\w+|[nh]to[hn][sl]|\w*(?:error|timeout)|[A-Z]\w+)"
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
    r"|telemetry|tcp|udp|requests|httpx|post(?:s|ed|ing)|pings?|pinged|scrap\w+|crawl\w*|pages?|webhooks?|feeds?|slack|discord"
    r"|telegram|github|gitlab|google|aws|s3|azure|cloud\w*|databases?|redis|postgres\w*|mysql|mongo\w*|kafka|mqtt|amqp|ldap|oauth\w*"
    r"|health\w*|notif\w*|publish\w*|subscri\w*|brokers?|geo\w*|weather|translat\w*|registr\w*|mirror\w*|broadcast\w*)\b"
)
_OF_PROCESS = re.compile(
    r"(?i)\b(?:process\w*|subprocess\w*|commands?|shells?|runs?|git|execut\w*|cli|tools?|programs?|scripts?|spawn\w*|launch\w*|invok\w*"
    r"|external|binar\w*|pipes?|fork\w*|terminals?|native|c library|ctypes|editor|open\w*|windows|macos|linux|consoles?"
    r"|desktop|clipboard|drivers?|hardware|kernel|daemons?|services?|jobs?|background|install\w*|compil\w*)\b"
)
_OF_ERRORS = re.compile(
    r"(?i)\b(?:errors?|exceptions?|fail\w*|invalid|ignor\w*|never rais\w*|fall ?back|defaults?|best.effort|robust\w*|swallow\w*"
    r"|safe\w*|broken|malformed|whatever|crash\w*|silent\w*|suppress\w*|invalid\w*|valid\w*|cannot|can['\u2019]?t|could not"
    r"|unable|impossible|bad|wrong|corrupt\w*|garbage|damaged|unknown|unsupported|unpars\w+|unread\w+|toleran\w*|tolerat\w*"
    r"|or (?:none|null|default|nothing|empty)|(?:when|if|where) there (?:is|are) (?:no|none|nothing)\b.*"
    r"|left out|leav\w+ out|omit\w*|lenient\w*|forgiv\w*|graceful\w*|skip\w*|recover\w*"
    r"|retr(?:y|ies|ied|ying)|raises?|raised|raising)\b"
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_RUNNING = frozenset(
    {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"}
)
_RUNS_ANYTHING = re.compile(
    r"(?:.*/)?(?:(?:ba|da|z|k|fi|c|tc)?sh|python[\d.]*|pypy\d*|perl|ruby|node|nodejs|deno|bun|php|lua|env|sudo|su|xargs|nohup|setsid"
    r"|busybox|curl|wget|ncat|nc|netcat|socat|ssh|scp|sftp|ftp|telnet|rsync|dig|nslookup|host|at|crontab|kill|pkill|killall|pytest|rm|dd)"
)
_HOST = re.compile(r"(?:(?:https?|wss?|ftp)://(?:[^/@\s]*@)?|^(?=[\w-]+\.))([\w-]+(?:\.[\w-]+)*)")
_ADDRESSES = frozenset(
    {
        "url",
        "uri",
        "address",
        "host",
        "hostname",
        "server",
        "endpoint",
        "peer",
        "link",
        "site",
        "href",
        "target",
        "location",
    }
)
_ASKING = re.compile(r"_?(?:is|has|can|supports|looks_like)_")
_BROAD = frozenset({"Exception", "BaseException"})


def effects(tree: ast.Module, *, told: str) -> Iterator[tuple[int, str]]:
    """List (line, text) of the places that reach out or hide errors, as far as nobody spoke of such things.

    Args:
        told: the words of the request and of people's answers.
    """
    meaning = imported_names(tree)
    open_ones = {*_given_addresses(tree), *_excused_handlers(tree)}
    for node in ast.walk(tree):
        name = _dotted(node.func, meaning) if isinstance(node, ast.Call) else ""
        if id(node) in open_ones or _PURE.search(name) or _names_its_program(name, node) or _is_named(name, node, told):
            continue
        if _NETWORK.search(name) and not _OF_NETWORK.search(told):
            yield node.lineno, f"{_TO_NETWORK}: {name}"  # type: ignore[attr-defined]  # a call
        elif _PROCESS.search(name) and not _OF_PROCESS.search(told):
            yield node.lineno, f"{_TO_PROGRAMS}: {name}"  # type: ignore[attr-defined]  # a call
        elif isinstance(node, ast.ExceptHandler) and _hides(node) and not _OF_ERRORS.search(told):
            yield node.lineno, "swallows every error and says nothing"
        elif name == "contextlib.suppress" and _BROAD & _last_names(node) and not _OF_ERRORS.search(told):
            yield node.lineno, "swallows every error and says nothing"  # type: ignore[attr-defined]  # a call


def _names_its_program(name: str, call: ast.AST) -> bool:
    """Whether a call starts a program that stands there by name: no shell, no interpreter, nothing that talks to others."""
    argv = call.args[0] if isinstance(call, ast.Call) and call.args else None
    first = argv.elts[0] if isinstance(argv, (ast.List, ast.Tuple)) and argv.elts else None
    if name not in _RUNNING or not isinstance(call, ast.Call) or not isinstance(first, ast.Constant):
        return False
    shell = any(one.arg in ("shell", "executable", None) for one in call.keywords)
    return not shell and isinstance(first.value, str) and not _RUNS_ANYTHING.fullmatch(first.value)


def _is_named(name: str, call: ast.AST, told: str) -> bool:
    """Whether the host or program in a call's constants stands in the words: `pandoc`, or `Yahoo` for https://finance.yahoo.com."""
    if not isinstance(call, ast.Call) or not call.args:
        return False
    texts = [
        one.value for one in ast.walk(call.args[0]) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    if _NETWORK.search(name):
        words = {label for text in texts for host in _HOST.findall(text) for label in host.split(".")}
    else:
        words = {text.split()[0] for text in texts[:1] if text.strip() and _PROCESS.search(name)}
    return any(len(word) > 2 and re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", told) for word in words)


def _given_addresses(tree: ast.Module) -> Iterator[int]:
    """The calls whose first argument is an address that the function was given: who calls it says where to."""
    for node in ast.walk(tree):
        if not isinstance(node, _Function):
            continue
        own = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)} & _ADDRESSES
        for call in ast.walk(node):
            first = call.args[0] if isinstance(call, ast.Call) and call.args else None
            first = first.elts[0] if isinstance(first, ast.Tuple) and first.elts else first
            if isinstance(first, ast.Name) and first.id in own:
                yield id(call)


def _excused_handlers(tree: ast.Module) -> Iterator[int]:
    """Handlers that must not raise (`__del__`), that say no (`is_...`), that look for the next way, or for an optional import."""
    for node in ast.walk(tree):
        if isinstance(node, _Function) and (node.name == "__del__" or _ASKING.match(node.name)):
            for one in _handlers(node):
                if node.name == "__del__" or [ast.unparse(line) for line in one.body] == ["return False"]:
                    yield id(one)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            tries = [one for one in ast.walk(node) if isinstance(one, ast.Try) and _succeeds(one)]
            yield from (id(one) for way in tries for one in way.handlers)
        elif isinstance(node, ast.Try) and any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body):
            yield from (id(one) for one in node.handlers)


def _handlers(node: ast.AST) -> Iterator[ast.ExceptHandler]:
    return (one for one in ast.walk(node) if isinstance(one, ast.ExceptHandler))


def _succeeds(way: ast.Try) -> bool:
    """Whether the first way that works ends the search."""
    ends = isinstance((way.orelse or way.body)[-1], (ast.Return, ast.Break))
    goes_on = all(isinstance(one.body[-1], (ast.Pass, ast.Continue)) for one in way.handlers)
    return ends and goes_on


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
