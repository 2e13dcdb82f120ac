"""What a change is, file by file, measured; and what is measured of one that leaves everything that runs as it was.

The request's words decide nothing here: documents, types and settings are told from code by comparing the two trees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, texts
from agentforge.verification.examples.plain_check import Probe, evaluate, spellings
from agentforge.verification.inert.classification import Inertness, inertness
from agentforge.verification.roads.examples import look_at_examples
from agentforge.verification.roads.references import Library, is_document, new_dangling
from agentforge.verification.roads.settings import build_metadata, unreadable
from agentforge.workspace.code.relevance import is_test_path

_TYPE_CHECKERS = ("mypy", "pyright", "ty", "tsc")
_LISTED = 20
_DOCUMENTS_MOST = 3_000


@dataclass(slots=True)
class RouteFound:
    """What was measured on a road: sentences, faults {path, line, text}, and what a reviewer should know."""

    measured: list[str] = field(default_factory=list)
    problems: list[dict[str, object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fault(self, path: str, line: int, why: str) -> None:
        """Take down what refuses the change."""
        self.problems.append({"path": path, "line": line, "text": why})


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteContext:
    """What is looked at."""

    runtime: Runtime
    base: str
    tree: str
    files: Inertness

    def of(self, kind: str) -> list[str]:
        """The changed files of one kind that are there."""
        read = self.runtime.rig().read(self.tree)
        return [path for path, one in self.files.files.items() if one == kind and read(path) is not None]


def road_facts(
    state: RunState, runtime: Runtime, facts: Json, *, tree: str, own: list[str]
) -> tuple[Inertness, dict[str, object]]:
    """Tell what was changed in each file; of a change that runs as before, measure what it says.

    Args:
        facts: of GREEN so far; nothing more is measured of a tree that is refused by its tests.
        own: files of the accepted suite, which do not count.
    Returns:
        the comparison, and {road: {words, files: {path: kind}, measured: [text], problems: [{path, line, text}], notes}}; kinds
        are documentation, types, configuration, code, tests.
    """
    base, read = state.work.trees["baseline"], runtime.rig().read
    changed = [one for one in runtime.git.changed(base, tree) if one.path not in own]
    listed = runtime.git.list_files(tree)
    found = inertness(changed, before=read(base), after=read(tree), files=listed, mentions=_mentions(runtime, tree))
    kinds = {one.path: _kind(one.path, found) for one in changed}
    road: dict[str, object] = {"words": "", "files": kinds}
    passing = bool(facts.get("all_tests_pass") and facts.get("no_regressions"))
    if found.kinds and not found.differences and passing:
        ground = RouteContext(runtime=runtime, base=base, tree=tree, files=found)
        told = RouteFound()
        for look in (_documents, _examples, _types, _settings):
            look(ground, facts, told)
        if facts.get("tests_run"):
            told.measured.append(f"the {facts['tests_run']} tests of the suite are collected and pass as before")
        road |= {
            "words": found.words,
            "measured": told.measured,
            "problems": told.problems[:_LISTED],
            "notes": told.notes[:_LISTED],
        }
    return found, {"road": road}


def road_lines(facts: Json) -> list[str]:
    """What was measured of documents, types and settings, for the report."""
    road = facts.get("road")
    if not isinstance(road, dict) or not road.get("words"):
        return []
    return [f"{road['words']}: nothing that runs was changed", *texts(road.get("measured"))]


def road_notes(facts: Json) -> list[str]:
    """What was found on the road and refuses nothing."""
    road = facts.get("road")
    return texts(road.get("notes")) if isinstance(road, dict) else []


def file_kinds(facts: Json) -> dict[str, str]:
    """What was changed in each file: documentation, types, configuration, code or tests; nothing in older logs."""
    road = facts.get("road")
    kinds = road.get("files") if isinstance(road, dict) else None
    return {str(path): str(kind) for path, kind in kinds.items()} if isinstance(kinds, dict) else {}


def _kind(path: str, found: Inertness) -> str:
    return found.files.get(path) or ("tests" if is_test_path(path) else "code")


def _documents(ground: RouteContext, _facts: Json, told: RouteFound) -> None:
    """Links and headings: of the changed documents, and of all others that lead to them."""
    git, read = ground.runtime.git, ground.runtime.rig().read
    listed = {one: git.list_files(one) for one in (ground.base, ground.tree)}
    if "documentation" not in ground.files.kinds or max(map(len, listed.values())) > 20 * _DOCUMENTS_MOST:
        return
    before, after = (Library(read(one), listed[one]) for one in (ground.base, ground.tree))
    if len(after.documents) > _DOCUMENTS_MOST:
        told.notes.append(f"links were not looked at: there are {len(after.documents)} documents")
        return
    moved = frozenset(one.path for one in git.changed(ground.base, ground.tree))
    wrong, usual = new_dangling(before, after, lambda path: path in moved)
    for one in wrong:
        told.fault(one.reference.path, one.reference.line, one.why)
    told.notes += [
        f"{one.reference.path}:{one.reference.line} {one.why}; others beside it lead nowhere at the base either"
        for one in usual
    ]
    count = sum(after.count(path) for path in ground.of("documentation") if path in after.documents)
    if count and not wrong:
        told.measured.append(f"all relative links of the changed documents lead somewhere ({count})")


def _examples(ground: RouteContext, _facts: Json, told: RouteFound) -> None:
    """Examples with results (`>>>`) in changed documents and docstrings, run in a plain process."""
    rig = ground.runtime.rig()
    paths = [
        one
        for one in ground.files.files
        if (is_document(one) or one.endswith(".py")) and ground.files.files[one] != "configuration"
    ]
    if rig.plan.language != "python" or not rig.plan.interpreter or not paths:
        return
    looked = look_at_examples(rig, base_tree=ground.base, tree=ground.tree, paths=paths)
    for one in looked.wrong:
        told.fault(one.path, one.line, one.why)
    told.notes += [f"{one.path}:{one.line} could not be borne out: {one.why}" for one in looked.aside]
    told.notes += [f"examples were not run: {looked.unrun}"] if looked.unrun else []
    right = looked.run - len(looked.wrong) - len(looked.aside)
    if right and not looked.wrong:
        told.measured.append(f"all examples of changed documents and docstrings give what they say ({right})")


def _types(ground: RouteContext, facts: Json, told: RouteFound) -> None:
    """The project's own type checkers have been run by the checks; here it is told which, and whether the files load."""
    changed = ground.of("types")
    if not changed:
        return
    report = facts.get("conformance")
    ran = texts(report.get("ran")) if isinstance(report, dict) else []
    checkers = [one for one in _TYPE_CHECKERS if one in ran]
    if checkers:
        told.measured.append(f"{' and '.join(checkers)} found nothing new")
    else:
        told.notes.append("no type checker of the project looked at the types")
    loaded = list(_loaded(ground, [one for one in changed if one.endswith(".py")], told))
    if loaded:
        told.measured.append(f"all changed modules can be imported as before ({len(loaded)})")


