"""The Python files of a project, read for refactorings, and what a plan writes back. Reading comes in as a callable."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from agentforge.python_refactoring.plan import RefactoringPlan
from agentforge.python_refactoring.project import PythonFile, PythonProject
from agentforge.verification.examples.plain_check import spellings
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import parse_python
from agentforge.workspace.git.repository import Read

_PLAIN = (".toml", ".cfg", ".ini", ".yml", ".yaml", ".sh", ".json", ".txt", "Makefile", "Dockerfile", "Procfile")
_UNREAD = (".pyi", ".ipynb", ".pyx")
_LARGEST_PLAIN_BYTES = 200_000


def read_project(paths: Iterable[str], read: Read, *, roots: Sequence[str]) -> PythonProject:
    """Read Python that parses, Python that does not, and files that may name a module.

    Args:
        paths: the files of the project, from its root.
        read: the bytes of one of them; None = it is not there.
        roots: the folders from which the project's code is imported.
    """
    sources, unread, plain, modules = dict[str, PythonFile](), dict[str, str](), dict[str, str](), dict[str, str]()
    for path in paths:
        if not path.endswith((".py", *_UNREAD, *_PLAIN)):
            continue
        text = (read(path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
        if path.endswith(_PLAIN):
            plain.update({path: text} if len(text) < _LARGEST_PLAIN_BYTES else {})
        elif path.endswith(_UNREAD) or isinstance(parse_python(text), str):
            unread[path] = text
        else:
            names = spellings(path, roots)
            sources[path] = PythonFile(path=path, text=text, module=names[0], is_test=is_test_path(path))
            modules.update({name: path for name in names if name not in modules})
    return PythonProject(sources=sources, modules=modules, plain=plain, unread=unread)


def contents(plan: RefactoringPlan, read: Read) -> dict[str, bytes | None]:
    """What a plan writes, with the line ends that each file has; None = the file goes."""
    out: dict[str, bytes | None] = {}
    for path, text in plan.files.items():
        windows = b"\r\n" in (read(path) or b"")
        out[path] = None if text is None else (text.replace("\n", "\r\n") if windows else text).encode()
    return out


def diff_of(plan: RefactoringPlan, read: Read) -> str:
    """The plan as one unified diff."""
    pieces: list[str] = []
    for path, text in sorted(plan.files.items()):
        data = read(path)
        old = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")
        heads = (f"a/{path}" if data is not None else "/dev/null", f"b/{path}" if text is not None else "/dev/null")
        lines = difflib.unified_diff(old.splitlines(), (text or "").splitlines(), *heads, lineterm="")
        pieces += lines
    return "\n".join(pieces) + ("\n" if pieces else "")
