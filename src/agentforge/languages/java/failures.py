"""Reads what javac and a failing JUnit test say: where, and about which symbol.

Reads the JUnit reports of a Java build: which file and method each test case is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.languages.java.project import is_java_test
from agentforge.testing.junit_xml import JunitCase, read_cases
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure, Outcome, TestOutcome
from agentforge.workspace.code.symbols import parse_tree

_TEXT_LIMIT = 1500
_ERROR = re.compile(
    r"^(?:\[ERROR\] |e: )?(?:file://)?(?P<path>[^\s:\[\]][^:\[\]\n]*\.(?:java|kt))"
    r"(?::\[(?P<line>\d+)(?:,(?P<column>\d+))?\]|:(?P<colon>\d+)(?::\d+)?:?) (?:error: )?(?P<said>.*)$"
)
_SYMBOL = re.compile(r"^\s*symbol:\s+(?P<kind>class|method|variable|constructor|interface)\s+(?P<name>[\w$]+)")
_UNFIT = re.compile(
    r"^(?:method|constructor) ([\w$]+)(?: in \S+ [\w$.<>,]+)? cannot be applied"
    r"|^no suitable (?:method|constructor) found for ([\w$]+)"
)
_TYPES = re.compile(
    r"incompatible types|bad operand types|cannot be dereferenced|not an enclosing"
    r"|is abstract|does not override|unreported exception"
)
_PACKAGE = re.compile(r"^package ([\w.]+) does not exist")
_FRAME = re.compile(r"^\s*at (?:[\w.$-]*/)*(?P<method>[\w.$<>]+)\((?P<file>[\w$-]+\.\w+):(?P<line>\d+)\)", re.MULTILINE)
_ASSERTED = (
    "AssertionError",
    "AssertionFailedError",
    "ComparisonFailure",
    "MultipleFailuresError",
    "ArgumentsAreDifferent",
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")

Place = Callable[[str], str]
"""The repository path of the file that defines a class; "" when it is none of the project's."""


def compile_errors(
    output: str, *, root: str, tests: Sequence[str], line_of: Callable[[str, int], str]
) -> tuple[list[CollectionError], list[str]]:
    """Read what the compiler says of test files, as javac, Maven or Gradle prints it.

    Args:
        root: the repository as the compiler sees it.
        tests: repository paths of the test files that were compiled together.
        line_of: the text of a line of a repository path.
    Returns:
        An error for each thing that a test file lacks and one for every other test file, then the product files that do
        not compile.
    """
    told: dict[tuple[str, str], CollectionError] = {}
    broken: list[str] = []
    for path, line, said, names in _errors(output, root, line_of):
        failure = _compile_failure(path, line, said, names)
        if path in tests:
            told.setdefault((path, failure.text), CollectionError(id=path, failure=failure, text=failure.text))
        else:
            broken.append(path)
    errors = list(told.values())
    named = {one.id for one in errors}
    if errors:
        first = errors[0]
        errors += [CollectionError(id=one, failure=first.failure, text=first.text) for one in tests if one not in named]
    return errors, list(dict.fromkeys(broken))


def case_failure(case: JunitCase, *, test_file: str, place: Place) -> Failure:
    """Describe a test that failed, from its element in the report."""
    text = case.text or case.message
    kind = case.kind or _WORD.findall(text.partition(":")[0] or "Error")[-1]
    kind = kind.rpartition(".")[2].rpartition("$")[2]
    file, line = _innermost(text, place)
    asserted = kind in _ASSERTED or kind.endswith(("AssertionError", "AssertionFailedError"))
    if asserted and not file:
        file = test_file  # an expected exception that did not come has no frame of the project
    message = case.message or text.partition("\n")[0]
    return Failure(
        exc_type="AssertionError" if asserted else _known(kind), message=message[:MESSAGE_LIMIT], file=file, line=line,
        in_test=bool(file) and file == test_file, text=text[:_TEXT_LIMIT],
    )  # fmt: skip


def _known(kind: str) -> str:
    return "NotImplementedError" if kind == "UnsupportedOperationException" else kind


def _innermost(text: str, place: Place) -> tuple[str, int]:
    """The first frame of the project in a stack trace; that of the cause is not looked for."""
    for found in _FRAME.finditer(text.partition("\nCaused by:")[0]):
        path = place(found["method"].rpartition(".")[0])
        if path:
            return path, int(found["line"])
    return "", 0


def _errors(
    output: str, root: str, line_of: Callable[[str, int], str]
) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    """Path, line, message and the symbol of each error; Maven tells everything twice."""
    lines = output.replace(f"{root}/", "").splitlines()
    for number, text in enumerate(lines):
        found = _ERROR.match(text)
        if found is None or found["said"].startswith("warning:"):
            continue
        path, line, said = found["path"].removeprefix("./"), int(found["line"] or found["colon"]), found["said"]
        details = [one.removeprefix("[ERROR]") for one in lines[number + 1 : number + 6]]
        details = details[: _next_error(details)]
        symbol = next((match for one in details if (match := _SYMBOL.match(one))), None)
        if symbol is not None:
            yield path, line, f"{said}: {symbol['kind']} {symbol['name']}", (symbol["name"],)
        else:
            caret = next((one.index("^") for one in details if one.strip() == "^"), 0)
            yield (
                path,
                line,
                said,
                _pointed_at(line_of(path, line), int(found["column"] or 0) - 1 if found["column"] else caret),
            )


def _pointed_at(text: str, column: int) -> tuple[str, ...]:
    """The identifier that the compiler points at: the dot of a call stands before its name."""
    found = _WORD.search(text, max(0, column))
    return (found.group(),) if found is not None else ()


def _next_error(lines: Sequence[str]) -> int:
    return next((number for number, one in enumerate(lines) if _ERROR.match(one.strip())), len(lines))


def _compile_failure(path: str, line: int, said: str, names: tuple[str, ...]) -> Failure:
    kind, about = _about(said, names)
    return Failure(
        exc_type=kind, message=said[:MESSAGE_LIMIT], file=path, line=line, in_test=True, names=about,
        text=f"{path}:{line}: {said}"[:_TEXT_LIMIT],
    )  # fmt: skip


def _about(said: str, names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if said.startswith("cannot find symbol"):
        return ("ImportError" if ": class " in said else "AttributeError"), names
    unfit = _UNFIT.match(said)
    if unfit is not None:
        return "TypeError", tuple(one for one in unfit.groups() if one)
    package = _PACKAGE.match(said)
    if package is not None:
        return "ModuleNotFoundError", (package[1],)
    if _TYPES.search(said):
        return "TypeError", names
    unresolved = re.match(r"[Uu]nresolved reference:? '?([\w$]+)", said)  # Kotlin
    return ("ImportError", (unresolved[1],)) if unresolved is not None else ("SyntaxError", ())


def files_by_class(paths: Sequence[str]) -> Mapping[str, str]:
    """Every class name, as a suffix of its path would have it, to its file: `org.example.A` and `A` for `.../org/example/A.java`.

    A name that two files could mean is left out, unless it is a whole path below a source root.
    """
    found: dict[str, str] = {}
    doubtful: set[str] = set()
    for path in paths:
        parts = path.rpartition(".")[0].split("/")
        for start in range(len(parts)):
            name = ".".join(parts[start:])
            if name in found:
                doubtful.add(name)
            found[name] = path
    return {name: path for name, path in found.items() if name not in doubtful}


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
