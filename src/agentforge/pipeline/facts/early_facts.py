"""Facts of the early stages, which need no test run: examples, evidence, places, paths. Measured on the base commit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from agentforge.events.state.run_state import RunState
from agentforge.languages.python.source import module_of
from agentforge.languages.symbols import symbols_of
from agentforge.languages.test_parts import may_hold_tests, without_tests
from agentforge.pipeline.engine.rulings import parts_of_examples
from agentforge.pipeline.facts.examples import is_kept, stands_in
from agentforge.pipeline.facts.held_out import split_facts
from agentforge.pipeline.facts.source_findings import defines, dotted, named_elsewhere, titled
from agentforge.pipeline.ledger.entries import ledger_rows
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.run_dependencies import specified
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import is_test_symbol, product_symbols
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.verification.stages.existing_tests import weakened
from agentforge.workspace.code.symbols import outline_of
from agentforge.workspace.files.patchformat import parse_patch


def intake_facts(state: RunState, draft: Json, *, disputed: bool = False) -> dict[str, object]:
    """Does every example stand in the request word for word? And which asks does the request consist of?

    The road of small models has no ledger: there a person says what is meant.

    Args:
        disputed: tell it of each part of the examples, too, for a human may overrule one of them.
    """
    named = texts(draft.get("examples"))
    named += parts_of_examples(named, state) if disputed else []
    found = [{"text": text, "found": stands_in(text, state.brief.request)} for text in named]
    return {"examples": found, **({"asks": ledger_rows(state.brief.request)} if profile_of(state).keeps_ledger else {})}


def clarify_facts(state: RunState, draft: Json, runtime: Runtime) -> dict[str, object]:
    """Does every piece of evidence stand in its file at the base commit?"""
    rows: list[dict[str, object]] = []
    for question in items(draft.get("questions")):
        if question.get("source") != "agent_inference":
            continue
        given = items(question.get("evidence"))
        if not given:
            rows.append(
                {"question": question.get("question"), "file": "", "ok": False, "reason": "no evidence was given"}
            )
        rows += [_evidence(state, question, piece, runtime) for piece in given]
    return {"evidence": rows}


def _evidence(state: RunState, question: Json, piece: Json, runtime: Runtime) -> dict[str, object]:
    path, snippet = str(piece.get("file", "")), str(piece.get("snippet", ""))
    content = runtime.git.show(state.identity.base_commit, path) if _relative(path) else None
    reason = ""
    if content is None:
        reason = "no such file at the base commit"
    elif not snippet.strip():
        reason = "no snippet was given"
    elif _squeeze(snippet) not in _squeeze(content.decode("utf-8", "replace")):
        reason = "the file does not hold this snippet"
    return {"question": question.get("question"), "file": path, "ok": not reason, "reason": reason}


def analyze_facts(state: RunState, draft: Json, runtime: Runtime) -> dict[str, object]:
    """Do the named files and symbols exist at the base commit?"""
    present = frozenset(runtime.git.list_files(state.identity.base_commit))
    named = [*texts(draft.get("impacted_files")), *(str(item.get("path", "")) for item in items(draft.get("modules")))]
    symbols = []
    for item in items(draft.get("symbols")):
        path, name = str(item.get("file", "")), str(item.get("name", ""))
        symbols.append(
            {"name": name, "file": path, "line": item.get("line"), "found": _holds(state, path, name, present, runtime)}
        )
    return {
        "paths": [{"path": path, "exists": _exists(path, present)} for path in dict.fromkeys(named) if path],
        "symbols": symbols,
        "baseline": state.work.facts.get("baseline", {}),
    }


def spec_facts(state: RunState, draft: Json, runtime: Runtime) -> dict[str, object]:
    """Which of the named paths and symbols exist at the base commit? Do the examples stand in the criteria?"""
    present = frozenset(runtime.git.list_files(state.identity.base_commit))
    named = [*texts(draft.get("files_to_modify")), *texts(draft.get("files_to_create"))]
    symbols = [
        {
            "name": item.get("name", ""),
            "file": item.get("file", ""),
            "change": item.get("change", ""),
            "is_test": is_test_symbol(str(item.get("file") or ""), str(item.get("name") or "")),
            "exists": _holds(
                state,
                str(item.get("file", "")),
                str(item.get("name", "")),
                present,
                runtime,
                exactly=item.get("change") == "new",
            ),
        }
        for item in items(draft.get("symbols"))
    ]
    criteria = [text for item in items(draft.get("requirements")) for text in texts(item.get("acceptance_criteria"))]
    examples = standing_examples(state, draft)
    return {
        "existing": [path for path in named if path in present],
        "missing": [path for path in named if path not in present],
        "symbols": symbols,
        "examples": [{"text": text, "found": is_kept(text, criteria)} for text in examples],
        "dependency_cycle": _circle(draft, state, runtime),
        "claims": split_facts(state, draft),
    }


def _circle(draft: Json, state: RunState, runtime: Runtime) -> list[str]:
    """The tasks that would wait for each other if this one waited for what its specification names; [] = none."""
    ways = (runtime.look(need, state).circle for need in specified(draft) if need.task_id)
    return next(([state.identity.run_id, *way] for way in ways if way), [])


def changed_lines(diff: str) -> dict[str, list[str]]:
    """Line ranges of the new files that a unified diff adds or changes: {path: ["12-18", "40"]}."""
    out: dict[str, list[str]] = {}
    for file in parse_patch(diff):
        moved = 0  # lines that the hunks so far have added to the file
        for hunk in file.hunks:
            old = hunk.start or 0
            first = old + moved + (0 if hunk.old else 1)  # without old lines the header names the line before
            moved += sum(1 for sign, _ in hunk.lines if sign == "+") - sum(1 for sign, _ in hunk.lines if sign == "-")
            if file.new:
                out.setdefault(file.new.removeprefix("b/"), []).extend(_ranges(hunk.lines, first=first))
    return {path: ranges for path, ranges in out.items() if ranges}


def _ranges(lines: Sequence[tuple[str, str]], *, first: int) -> list[str]:
    """Runs of added lines of one hunk whose new text begins at line `first`."""
    out, start, line = [], 0, first
    for sign in [*(sign for sign, _ in lines), ""]:
        if sign == "+":
            start = start or line
        elif start:
            out.append(str(start) if start == line - 1 else f"{start}-{line - 1}")
            start = 0
        line += sign in ("+", " ")
    return out


def symbols_unmet(spec: Json, tree: str, runtime: Runtime) -> list[dict[str, object]]:
    """Symbols that the specification declares new and that are not there, or removed and that still are, in a tree.

    Constants, and files in languages without a grammar, are not looked at.
    """
    unmet: list[dict[str, object]] = []
    for item in product_symbols(spec):
        change, path, name = item.get("change"), str(item.get("file", "")), str(item.get("name", ""))
        content = runtime.git.show(tree, path)
        content = without_tests(path, content) if content is not None and may_hold_tests(path) else content
        gone = change == "removed"  # a local variable of the same name is another thing
        there = defines(path, name, content, exactly=gone, inside=not gone) if content is not None else False
        if there is False and content is not None and change == "new":
            there = _named_inside(path, name, content) or _named(path, name, content)
        if there is False and content is not None and change == "new" and path.endswith(".py"):
            there = name in _imported(content)
        if gone and there:
            unmet.append({"name": name, "path": path, "reason": f"{name} is declared removed and is still there"})
        if change == "new" and there is False and item.get("kind") in ("function", "method", "class"):
            unmet.append({"name": name, "path": path, "reason": f"{name} is declared new and is not there"})
        elif change != "removed" and path.endswith(".py"):
            unmet += _given_up(item, content)
    return unmet


def _named(path: str, name: str, content: bytes) -> bool:
    """Whether a file of a language other than Python names what no outline shows: a value, what a macro or a call makes."""
    last = re.escape(name.rpartition(".")[2])
    return (
        not path.endswith(".py")
        and re.search(rf"(?<![\w-]){last}(?![\w-])", content.decode("utf-8", "replace")) is not None
    )


def _named_inside(path: str, name: str, content: bytes) -> bool:
    """Whether a member stands in what owns it, as methods of Go's interfaces and fields do, which no outline has."""
    owner, _, last = dotted(name).rpartition(".")
    text = content.decode("utf-8", "replace")
    own = [one for one in outline_of(path, text).symbols if one.qualified == owner] if owner else []
    lines = text.split("\n")
    inside = "\n".join("\n".join(lines[one.line - 1 : one.end_line]) for one in own)
    return re.search(rf"(?<!\w){re.escape(last)}(?!\w)", inside) is not None


