"""Where the work of a small request is: each function that it speaks of, found in the code map; measured, never guessed.

What stays open is put as one choice among real places: the model chooses, nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.stage import items, texts
from agentforge.pipeline.small_models.generation.supplied_tests import units_of_tests
from agentforge.pipeline.small_models.generation.units import oracle
from agentforge.pipeline.small_models.reading.bug_reports import report_facts
from agentforge.pipeline.small_models.reading.request_parser import (
    action_of_request,
    called,
    declared_names,
    named_calls,
    paths_of,
    words_of,
)
from agentforge.pipeline.small_models.reading.stateful_examples import (
    ClassSeen,
    Scene,
    classes_in,
    made_and_called,
    scene_values,
    scenes_of,
)
from agentforge.pipeline.small_models.reading.unverified_wishes import names_beside
from agentforge.pipeline.small_models.refactoring.requests import Mechanical, measured_change
from agentforge.verification.examples.plain_check import spellings
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import Symbol, outline_of

_MOST_FILES = 400
_MOST_CHOICES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMap:
    """The definitions of a project's own Python files at the base commit.

    Attributes:
        files: product files, in order.
        symbols: by file; classes, functions, methods, constants.
        modules: dotted name of each file, as the project's tests would import it.
        classes: those at the top of the files.
    """

    files: tuple[str, ...]
    symbols: Mapping[str, tuple[Symbol, ...]]
    modules: Mapping[str, str]
    classes: tuple[ClassSeen, ...] = ()

    def defining(self, name: str) -> list[Symbol]:
        """The definitions of a (dotted) name, in all files."""
        return [one for rows in self.symbols.values() for one in rows if one.qualified == name]

    def file_of_module(self, name: str) -> str:
        """The file that a module name or its last part stands for; "" none or several."""
        found = [file for file, module in self.modules.items() if module == name or module.rpartition(".")[2] == name]
        return found[0] if len(found) == 1 else ""


def measured_places(state: RunState, runtime: Runtime) -> Measured:
    """Find the functions that a request, its examples or its tests speak of.

    Returns:
        facts {units: [{name, file, kind, change, line, signature, module, calls}], options: [{place, shown}], problem}; a
        unit without a file, or no unit at all, is settled by a choice among the options.
    """
    plan = runtime.rig().plan
    if plan.language != "python" or plan.runner not in ("pytest", "unittest"):
        problem = (
            f"small models write Python tested by pytest or unittest; here it is {plan.runner} for {plan.language}"
        )
        return Measured(facts={"units": [], "options": [], "problem": problem})
    code = code_map(state, runtime)
    if action_of_request(state.brief.request) == "analyze":
        options = _options(code, state.brief.request, files=False)
        report = report_facts(state, runtime, code, options)
        return Measured(facts={"units": [], "options": options, "problem": "", "report": report})
    change = measured_change(state, runtime)
    if change.facts or change.problem:
        return Measured(facts=_mechanical_facts(change, state, code))
    functions = frozenset(one.name for found in code.symbols.values() for one in found if not one.parent)
    scenes = scenes_of(state.brief.request, code.classes, functions)
    rows = [_located(row, code, state.brief.request) for row in _wanted(state, runtime, code, scenes)]
    rows = list({str(row["name"]): row for row in rows}.values())
    problem = next((words for row in rows if (words := _needs_instance(row, code))), "")
    if problem:
        return Measured(facts={"units": [], "options": [], "problem": problem})
    undecided = not rows or any(not row["file"] for row in rows)
    options = _options(code, state.brief.request, files=bool(rows)) if undecided else []
    if rows and len(options) == 1:
        rows = [row if row["file"] else _placed(row, str(options[0]["place"]), code) for row in rows]
        options = []
    facts = {"units": rows, "options": options, "problem": "", "modules": dict(code.modules)}
    known = [one.qualified for found in code.symbols.values() for one in found if one.kind != "variable"]
    beside = names_beside(state.brief.request, units=[str(row["name"]) for row in rows], known=known)
    more = {"scenes": scene_values(scenes) if scenes else None, "beside": beside or None}
    return Measured(facts={**facts, **{name: value for name, value in more.items() if value}})


def _mechanical_facts(change: Mechanical, state: RunState, code: CodeMap) -> dict[str, object]:
    """What the tree changes as units: the first thing that is changed, and what the examples call beside it."""
    facts: dict[str, object] = {"units": [], "options": [], "problem": change.problem, "modules": dict(code.modules)}
    if change.problem:
        return {**facts, "choices": list(change.choices), "chosen": change.chosen}
    rows = [row for row in items(change.facts.get("symbols")) if not is_test_path(str(row.get("file")))]
    rows = rows or [
        {"name": module_of(path), "file": path, "kind": "module"} for path in texts(change.facts["modified"])
    ]
    first = next((row for row in rows if row.get("change") == "new"), rows[0])
    unit = {
        **_as_new({"name": first["name"]}, str(first["file"]), str(first["kind"]), code),
        "change": str(first.get("change") or "removed"),
        "line": next((row.get("line", 1) for row in items(change.facts.get("seen"))), 1),
    }
    calls = [(claim.call, *called(claim.call)) for claim in oracle(state)]
    beside = [_located(row, code, state.brief.request) for row in _by_calls(calls, code)]
    mine = {str(row["name"]) for row in rows}
    beside = [row for row in beside if row["file"] and row["change"] == "changed" and row["name"] not in mine]
    return {**facts, "units": [unit, *beside], "mechanical": change.facts, **_rest(change.rest)}


def _rest(text: str) -> dict[str, object]:
    """What a request says besides a change by the tree."""
    return {"rest": text} if text else {}


def code_map(state: RunState, runtime: Runtime) -> CodeMap:
    """Read the definitions of the base commit."""
    listed = runtime.git.list_files(state.identity.base_commit)
    files = tuple(path for path in listed if path.endswith(".py") and not is_test_path(path))[:_MOST_FILES]
    files = tuple(path for path in files if PurePosixPath(path).name not in ("setup.py", "conftest.py", "noxfile.py"))
    texts = {
        path: (runtime.git.show(state.identity.base_commit, path) or b"").decode("utf-8", "replace") for path in files
    }
    roots = runtime.rig().plan.roots
    return CodeMap(
        files=files,
        symbols={path: outline_of(path, text).symbols for path, text in texts.items()},
        modules={path: spellings(path, roots)[0] for path in files},
        classes=tuple(one for text in texts.values() if "class " in text for one in classes_in(text)),
    )


def _wanted(state: RunState, runtime: Runtime, code: CodeMap, scenes: Sequence[Scene]) -> list[dict[str, object]]:
    """What must be written or changed, by the strongest source that says so: examples, tests, the request's own words."""
    calls = [claim.call for claim in oracle(state, found=scenes)]
    if calls:
        return _by_calls([(call, *(made_and_called(call) or called(call))) for call in calls], code)
    if state.brief.tests:
        return units_of_tests(state, runtime, code)
    return _by_words(state.brief.request, code)


