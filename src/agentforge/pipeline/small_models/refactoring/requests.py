"""Measuring and carrying out a mechanical change: the plan is made of the base commit, and made again when it is written."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.generation.units import oracle
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, option_meant
from agentforge.pipeline.small_models.refactoring.rename_request import uses
from agentforge.pipeline.small_models.refactoring.wording import wanted_of
from agentforge.python_refactoring.change import plan_of
from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.project import Project, Source, module_references, references
from agentforge.python_refactoring.removal import definitions
from agentforge.python_refactoring.request import Wanted
from agentforge.testing.outcome import without_parameters
from agentforge.verification.examples.plain_check import spellings
from agentforge.verification.source.test_hashes import function_hashes, test_functions
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import parse_python

if TYPE_CHECKING:
    from agentforge.python_refactoring.plan import Plan

    pass

WHICH = "which"
"""Key of the question which of several definitions is meant."""
_PLAIN = (".toml", ".cfg", ".ini", ".yml", ".yaml", ".sh", ".json", ".txt", "Makefile", "Dockerfile", "Procfile")
_UNREAD = (".pyi", ".ipynb", ".pyx")
_LARGEST_PLAIN_BYTES = 200_000
_MOST_TESTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanical:
    """What the tree makes of a mechanical request.

    Attributes:
        facts: of the change, {} when the request asks for none.
        problem: why the tree cannot make it, "" it can; `choices` may settle that.
        rest: what the request says besides, "" nothing.
    """

    facts: dict[str, object]
    problem: str = ""
    choices: tuple[str, ...] = ()
    chosen: str = ""
    rest: str = ""


def wanted_change(request: str) -> Wanted | None:
    """The mechanical change of a request; examples speak of behaviour, unless the request itself says that code is meant."""
    wanted = wanted_of(request)
    if wanted is None or not claims_of_request(request):
        return wanted
    said = wanted.kind or wanted.what in ("rename", "drop", "order") or wanted.target.endswith(".py")
    return wanted if said else None


def choice_of(state: RunState) -> str:
    """What a person answered when several definitions could be meant."""
    for item in reversed(list(state.escalations.values())):
        if item.context.get("key") == WHICH and item.resolution is not None:
            return option_meant(item.resolution.text.strip(), item.options)
    return ""


def measured_change(state: RunState, runtime: Runtime) -> Mechanical:
    """Plan the mechanical change of a request over the base commit."""
    wanted = wanted_change(state.request)
    if wanted is None:
        return Mechanical(facts={})

    choice = choice_of(state)
    project = _project(state, runtime)
    try:
        plan = _planned(project, wanted, choice)
    except Unclear as exc:
        return Mechanical(facts={}, problem=str(exc), choices=tuple(getattr(exc, "choices", ())), chosen=choice)
    if plan is None:
        return Mechanical(facts={}, chosen=choice)
    facts = _facts(state, runtime, project, plan, wanted)
    shown = bool(facts["functions"] or state.tests or oracle(state))
    name = plan.targets[0].name or plan.targets[0].source.path
    problem = "" if shown else _no_test(wanted, name)
    return Mechanical(facts=facts if shown else {}, problem=problem, chosen=choice, rest=wanted.rest)


def changed_tests(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    """The test files of the change, None = the file goes; for RED."""
    return {path: data for path, data in _files(state, runtime).items() if is_test_path(path)}


def changed_products(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    """The product files of the change, None = the file goes; for GREEN."""
    return {path: data for path, data in _files(state, runtime).items() if not is_test_path(path)}


def _files(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    wanted = wanted_change(state.request)
    if wanted is None or not state.facts.get("places", {}).get("mechanical"):
        return {}
    plan = _planned(_project(state, runtime), wanted, choice_of(state))
    out: dict[str, bytes | None] = {}
    for path, text in plan.files.items() if plan is not None else ():
        windows = b"\r\n" in (runtime.git.show(state.base_commit, path) or b"")
        out[path] = None if text is None else (text.replace("\n", "\r\n") if windows else text).encode()
    return out


def _planned(project: Project, wanted: Wanted, choice: str) -> Plan | None:

    return plan_of(project, wanted, choice=choice)


def _project(state: RunState, runtime: Runtime) -> Project:
    """The base commit: Python that parses, Python that does not, and files that may name a module."""

    sources, unread, plain, modules = dict[str, Source](), dict[str, str](), dict[str, str](), dict[str, str]()
    roots = runtime.rig().plan.roots
    for path in runtime.git.list_files(state.base_commit):
        if not path.endswith((".py", *_UNREAD, *_PLAIN)):
            continue
        text = (runtime.git.show(state.base_commit, path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
        if path.endswith(_PLAIN):
            plain.update({path: text} if len(text) < _LARGEST_PLAIN_BYTES else {})
        elif path.endswith(_UNREAD) or isinstance(parse_python(text), str):
            unread[path] = text
        else:
            names = spellings(path, roots)
            sources[path] = Source(path=path, text=text, module=names[0], is_test=is_test_path(path))
            modules.update({name: path for name in names if name not in modules})
    return Project(sources=sources, modules=modules, plain=plain, unread=unread)


def _facts(state: RunState, runtime: Runtime, project: Project, plan: Plan, wanted: Wanted) -> dict[str, object]:
    """What the stages have to know of a plan."""
    products = [path for path in plan.files if not is_test_path(path)]
    tests = {path: text for path, text in plan.files.items() if is_test_path(path)}
    symbols: list[dict[str, object]] = [
        {"name": name, "file": path, "kind": kind, "change": change} for name, path, kind, change in plan.symbols
    ]
    affected = [nodeid for path, text in tests.items() if text is not None for nodeid in _affected(project, path, text)]
    for nodeids, change in ((affected, "changed"), (plan.ended, "removed")):
        for path, _, name in (nodeid.partition("::") for nodeid in nodeids):
            symbols.append({"name": name.replace("::", "."), "file": path, "kind": "function", "change": change})
    functions, sound = _showing(project, plan, wanted), _passed_at_base(state, runtime)
    return {
        "told": plan.told,
        "criterion": f"{plan.told}, and every test that is left passes",
        "modified": [path for path in products if path in project.sources],
        "created": [path for path in products if path not in project.sources],
        "symbols": symbols,
        "seen": _seen(plan),
        "functions": [one for one in functions if one in sound][:_MOST_TESTS],
        "ended_files": [path for path, text in tests.items() if text is None],
    }


def _affected(project: Project, path: str, text: str) -> list[str]:
    """The tests of a file that are others now: all, where the file changed outside of them."""

    before, after = project.sources[path].text.encode(), text.encode()
    old, new = dict(function_hashes(before)), dict(function_hashes(after))
    changed = [name for name in new if name in old and new[name] != old[name]]
    outside = _outside(before) != _outside(after)
    names = [name for name, _, _ in test_functions(after)] if outside else changed
    return [f"{path}::{name}" for name in names]


def _outside(data: bytes) -> list[str]:
    """The lines of a file that stand in no test."""

    inside = {
        line for _, node, _ in test_functions(data) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = data.decode().splitlines()
    return [line for number, line in enumerate(lines, 1) if number not in inside and line.strip()]


def _showing(project: Project, plan: Plan, wanted: Wanted) -> list[str]:
    """The tests that show a change: those that use what is changed; for a deletion those of what stays beside it."""

    files: dict[str, list[str]] = {}
    for one in plan.targets:
        path, top = one.source.path, one.name.partition(".")[0]
        found = module_references(project, path) if wanted.what == "delete" else references(project, path, top)
        for ref in found:
            files.setdefault(ref.source.path, []).append(one.name.rpartition(".")[2])
    out = []
    every = [path for path, source in project.sources.items() if source.is_test]
    near = [path for path in every if path in files or path in plan.files]
    for path in near or (every if wanted.what == "delete" else []):
        text = plan.files.get(path, project.sources[path].text)
        for name, node, _ in test_functions(text.encode()) if text is not None else ():
            lines = (text or "").splitlines()[node.lineno - 1 : node.end_lineno]
            body = textwrap.dedent("\n".join(lines))
            if wanted.what == "delete" or any(uses(body, word) for word in files.get(path, [])):
                out.append(f"{path}::{name}")
    return out


def _passed_at_base(state: RunState, runtime: Runtime) -> set[str]:
    """The test functions of which every case passed at the base."""
    digest = state.evidence.get("baseline")
    base = json.loads(runtime.blobs.get(digest)) if digest else {}
    outcomes: Mapping[str, str] = base.get("outcomes") or dict.fromkeys(base.get("passed_ids", ()), "passed")
    passed = {without_parameters(nodeid) for nodeid in base.get("passed_ids", ())}
    bad = {without_parameters(nodeid) for nodeid, outcome in outcomes.items() if outcome != "passed"}
    return passed - bad


def _seen(plan: Plan) -> list[dict[str, object]]:
    """What is changed, where it stands at the base."""

    return [
        {
            "name": one.name,
            "file": one.source.path,
            "line": definitions(one.source, one.name)[0].lineno,
            "role": plan.told,
        }
        for one in plan.targets
        if one.name
    ]


def _no_test(wanted: Wanted, name: str) -> str:
    if wanted.what == "delete":
        return (
            f"the project has no test that passes, so nothing would show what else breaks without {name}: give --tests"
        )
    return f"no test uses {name}: give an example of it, like {name.rpartition('.')[2]}(1) -> 2, or --tests"