def _holds(
    state: RunState, path: str, name: str, present: Iterable[str], runtime: Runtime, *, exactly: bool = False
) -> bool:
    """Whether the file defines the symbol at the base commit, or at least holds its word: a local name, a label, a heading.

    Args:
        exactly: the word alone is enough only where the language cannot be read.
    """
    content = runtime.git.show(state.identity.base_commit, path) if path in present else None
    if content is None:
        return False
    if not exactly and titled(path, name, content.decode("utf-8", "replace")):
        return True
    known = defines(path, name, content, exactly=exactly)

    def read(one: str) -> str | None:
        return (runtime.git.show(state.identity.base_commit, one) or b"").decode("utf-8", "replace")

    known = known or (named_elsewhere(path, name, files=present, read=read) or known)
    if known or (exactly and known is not None):
        return bool(known)
    last = re.escape(dotted(name).rsplit(".", 1)[-1])
    return bool(last) and re.search(rf"(?<!\w){last}(?!\w)", content.decode("utf-8", "replace")) is not None


def _given_up(item: Json, content: bytes | None) -> list[dict[str, object]]:
    found = [(symbol, weakened(symbol, content)) for symbol in symbols_of([item])]
    return [{"name": one.name, "path": one.file, "reason": f"{one.name} {text}"} for one, text in found if text]


def _imported(content: bytes) -> set[str]:
    """Names that a Python module makes its own by importing them at its top level."""
    aliases = [
        one for node in module_of(content).body if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names
    ]
    return {one.asname or one.name for one in aliases}


def _exists(path: str, present: frozenset[str]) -> bool:
    folder = f"{path.rstrip('/')}/"
    return path in present or any(item.startswith(folder) for item in present)


def _relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def _squeeze(text: str) -> str:
    return " ".join(text.split())
