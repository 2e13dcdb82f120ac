"""What a mechanical change makes of a project: new texts, declared symbols, tests that end. Pure."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.project import PythonFile, PythonProject
from agentforge.python_refactoring.removal import definitions
from agentforge.python_refactoring.request import RefactoringRequest

_PLACES = 6


class Open(Unclear):
    """Several things are meant equally well; one of the choices settles it."""

    def __init__(self, message: str, *, choices: Sequence[str]) -> None:
        """Args: choices are what a person may answer."""
        super().__init__(message)
        self.choices = tuple(choices)


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """What is changed: a definition, or a module as a whole (`name` is "")."""

    source: PythonFile
    name: str

    @property
    def shown(self) -> str:
        """As a person is told."""
        return f"{self.name} ({self.source.path})" if self.name else self.source.path

    @property
    def kind(self) -> str:
        """As a specification declares it."""
        node = definitions(self.source, self.name)[0]
        if isinstance(node, ast.ClassDef):
            return "class"
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return "constant"
        return "method" if "." in self.name else "function"


@dataclass(frozen=True, kw_only=True)
class RefactoringPlan:
    """A change as a whole.

    Attributes:
        files: path -> new text, None = the file goes.
        symbols: (name, file, kind, change) of product code.
        ended: ids of the tests that speak of nothing but what is deleted.
        told: one sentence.
    """

    files: Mapping[str, str | None]
    symbols: tuple[tuple[str, str, str, str], ...]
    told: str
    ended: tuple[str, ...] = ()
    targets: tuple[Target, ...] = field(default=())


def shown_places(places: Iterable[str]) -> str:
    """Some places, and how many more there are."""
    known = list(dict.fromkeys(places))
    more = f" and {len(known) - _PLACES} more" if len(known) > _PLACES else ""
    return ", ".join(known[:_PLACES]) + more


def located(project: PythonProject, wanted: RefactoringRequest, *, choice: str = "") -> list[Target]:
    """What a request means, [] when it is no code of the project and the request does not say that it should be.

    Args:
        choice: what a person answered when it was open.
    Raises:
        Open: several definitions have the name.
        Unclear: it is defined nowhere, or in a way that the tree cannot change.
    """
    if wanted.what == "delete" and any(_is_file(wanted, name) for name in wanted.names):
        return [Target(source=_file(project, name), name="") for name in wanted.names]
    owner, paths = _place(project, wanted)
    if wanted.place and not owner and not paths:
        if wanted.kind:
            raise Unclear(f"the project has no module and no class {wanted.place}")
        return []
    out = []
    for name in wanted.names:
        found = _candidates(project, f"{owner}.{name}" if owner else name, paths=paths, kind=wanted.kind)
        if choice:
            found = [one for one in found if choice in (one.shown, one.source.path, one.name)] or found
        if not found and not wanted.kind and not paths and wanted.what in ("delete", "move"):
            return []
        if not found:
            raise Unclear(_nowhere(project, name, paths))
        if len(found) > 1:
            shown = [one.shown for one in found]
            raise Open(f"{name} is defined in several places; which one is meant?", choices=shown)
        out.append(found[0])
    return out


def _is_file(wanted: RefactoringRequest, name: str) -> bool:
    return wanted.kind in ("module", "file", "script") or "/" in name or name.endswith(".py")


def _file(project: PythonProject, name: str) -> PythonFile:
    found = path_of(project, name)
    if not found:
        raise Unclear(f"the project has no Python file {name}")
    return project.sources[found]


def path_of(project: PythonProject, name: str) -> str:
    """The file that a path, the end of one, or a module's name means; "" none, or several."""
    if name in project.sources:
        return name
    suffix = name if name.endswith(".py") else f"{name.replace('.', '/')}.py"
    ends = [path for path in project.sources if path.endswith(f"/{suffix}") or path == suffix]
    packages = [path for path in project.sources if path.endswith(f"{name.replace('.', '/')}/__init__.py")]
    found = ends or packages
    return project.module_path(name) or (found[0] if len(found) == 1 else "")


def _place(project: PythonProject, wanted: RefactoringRequest) -> tuple[str, tuple[str, ...]]:
    """The class, or the files, that a request names as the place."""
    if not wanted.place:
        return "", ()
    path = path_of(project, wanted.place)
    if path:
        return "", (path,)
    dotted = wanted.place.replace("/", ".")
    inside = tuple(one for module, one in project.modules.items() if module.startswith(f"{dotted}."))
    if inside:
        return "", inside
    return (wanted.place, ()) if _candidates(project, wanted.place, paths=(), kind="class") else ("", ())


def _candidates(project: PythonProject, name: str, *, paths: Sequence[str], kind: str) -> list[Target]:
    sources = [one for one in project.sources.values() if (one.path in paths if paths else not one.is_test)]
    last = name.rpartition(".")[2]
    sources = [one for one in sources if last in one.text]
    found = (
        [Target(source=one, name=name) for one in sources if definitions(one, name)]
        if kind != "method" or "." in name
        else []
    )
    if not found and "." not in name and kind in ("", "method"):
        found = [Target(source=one, name=full) for one in sources for full in _members(one, name)]
    if not found and "." in name:
        module, _, rest = name.rpartition(".")
        while module and not found:
            path = project.module_path(module)
            if path and definitions(project.sources[path], rest):
                found = [Target(source=project.sources[path], name=rest)]
            module, _, part = module.rpartition(".")
            rest = f"{part}.{rest}"
    return [one for one in found if kind not in ("function", "class") or one.kind in (kind, "method")]


def _members(source: PythonFile, name: str) -> list[str]:
    """`Class.name` of the classes at the top that define it."""
    classes = [node.name for node in source.tree.body if isinstance(node, ast.ClassDef)]
    return [f"{one}.{name}" for one in classes if definitions(source, f"{one}.{name}")]


def _nowhere(project: PythonProject, name: str, paths: Sequence[str]) -> str:
    known = {
        node.name
        for one in project.sources.values()
        for node in ast.walk(one.tree)
        if not one.is_test and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    near = difflib.get_close_matches(name.rpartition(".")[2], sorted(known), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    where = f"in {', '.join(paths)}" if paths and len(paths) < _PLACES else "in the project"
    return f"{name} is not defined {where}{hint}"


def is_fresh_path(name: str) -> bool:
    """Whether a name is the path of a Python file."""
    return name.endswith(".py") and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