def _by_calls(calls: Iterable[tuple[str, str, str]], code: CodeMap) -> list[dict[str, object]]:
    """One unit for each thing that is called, with the calls of it."""
    found: dict[str, dict[str, object]] = {}
    for call, root, attribute in calls:
        if not root:
            continue
        module = code.file_of_module(root) if attribute and not code.defining(root) else ""
        name = attribute if module else f"{root}.{attribute}" if attribute else root
        row = found.setdefault(name, {"name": name, "file": module, "calls": []})
        row["calls"] = [*_texts(row["calls"]), call]
    return list(found.values())


def _by_words(request: str, code: CodeMap) -> list[dict[str, object]]:
    """The symbols that the request names word for word; what it calls and nobody defines is to be written."""
    words = words_of(request)

    spoken = [*declared_names(request), *(ast.unparse(node.func) for node in named_calls(request))]
    new = [name for name in spoken if not code.defining(name)]
    if new and action_of_request(request) == "create":
        return [{"name": new[0], "file": "", "calls": []}]
    known = [one for rows in code.symbols.values() for one in rows if one.kind in ("function", "method")]
    exact = [one for one in known if one.qualified in words] or [one for one in known if one.name in words]
    return [{"name": exact[0].qualified, "file": exact[0].path, "calls": []}] if len(exact) == 1 else []


def _located(row: Mapping[str, object], code: CodeMap, request: str) -> dict[str, object]:
    """A unit with its file, as far as code and request settle it."""
    name, file = str(row["name"]), str(row.get("file") or "")
    there = [one for one in code.defining(name) if not file or one.path == file]
    owner = name.rpartition(".")[0]
    owners = [one for one in code.defining(owner) if one.kind == "class"] if owner else []
    if len(there) > 1:
        there = [one for one in there if _spoken(one.path, code, request)] or there
    if len(there) == 1:
        return _as_found(row, there[0], code)
    if not there and len(owners) == 1:
        return _as_new(row, owners[0].path, "method", code)
    if there:
        return {**_as_found(row, there[0], code), "file": ""}
    if owner and not owners:  # a class that nobody has written yet is written as a whole
        row, name = {**row, "name": owner.partition(".")[0]}, owner.partition(".")[0]
    kind = "class" if owner or _is_class_name(name) else "function"
    return _as_new(row, file or _file_for(code, request), kind, code)


