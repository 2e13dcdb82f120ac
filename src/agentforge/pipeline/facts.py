"""Facts of the early stages, which need no test run: examples, evidence, places, paths. Measured on the base commit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from agentforge.events.state import RunState
from agentforge.pipeline.examples import stands_in
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.stage import Json, items, texts


def intake_facts(state: RunState, draft: Json) -> dict[str, object]:
    """Does every example stand in the request word for word?"""
    return {
        "examples": [{"text": text, "found": stands_in(text, state.request)} for text in texts(draft.get("examples"))]
    }


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
    content = runtime.git.show(state.base_commit, path) if _relative(path) else None
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
    present = frozenset(runtime.git.list_files(state.base_commit))
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
        "baseline": state.facts.get("baseline", {}),
    }


def spec_facts(state: RunState, draft: Json, runtime: Runtime) -> dict[str, object]:
    """Which of the named paths and symbols exist at the base commit? Do the examples stand in the criteria?"""
    present = frozenset(runtime.git.list_files(state.base_commit))
    named = [*texts(draft.get("files_to_modify")), *texts(draft.get("files_to_create"))]
    symbols = [
        {
            "name": item.get("name", ""),
            "file": item.get("file", ""),
            "change": item.get("change", ""),
            "exists": _holds(state, str(item.get("file", "")), str(item.get("name", "")), present, runtime),
        }
        for item in items(draft.get("symbols"))
    ]
    criteria = "\n".join(
        text for item in items(draft.get("requirements")) for text in texts(item.get("acceptance_criteria"))
    )
    examples = texts(state.artifacts.get("intake", {}).get("examples"))
    return {
        "existing": [path for path in named if path in present],
        "missing": [path for path in named if path not in present],
        "symbols": symbols,
        "examples": [{"text": text, "found": stands_in(text, criteria)} for text in examples],
        "dependency_cycle": [],
    }


def changed_lines(diff: str) -> dict[str, list[str]]:
    """Line ranges of the new files that a unified diff adds or changes: {path: ["12-18", "40"]}."""
    out: dict[str, list[str]] = {}
    path, line, start, end = "", 0, 0, -1
    for text in [*diff.splitlines(), "diff --git"]:
        added = text.startswith("+") and not text.startswith("+++ ")
        if not added and path and start:
            out.setdefault(path, []).append(str(start) if start == end else f"{start}-{end}")
            start = 0
        if text.startswith("+++ "):
            path = text[6:].split("\t")[0] if text[4:6] == "b/" else ""
        elif text.startswith("@@"):
            found = re.match(r"@@ -\S+ \+(\d+)", text)
            line = int(found[1]) if found else 0
        elif added:
            start, end = start or line, line
            line += 1
        elif not text.startswith(("-", "\\")):
            line += 1
    return out


def _holds(state: RunState, path: str, name: str, present: Iterable[str], runtime: Runtime) -> bool:
    """The file defines the symbol at the base commit; a language without a grammar is searched for the word."""
    from agentforge.workspace.symbols import language_of, outline_of

    content = runtime.git.show(state.base_commit, path) if path in present else None
    if content is None:
        return False
    text = content.decode("utf-8", "replace")
    wanted = name.split("(", maxsplit=1)[0].strip().replace("::", ".")
    known = outline_of(path, text) if language_of(path) else None
    if known is not None and not known.note:
        dotted = {symbol.qualified for symbol in known.symbols} | {symbol.name for symbol in known.symbols}
        return wanted in dotted
    last = re.escape(wanted.rsplit(".", 1)[-1])
    return bool(last) and re.search(rf"(?<!\w){last}(?!\w)", text) is not None


def _exists(path: str, present: frozenset[str]) -> bool:
    folder = f"{path.rstrip('/')}/"
    return path in present or any(item.startswith(folder) for item in present)


def _relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def _squeeze(text: str) -> str:
    return " ".join(text.split())