def _loaded(ground: RouteContext, paths: Sequence[str], told: RouteFound) -> Iterator[str]:
    """The modules that can be imported in a plain process; one that could be at the base and cannot any more is a fault."""
    rig = ground.runtime.rig()
    modules = [one for one in paths if not is_test_path(one)]
    if not modules or not rig.plan.interpreter:
        return
    groups = [[Probe(source="None", names={"module": (spellings(one, rig.plan.roots), "")})] for one in modules]
    now = [one[0] for one in evaluate(rig, ground.tree, groups)]
    failing = [place for place, one in enumerate(now) if one.raised or one.lost]
    before = (
        dict(zip(failing, evaluate(rig, ground.base, [groups[one] for one in failing]), strict=True)) if failing else {}
    )
    for place, path in enumerate(modules):
        if place not in before:
            yield path
        elif not (before[place][0].raised or before[place][0].lost):
            raised = now[place].raised[0][0] if now[place].raised else "ModuleNotFoundError"
            told.fault(path, 0, f"cannot be imported any more: {raised}: {now[place].message[:120]}")


def _settings(ground: RouteContext, _facts: Json, told: RouteFound) -> None:
    """Files of settings can be read by their form, and the build says of the project what it said."""
    paths = ground.of("configuration")
    if not paths:
        return
    rig = ground.runtime.rig()
    looked, wrong = unreadable(paths, before=rig.read(ground.base), after=rig.read(ground.tree))
    for one in wrong:
        told.fault(one.path, one.line, one.why)
    if looked:
        told.measured.append(f"{', '.join(looked[:5])} can be read")
    if "pyproject.toml" not in paths or rig.plan.language != "python" or not rig.plan.interpreter or wrong:
        return
    found = build_metadata(rig, base_tree=ground.base, tree=ground.tree)
    if found.lost:
        told.fault("pyproject.toml", 0, f"the build says nothing of the project any more: {found.lost}")
    elif found.unread:
        told.notes.append(f"what the build says of the project was not compared: {found.unread}")
    else:
        fields = f"but for {', '.join(found.changed[:8])}" if found.changed else "word for word"
        told.measured.append(f"the build says of the project what it said before, {fields}")


def _mentions(runtime: Runtime, tree: str) -> Callable[[str], list[str]]:
    def mentions(word: str) -> list[str]:
        done = runtime.git.command.run("grep", "-l", "-z", "-I", "-F", "-e", word, tree, "--")
        found = os.fsdecode(done.output).split("\0")
        return [one.removeprefix(f"{tree}:") for one in found if one]

    return mentions
