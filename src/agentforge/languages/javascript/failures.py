"""Reads what V8 says of an error: its type, the place in the project that it comes from, the symbols that it is about.

Reads what the TypeScript compiler says inside of a test runner (ts-jest): each error, and what it is about.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentforge.testing.outcome import MESSAGE_LIMIT, Failure

_TEXT_LIMIT = 1500
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"^\s*(?:at|❯) (?:.*\()?(?:file://)?(/?[^()\n]+?):(\d+):\d+\)?\s*$", re.MULTILINE)
_HEAD = re.compile(r"^\s*(?:[\w ]+: |Uncaught )?((?:[A-Z]\w*)?Error)(?: \[(\w+)\])?: (.*)$", re.MULTILINE)
_EXPORT = re.compile(r"(?:module ['\"]([^'\"]+)['\"] )?does not provide an export named ['\"]([\w$]+)['\"]")
_MODULE = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to (?:resolve import|load url)|Does the file exist\?) ?['\"]?([^'\"\s]+)['\"]?"
)
_CALLED = re.compile(r"([\w$.]+)\)? is not (?:a function|a constructor|iterable)")
_READ = re.compile(r"\(?(?:reading|setting) '([\w$]+)'\)?")
_UNDEFINED = re.compile(r"^([\w$]+) is not defined")
_PARSED = ("SyntaxError", "Expected", "Unexpected", "Transform failed")


def failure_of_error(error: Mapping[str, Any], *, root: str, test_file: str) -> Failure:
    """Describe an error that a reporter sent.

    The types are those that judge a failure everywhere: a missing export is an ImportError, a missing file a
    ModuleNotFoundError, an undefined name a NameError.

    Args:
        root: absolute path of the checkout as the tests see it.
        test_file: repository path of the test's file.
    """
    message = _COLOUR.sub("", str(error.get("message", "")))
    stack = _plain(str(error.get("stack", "")), root)
    path, line = _place(stack, root)
    head = _HEAD.match(stack)
    said = str(error.get("name") or "Error")
    said = head[1] if head and said == "Error" else said  # a worker of jest loses the name, the stack keeps it
    kind, names = _kind(error, said, message.replace(f"{root}/", "").replace("file://", ""), test_file)
    text = (stack if said in stack[:200] else f"{said}: {message}\n{stack}").replace(f"file://{root}/", "")
    return Failure(
        exc_type=kind,
        message=(message if kind in ("AssertionError", said) else f"{said}: {message}").replace(f"{root}/", "")[
            :MESSAGE_LIMIT
        ],
        file=path,
        line=line,
        in_test=path == test_file and bool(path),
        names=names,
        text=_shortened(text.replace(f"{root}/", "")),
    )


def failure_of_output(text: str, *, root: str, test_file: str) -> Failure | None:
    """Describe the error that a file ended with, from what its process wrote; None when it names none."""
    text = _plain(text, root)
    found = _HEAD.search(text)
    if found is None:
        return None
    error = {"name": found[1], "code": found[2] or "", "message": found[3], "stack": text}
    return failure_of_error(error, root=root, test_file=test_file)


def relative(path: str, root: str) -> str:
    """A path or file URL as a repository path."""
    from urllib.parse import unquote

    return (unquote(path[7:]) if path.startswith("file://") else path).removeprefix(f"{root}/")


def _plain(text: str, root: str) -> str:
    """Without colours, and with paths where module URLs of the checkout stood."""
    from urllib.parse import quote

    return _COLOUR.sub("", text).replace(f"file://{quote(root)}/", f"{root}/")


def _place(stack: str, root: str) -> tuple[str, int]:
    """The innermost frame that belongs to the project."""
    for found in _FRAME.finditer(stack):
        path = relative(found[1], root)
        if not path.startswith(("/", "node:", "node_modules/")) and "/node_modules/" not in path:
            return path, int(found[2])
    return "", 0


def _kind(error: Mapping[str, Any], name: str, message: str, test_file: str) -> tuple[str, tuple[str, ...]]:
    code = str(error.get("code", ""))
    if error.get("assertion"):
        return "AssertionError", ()
    exported = _EXPORT.search(message)
    if exported:
        home = (module_name(exported[1], test_file),) if exported[1] else ()
        return "ImportError", (exported[2], *home)
    absent = _MODULE.search(message)
    if absent or code in ("MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"):
        return "ModuleNotFoundError", (module_name(absent[1] if absent else "", test_file),)
    undefined = _UNDEFINED.match(message)
    if undefined:
        return "NameError", (undefined[1],)
    if name.startswith(_PARSED):
        return "SyntaxError", ()
    about = _CALLED.search(message) or _READ.search(message)
    return name, (about[1].rpartition(".")[2],) if about else ()


def module_name(said: str, test_file: str) -> str:
    """A module as the dotted name of its file: `./slug.js` beside `test/a.js` is `test.slug`, `@/text/slug` is `text.slug`."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(test_file), said)) if said.startswith(".") else said
    first, _, rest = path.partition("/")
    is_alias = first in ("@", "~", "#", "$") or first.startswith(("~", "#", "$")) or (first[:1] == "@" and "/" in rest)
    path = rest if is_alias and rest else path
    return re.sub(r"\.[cm]?[jt]sx?$", "", path).removesuffix("/index").strip("/").replace("/", ".")


