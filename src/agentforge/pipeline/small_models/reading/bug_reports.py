"""A request for a report on the road of small models: answered by what the syntax trees say, or not without a person.

Nothing measures the words of a small model about code. So it is not asked: who calls a function, what it raises, where it
stands and what it takes is read from the files, each line with its place. Any other question, or one that names nothing of
the repository, goes to a person together with what can be said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import StageQuestion, items, texts
from agentforge.pipeline.small_models.generation.units import PLACE_QUESTION, place_by_person
from agentforge.pipeline.small_models.reading.request_parser import paths_of, words_of
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import Symbol

if TYPE_CHECKING:
    from agentforge.pipeline.small_models.generation.code_map import CodeMap

ENOUGH = "what is measured is enough"
_KINDS = (
    ("raises", re.compile(r"(?i)\b(?:rais(?:e|es|ed|ing)|exceptions?|throws?)\b")),
    ("calls", re.compile(r"(?i)\b(?:call(?:s|ed|ers?|ing)?|us(?:e|es|ed|ing|ages?)|references?|referenced)\b")),
    ("shape", re.compile(r"(?i)\b(?:signatures?|parameters?|arguments?|takes?|type hints?|annotations?)\b")),
    (
        "where",
        re.compile(r"(?i)\bwhere\b.*\b(?:defined|declared|implemented|lives?|stands?)\b|\bwhich (?:file|module)\b"),
    ),
)
_VERBS = frozenset(
    ("report", "change", "look", "tell", "list", "show", "find", "check", "explain", "call", "use", "name")
)
_MOST_FILES = 400
_MOST_TARGETS = 40
_MOST_FINDINGS = 60
_MOST_CALLERS = 30
_MOST_OPTIONS = 20
_AGREED = frozenset((ENOUGH, "enough", "yes", "ok", "all"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """A file of the base commit with its syntax tree."""

    path: str
    tree: ast.Module


def report_facts(
    state: RunState, runtime: Runtime, code: CodeMap, options: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """Everything that a report may say.

    Args:
        options: places among which a person chooses where the request names none.
    Returns:
        {kind, targets: [place], rows: {place: {line, findings}}}; kind is "" where no syntax tree answers the question.
    """
    kind = next((name for name, telling in _KINDS if telling.search(state.brief.request)), "")
    targets = _named(state.brief.request, code)
    places = [f"{one.path}::{one.qualified}" for one in targets] or [str(row["place"]) for row in options]
    known = {f"{one.path}::{one.qualified}": one for rows in code.symbols.values() for one in rows}
    sources = _sources(state, runtime)
    return {
        "kind": kind,
        "targets": [f"{one.path}::{one.qualified}" for one in targets],
        "rows": {
            place: {"line": known[place].line, "findings": _findings(known[place], kind, sources)}
            for place in places
            if place in known
        },
    }


def is_report(state: RunState) -> bool:
    """Whether the request asks for a report, and it is the trees that answer it."""
    return bool(_report(state))


def report_draft(state: RunState) -> dict[str, object]:
    """The report as an analysis: what was measured of the places that are spoken of."""
    rows = _rows(state)
    findings = list(dict.fromkeys(text for row in rows.values() for text in texts(row.get("findings"))))[
        :_MOST_FINDINGS
    ]
    files = list(dict.fromkeys(place.partition("::")[0] for place in rows))
    return {
        "summary": " ".join(findings)[:1900] or "Nothing of what was asked about was found.",
        "modules": [{"path": path} for path in files],
        "symbols": [
            {
                "name": place.partition("::")[2],
                "file": place.partition("::")[0],
                "line": row["line"],
                "role": "was asked about",
            }
            for place, row in rows.items()
        ],
        "impacted_files": files,
        "findings": findings,
        "conventions": [],
        "risks": [],
        "constraints": ["read from the syntax trees: a use by getattr, by a string or by another name is not seen"],
    }


def report_questions(state: RunState) -> tuple[StageQuestion, ...]:
    """What a person must say before the report is one: of which place, and that what can be measured is enough."""
    named = bool(texts(_report(state).get("targets")))
    options = tuple(str(row.get("place")) for row in items(state.work.facts["places"].get("options")))[:_MOST_OPTIONS]
    places: list[StageQuestion] = []
    if not named and options:
        told = _answers(state, PLACE_QUESTION)
        many = len(told) if place_by_person(state) else len(told) + 1
        text = "Which part of the code is the question about? Answer with one place of the list."
        reason = "the request names no function, class or file of the repository, and AgentForge does not let a small model guess"
        places = [
            StageQuestion(key=key, text=text, reason=reason, options=options, closed=True)
            for key in _keys(PLACE_QUESTION, many)
        ]
        if not place_by_person(state):
            return tuple(places)
    return (*places, *([] if _report(state).get("kind") else _is_it_enough(state)))


def _is_it_enough(state: RunState) -> list[StageQuestion]:
    told = "\n".join(f"  {text}" for row in _rows(state).values() for text in texts(row.get("findings")))[:1500]
    text = (
        "Is this the answer? Nobody can check what a small model says about code, so AgentForge reports only what it reads "
        f'from the code:\n{told}\nAnswer "{ENOUGH}", or abort and start again with a larger model '
        '(--model, [model] profile = "full").'
    )
    reason = "the syntax tree tells only who calls something, what it raises, where it is and what it takes"
    said = _answers(state, "report")
    agreed = any(text.strip().strip('."').lower() in _AGREED for text in said)
    return [
        StageQuestion(key=key, text=text, reason=reason, options=(ENOUGH,), closed=True)
        for key in _keys("report", len(said) if agreed else len(said) + 1)
    ]


def _answers(state: RunState, key: str) -> list[str]:
    """What a person said to the questions of a key, in the order in which they were asked."""
    return [
        item.resolution.text
        for item in state.people.escalations.values()
        if str(item.context.get("key")).partition(":")[0] == key and item.resolution is not None
    ]


def _keys(key: str, many: int) -> list[str]:
    return [key, *(f"{key}:{number}" for number in range(2, many + 1))][:many]


def _report(state: RunState) -> Mapping[str, object]:
    found = state.work.facts.get("places", {}).get("report")
    return found if isinstance(found, Mapping) else {}


def _rows(state: RunState) -> dict[str, Mapping[str, object]]:
    """What is told of each place that is spoken of; of all that can be chosen as long as nobody chose one."""
    rows = _report(state).get("rows")
    if not isinstance(rows, Mapping):
        return {}
    targets = _targets(state)
    return {place: row for place, row in rows.items() if place in targets or not targets}


def _targets(state: RunState) -> list[str]:
    chosen = place_by_person(state)
    return [chosen] if chosen else texts(_report(state).get("targets"))


def _named(request: str, code: CodeMap) -> list[Symbol]:
    """The definitions that a request names; all of a file where it names only that."""
    words = {
        word
        for word in words_of(request)
        if word.lower() not in _VERBS or f"`{word}`" in request or f"{word}(" in request
    }
    files = [
        file for file in code.files if any(file == path or file.endswith(f"/{path}") for path in paths_of(request))
    ]
    known = [one for file in (files or code.files) for one in code.symbols[file]]
    exact = [one for one in known if one.qualified in words and "." in one.qualified]
    found = exact or [one for one in known if one.name in words and not (one.parent and _is_plain(one.name, request))]
    return (found or [one for file in files for one in code.symbols[file] if one.kind in ("function", "method")])[
        :_MOST_TARGETS
    ]


def _is_plain(name: str, request: str) -> bool:
    """A word that may be only a word: a method of that name is meant where it is marked as code."""
    return (
        name.isalpha() and name.islower() and not re.search(rf"`[\w.]*{name}(?:\(\))?`|\.{name}\b|\b{name}\(", request)
    )


def _sources(state: RunState, runtime: Runtime) -> list[ReportSource]:
    out = []
    for path in [path for path in runtime.git.list_files(state.identity.base_commit) if path.endswith(".py")][
        :_MOST_FILES
    ]:
        text = (runtime.git.show(state.identity.base_commit, path) or b"").decode("utf-8", "replace")
        try:
            out.append(ReportSource(path=path, tree=ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):  # a file that Python cannot read calls nothing
            continue
    return out


def _findings(symbol: Symbol, kind: str, sources: Sequence[ReportSource]) -> list[str]:
    rows = [f"{symbol.qualified} is a {symbol.kind} at {symbol.path}:{symbol.line}."]
    if kind in ("shape", ""):
        rows += [f"{symbol.qualified}: {text}" for text in (symbol.signature, symbol.doc) if text]
    if kind in ("raises", ""):
        rows.append(_raising(symbol, sources))
    if kind in ("calls", ""):
        rows += _calling(symbol, sources)
    return [row for row in rows if row]


def _raising(symbol: Symbol, sources: Sequence[ReportSource]) -> str:
    node = next((found for one in sources if one.path == symbol.path if (found := _at(one.tree, symbol.line))), None)
    if node is None:
        return ""
    raised = [f"{_exception(one)} (line {one.lineno})" for one in _inside(node) if isinstance(one, ast.Raise)]
    return (
        f"{symbol.qualified} raises {', '.join(raised)}." if raised else f"{symbol.qualified} has no raise statement."
    )


def _exception(node: ast.Raise) -> str:
    if node.exc is None:
        return "again what it caught"
    return ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a definition, without the functions that it defines."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _inside(child)


def _at(tree: ast.Module, line: int) -> ast.AST | None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None


def _calling(symbol: Symbol, sources: Sequence[ReportSource]) -> list[str]:
    """Where it is called or otherwise used, code and tests apart."""
    found = [(one.path, row) for one in sources for row in _uses(one.tree, symbol)]
    found = [(path, row) for path, row in found if not (path == symbol.path and row.startswith(f"{symbol.line} "))]
    rows = []
    for label, ours in (("the code", False), ("tests", True)):
        places = [f"{path}:{row}" for path, row in found if is_test_path(path) is ours]
        more = f" and {len(places) - _MOST_CALLERS} more" if len(places) > _MOST_CALLERS else ""
        told = (
            f"is used in {label} at {', '.join(places[:_MOST_CALLERS])}{more}" if places else f"is not used in {label}"
        )
        rows.append(f"{symbol.qualified} {told}.")
    return rows


def _uses(tree: ast.Module, symbol: Symbol) -> Iterator[str]:
    """`LINE (in NAME, called)` for each use by name, also under the name that an import gives it."""
    names = {symbol.name} | {
        one.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.name == symbol.name and one.asname
    }
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    yield from _uses_below(tree, names, symbol, called, "the module")


def _uses_below(node: ast.AST, names: set[str], symbol: Symbol, called: set[int], owner: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else owner
        plain = (
            isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and not symbol.parent and child.id in names
        )
        dotted = isinstance(child, ast.Attribute) and child.attr == symbol.name
        if plain or dotted:
            how = "called" if id(child) in called else "named"
            yield f"{getattr(child, 'lineno', 0)} ({how} in {owner})"
        yield from _uses_below(child, names, symbol, called, inside)
