"""Measuring and carrying out a mechanical change: the plan is made of the base commit, and made again when it is written.

Files that the harness itself writes for small models: rendered tests, renamed tests, renamed code.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.generation.suite_template import rendered_suite
from agentforge.pipeline.small_models.generation.units import oracle
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, option_meant
from agentforge.pipeline.small_models.refactoring.request_words import wanted_of
from agentforge.pipeline.small_models.refactoring.syntax_tree import uses
from agentforge.python_refactoring import (
    PythonProject,
    Read,
    RefactoringPlan,
    RefactoringRequest,
    Unclear,
    contents,
    definitions,
    member_references,
    module_references,
    plan_of,
    read_project,
    references,
    wanted_from,
)
from agentforge.testing.outcome import without_parameters
from agentforge.verification.source.test_hashes import function_hashes, test_functions
from agentforge.workspace.code.relevance import is_test_path

WHICH = "which"
"""Key of the question which of several definitions is meant."""
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


def wanted_change(state: RunState) -> RefactoringRequest | None:
    """The mechanical change that a run was started for, or that its request asks for in words.

    Examples speak of behaviour, unless the request itself says that code is meant.
    """
    if state.brief.refactoring:
        return wanted_from(state.brief.refactoring)
    wanted = wanted_of(state.brief.request)
    if wanted is None or not claims_of_request(state.brief.request):
        return wanted
    said = wanted.kind or wanted.what in ("rename", "drop", "order") or wanted.target.endswith(".py")
    return wanted if said else None


def choice_of(state: RunState) -> str:
    """What a person answered when several definitions could be meant."""
    for item in reversed(list(state.people.escalations.values())):
        if item.context.get("key") == WHICH and item.resolution is not None:
            return option_meant(item.resolution.text.strip(), item.options)
    return ""


def measured_change(state: RunState, runtime: Runtime) -> Mechanical:
    """Plan the mechanical change of a request over the base commit."""
    wanted = wanted_change(state)
    if wanted is None:
        return Mechanical(facts={})
    choice = choice_of(state)
    project = _project(state, runtime)
    try:
        plan = plan_of(project, wanted, choice=choice)
    except Unclear as exc:
        return Mechanical(facts={}, problem=str(exc), choices=tuple(getattr(exc, "choices", ())), chosen=choice)
    if plan is None:
        return Mechanical(facts={}, chosen=choice)
    facts = _facts(state, runtime, project, plan, wanted)
    shown = bool(facts["functions"] or state.brief.tests or oracle(state))
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
    wanted, places = wanted_change(state), state.work.facts.get("places", {})
    if wanted is None or not (places.get("mechanical") or places.get("rename")):
        return {}
    plan = plan_of(_project(state, runtime), wanted, choice=choice_of(state))
    return contents(plan, _reader(state, runtime)) if plan is not None else {}


def _project(state: RunState, runtime: Runtime) -> PythonProject:
    """The base commit."""
    files = runtime.git.list_files(state.identity.base_commit)
    return read_project(files, _reader(state, runtime), roots=runtime.rig().plan.roots)


def _reader(state: RunState, runtime: Runtime) -> Read:
    return lambda path: runtime.git.show(state.identity.base_commit, path)


def _facts(
    state: RunState, runtime: Runtime, project: PythonProject, plan: RefactoringPlan, wanted: RefactoringRequest
) -> dict[str, object]:
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
        "modified": [path for path in products if path in project.sources or path in project.plain],
        "created": [path for path in products if path not in project.sources and path not in project.plain],
        "symbols": symbols,
        "seen": _seen(plan),
        "functions": [one for one in functions if one in sound][:_MOST_TESTS],
        "ended_files": [path for path, text in tests.items() if text is None],
    }


def _affected(project: PythonProject, path: str, text: str) -> list[str]:
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


def _showing(project: PythonProject, plan: RefactoringPlan, wanted: RefactoringRequest) -> list[str]:
    """The tests that show a change: those that use what is changed; for a deletion those of what stays beside it."""
    new_name = wanted.new if wanted.what == "rename" and not wanted.parameter else ""
    files: dict[str, list[str]] = {}
    for one in plan.targets:
        path, top, last = one.source.path, one.name.partition(".")[0], one.name.rpartition(".")[2]
        found = module_references(project, path) if wanted.what == "delete" else references(project, path, top)
        found += member_references(project, last) if new_name and "." in one.name else []
        for ref in found:
            files.setdefault(ref.source.path, []).append(new_name or last)
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
    digest = state.work.evidence.get("baseline")
    base = json.loads(runtime.blobs.get(digest)) if digest else {}
    outcomes: Mapping[str, str] = base.get("outcomes") or dict.fromkeys(base.get("passed_ids", ()), "passed")
    passed = {without_parameters(nodeid) for nodeid in base.get("passed_ids", ())}
    bad = {without_parameters(nodeid) for nodeid, outcome in outcomes.items() if outcome != "passed"}
    return passed - bad


def _seen(plan: RefactoringPlan) -> list[dict[str, object]]:
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


def _no_test(wanted: RefactoringRequest, name: str) -> str:
    if wanted.what == "delete":
        return (
            f"the project has no test that passes, so nothing would show what else breaks without {name}: give --tests"
        )
    last = wanted.new if wanted.what == "rename" and not wanted.parameter else name.rpartition(".")[2]
    return f"no test uses {name}: give an example of it, like {last}(1) -> 2, or --tests"


def given_tests(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    """The tests that need no model: rendered from examples, and those of the base that the tree changes; None = the file goes."""
    files: dict[str, bytes | None] = {path: text.encode() for path, text in rendered_suite(state).items()}
    return {**files, **changed_tests(state, runtime)}


def put_tests(state: RunState, runtime: Runtime) -> bool:
    """Write what RED needs no model for: the user's tests, else those of the examples; and tests that the tree changes.

    Returns:
        whether there is any.
    """
    files: dict[str, bytes | None] = dict(runtime.supplied)
    files = {**changed_tests(state, runtime), **files} if files else given_tests(state, runtime)
    put(runtime, files)
    return bool(files)


def carry_out(state: RunState, runtime: Runtime) -> None:
    """Write the product files of a mechanical change into the workspace; done twice it is the same."""
    put(runtime, changed_products(state, runtime))


def put(runtime: Runtime, files: Mapping[str, bytes | None]) -> None:
    """Write files into the workspace, and take away those that go (None)."""
    for path, data in files.items():
        file = runtime.worktree / path
        if data is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