def _needs_instance(row: Mapping[str, object], code: CodeMap) -> str:
    """Why an example cannot be run: it calls a method without saying on what; "" when it can."""
    name = str(row["name"])
    if "." in name or row.get("change") != "new" or not row.get("calls"):
        return ""
    owners = [
        one.qualified for rows in code.symbols.values() for one in rows if one.kind == "method" and one.name == name
    ]
    if not owners:
        return ""
    owner = owners[0].rpartition(".")[0]
    return (
        f"{name} is a method of {owner}: an example has to say of which object, such as {owner}(...).{name}(...) -> ..."
    )


def _is_class_name(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def _as_found(row: Mapping[str, object], symbol: Symbol, code: CodeMap) -> dict[str, object]:
    return {
        "name": symbol.qualified,
        "file": symbol.path,
        "kind": "constant" if symbol.kind == "variable" else symbol.kind,
        "change": "changed",
        "line": symbol.line,
        "signature": symbol.signature,
        "module": code.modules.get(symbol.path, ""),
        "calls": row.get("calls", []),
    }


def _as_new(row: Mapping[str, object], file: str, kind: str, code: CodeMap) -> dict[str, object]:
    return {
        "name": str(row["name"]),
        "file": file,
        "kind": kind,
        "change": "new",
        "line": 0,
        "signature": "",
        "module": code.modules.get(file) or module_of(file),
        "calls": row.get("calls", []),
    }


def _placed(row: Mapping[str, object], file: str, code: CodeMap) -> dict[str, object]:
    return {**row, "file": file, "module": code.modules.get(file) or module_of(file)}


def module_of(file: str) -> str:
    """The dotted name of a file that does not exist yet, from the repository's top."""
    return file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _file_for(code: CodeMap, request: str) -> str:
    """The only file that a new function can belong to by what the request says; "" when it leaves that open."""
    named = [path for path in paths_of(request) if not is_test_path(path)]
    ours = [file for path in named for file in code.files if file == path or file.endswith(f"/{path}")]
    if len(set(ours)) == 1:
        return ours[0]
    if len(named) == 1 and not ours:
        return named[0]
    spoken = [file for file in code.files if _spoken(file, code, request)]
    return spoken[0] if len(spoken) == 1 else ""


def _spoken(file: str, code: CodeMap, request: str) -> bool:
    words, module = words_of(request), code.modules.get(file, "")
    return file in request or module in words or module.rpartition(".")[2] in words


def _options(code: CodeMap, request: str, *, files: bool) -> list[dict[str, object]]:
    """The places among which one is chosen, the likeliest first.

    Args:
        files: only a file is looked for, for something new.
    """
    ranked = sorted(code.files, key=lambda path: (-_closeness(path, code, request), path))
    if files:
        likely = [path for path in ranked if PurePosixPath(path).name != "__init__.py" or len(ranked) == 1]
        return [{"place": path, "shown": _names(code.symbols[path])} for path in likely[:_MOST_CHOICES]]
    rows: list[dict[str, object]] = [
        {"place": f"{one.path}::{one.qualified}", "shown": f"{one.signature}  {one.doc}".strip()}
        for path in ranked
        for one in code.symbols[path]
        if one.kind in ("function", "method")
    ]
    words = {word.lower() for word in words_of(request)}
    rows.sort(key=lambda row: -_overlap(str(row["place"]) + " " + str(row["shown"]), words))
    return rows[:_MOST_CHOICES]


def _closeness(path: str, code: CodeMap, request: str) -> int:
    words = {word.lower() for word in words_of(request)}
    return _overlap(" ".join([path, *(one.name for one in code.symbols[path])]), words)


def _overlap(text: str, words: set[str]) -> int:
    """How many words of the request stand in a text, also as parts of its names."""
    parts = {part.lower() for part in "".join(sign if sign.isalnum() else " " for sign in text).split()}
    return len({word for word in words if len(word) > 2 and (word in parts or word.rstrip("s") in parts)})


def _names(symbols: Sequence[Symbol]) -> str:
    return ", ".join(one.name for one in symbols if not one.parent)[:120]


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
