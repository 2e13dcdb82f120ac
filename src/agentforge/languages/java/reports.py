"""Reads the JUnit reports of a Java build: which file and method each test case is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.languages.java.failures import case_failure, files_by_class
from agentforge.languages.java.project import is_java_test
from agentforge.testing.junit_xml import JunitCase, read_cases
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import Outcome, TestOutcome
from agentforge.workspace.code.symbols import parse_tree

_NAME = re.compile(r"^([\w$]+)(?:\([^)]*\)|\{[^}]*\})?(.*)$", re.DOTALL)


def report_files(ground: TestSandbox) -> Iterator[Path]:
    """The reports of a run: below `target/surefire-reports`, `build/test-results`, or the scratch folder."""
    for top in (ground.checkout, ground.scratch / "reports"):
        for folder, inner, names in os.walk(top):
            inner[:] = [name for name in inner if name not in (".git", "node_modules")]
            inside = top != ground.checkout or "surefire-reports" in folder or "test-results" in folder
            yield from (
                Path(folder) / name
                for name in sorted(names)
                if inside and name.startswith("TEST-") and name.endswith(".xml")
            )


def outcomes_of(reports: Sequence[Path], checkout: Path, sources: Sequence[str]) -> tuple[list[TestOutcome], list[str]]:
    """Every test case of every report by id; a report that cannot be read is a problem."""
    found: list[TestOutcome] = []
    problems: list[str] = []
    known: dict[str, Mapping[str, str]] = {}
    everywhere = _places(checkout, sources)
    for path in reports:
        module = _module_of(path, checkout)
        if module not in known:
            own = [one for one in sources if one.startswith(module)] if module else sources
            known[module] = {**everywhere, **_places(checkout, own)} if module else everywhere
        try:
            found += [_outcome(case, known[module]) for case in read_cases(path)]
        except ToolchainError as exc:
            problems.append(exc.message)
    return found, problems


def _module_of(report: Path, checkout: Path) -> str:
    """The folder whose build wrote a report, with a slash behind it; empty for the top."""
    if not report.is_relative_to(checkout):
        return ""
    parts = report.relative_to(checkout).parts
    end = next((number for number, one in enumerate(parts) if one in ("target", "build")), 0)
    return "/".join((*parts[:end], "")) if end else ""


def _places(checkout: Path, sources: Sequence[str]) -> dict[str, str]:
    return {**_inner_classes(checkout, sources), **files_by_class(sources)}


def _outcome(case: JunitCase, places: Mapping[str, str]) -> TestOutcome:
    file = _place(case.classname, places)
    owner = case.classname.rpartition(".")[2].replace("$", "::")
    name = _case_name(case, owner)
    parts = [one for one in (file or case.classname.rpartition(".")[0].replace(".", "/"), owner, name) if one]
    failure = None
    if case.outcome in ("failed", "error"):
        failure = case_failure(case, test_file=file, place=lambda owner: _place(owner, places))
    outcome: Outcome = "failed" if case.outcome == "error" else case.outcome
    return TestOutcome(id="::".join(parts), outcome=outcome, duration_s=case.duration_s, failure=failure)


def _case_name(case: JunitCase, owner: str) -> str:
    """`even[1]` for `even(int)[1]` and `even{int}[1]`; empty for what happened to the class as a whole."""
    if case.name in ("", case.classname, owner):
        return ""
    found = _NAME.match(case.name)
    if found is None:
        return case.name.removesuffix("()")
    rest = found[2].strip()
    return found[1] + (rest if not rest or rest.startswith("[") else f"[{rest}]")


def _place(owner: str, places: Mapping[str, str]) -> str:
    """The file of a class, or of the class around it."""
    while owner:
        if owner in places:
            return places[owner]
        owner = owner.rpartition("$")[0]
    return ""


def _inner_classes(checkout: Path, sources: Sequence[str]) -> dict[str, str]:
    """Further top-level classes of test files, which have no file of their name."""

    found: dict[str, str] = {}
    for path in sources:
        if not path.endswith(".java") or not is_java_test(path) or not (checkout / path).is_file():
            continue
        root = parse_tree((checkout / path).read_text("utf-8", "replace"), "java")
        package = package_of(checkout / path).removeprefix("package").strip().rstrip(";").strip()
        for node in root.children() if root is not None else ():
            name = node.field("name") if node.kind() == "class_declaration" else None
            if name is not None:
                found[f"{package}.{name.text()}" if package else name.text()] = path
    return found


def package_of(path: Path) -> str:
    """The package declaration of a file as it is written; empty for the default package or a file that is not there."""
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    found = re.search(r"^\s*package\s+[\w.]+\s*;?", text, re.MULTILINE)
    return f"{found.group().strip().rstrip(';')};\n" if found is not None else ""