def _shortened(text: str) -> str:
    return (
        text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT * 2 // 3] + "\n...\n" + text[-(_TEXT_LIMIT // 3 - 8) :]
    )


_ERROR = re.compile(
    r"^\s*(?P<path>\S[^\n:]*):(?P<line>\d+):\d+ - error (?P<code>TS\d+): (?P<text>[^\n]*)", re.MULTILINE
)
_QUOTED = re.compile(r"'([^']+)'")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_EXPORTS = frozenset({"TS2305", "TS2459", "TS2460", "TS2613", "TS2614", "TS2724"})
_MEMBERS = frozenset({"TS2339", "TS2551", "TS2576"})
_MODULES = frozenset({"TS2307", "TS2792", "TS7016"})
_NAMES = frozenset({"TS2304", "TS2552", "TS2582", "TS2503"})


def compiler_failures(message: str, *, root: str, test_file: str) -> list[Failure]:
    """The errors that a compiler told, in order; [] when the message holds none.

    Args:
        root: absolute path of the checkout as the tests see it.
        test_file: repository path of the test's file.
    """
    text = _COLOUR.sub("", message)
    return list(_failures(text, root=root, test_file=test_file))


def _failures(text: str, *, root: str, test_file: str) -> Iterator[Failure]:
    found = list(_ERROR.finditer(text))
    for at, one in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        path = relative(one["path"], root)
        kind, names = _about(one["code"], one["text"], text[one.end() : end], test_file)
        yield Failure(
            exc_type=kind,
            message=f"{one['code']}: {one['text']}"[:MESSAGE_LIMIT],
            file=path,
            line=int(one["line"]),
            in_test=path == test_file,
            names=names,
            text=text[one.start() : end].strip()[:1500],
        )


def _about(code: str, said: str, frame: str, test_file: str) -> tuple[str, tuple[str, ...]]:
    """The kind of an error, and what it is about; one that names nothing is about the words of its line."""
    quoted = _QUOTED.findall(said)
    if code in _EXPORTS:
        plain = [name for name in quoted if not name.startswith('"') and _WORD.fullmatch(name)]
        return "ImportError", tuple(plain[:1])
    if code in _MODULES:
        return "ModuleNotFoundError", (module_name(quoted[0] if quoted else "", test_file),)
    if code in _MEMBERS:
        return "AttributeError", tuple(quoted[:1])
    if code in _NAMES:
        return "NameError", tuple(quoted[:1])
    if code.startswith("TS1"):
        return "SyntaxError", ()
    line = next((row for row in frame.splitlines() if row.strip()), "")
    return "TypeError", tuple(dict.fromkeys(_WORD.findall(line)))
