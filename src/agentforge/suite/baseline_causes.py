"""Why tests of a suite do not run: the same cause is told once, with the files that it keeps away and what helps."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.python.plan import defines_tests, is_python_test
from agentforge.testing.outcome import CollectionError, Failure, SuiteRun, file_of
from agentforge.testing.plan import TestPlan
from agentforge.workspace.git.repository import Read

_NAMED, _TOLD = 3, 8
_FEW = 3
_PYTHON_MODULE = re.compile(r"No module named '?([\w.]+)'?")
_NODE_MODULE = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to (?:resolve import|load url)|resolve entry for package) ['\"]?([^'\"\s]+)"
)
_GO_MODULE = re.compile(r"(?:no required module provides package|cannot find module providing package) ([\w./-]+)")
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_UNREACHED = re.compile(
    r"Connection refused|ECONNREFUSED|Name or service not known|name resolution|EAI_AGAIN|ENOTFOUND|getaddrinfo|"
    r"Network is unreachable|ENETUNREACH|could not connect to server|nodename nor servname"
)
_DISPLAY = re.compile(r"couldn't connect to display|no display name|cannot open display|\$DISPLAY|Missing X server")
_FIXTURE_PLUGINS = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpx_mock": "pytest-httpx", "requests_mock": "requests-mock",
    "freezer": "pytest-freezer", "snapshot": "syrupy", "fs": "pyfakefs", "aiohttp_client": "pytest-aiohttp",
    "datadir": "pytest-datadir", "qtbot": "pytest-qt", "httpserver": "pytest-httpserver", "subtests": "pytest-subtests",
    "faker": "faker", "data_regression": "pytest-regressions", "anyio_backend": "anyio", "event_loop": "pytest-asyncio",
    "script_runner": "pytest-console-scripts",
}  # fmt: skip

_NOTHING_COLLECTED = "the command collects no test, although there are files that define tests"
_SAY_WHERE = "say where the tests are ([test] paths) or how they are run ([test] command) in .agentforge/config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason for which tests do not run.

    Attributes:
        text: the reason in words.
        about: the environment lacks something, or the repository itself is at fault.
        files: test files that cannot be loaded for it.
        tests: ids of tests that fail for it.
        remedy: what to do, with the command where there is one; "" when nobody can say.
    """

    text: str
    about: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    remedy: str = ""

    def value(self) -> dict[str, Any]:
        """The cause as facts: counts, and the first files and tests by name."""
        return {**asdict(self), "files": list(self.files[:_NAMED]), "tests": list(self.tests[:_NAMED]),
                "file_count": len(self.files), "test_count": len(self.tests)}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A cause while it is gathered."""

    about: str
    remedy: str
    files: dict[str, None] = field(default_factory=dict)
    tests: dict[str, None] = field(default_factory=dict)


def causes_of(run: SuiteRun, plan: TestPlan, *, present: Sequence[str], read: Read) -> tuple[Cause, ...]:
    """Group what keeps files from being loaded and tests from reaching what they need; the most frequent cause first.

    A test that fails by itself is no cause: it is listed as failing.

    Args:
        present: the paths of the repository at the tree that was run.
        read: reads one of them.
    """
    found: dict[str, _Seen] = {}
    unseen = () if run.collected or run.outcomes or run.collection_errors else _holding_tests(plan, present, read)
    if unseen:
        text, about, remedy = _of_nothing(run, plan, present, read)
        found[text] = _Seen(about=about, remedy=remedy, files=dict.fromkeys(unseen))
    for error in run.collection_errors:
        text, about, remedy = _of_error(error, plan, present, read)
        found.setdefault(text, _Seen(about=about, remedy=remedy)).files[error.id] = None
    for nodeid in run.failing_ids:
        failure = run.outcomes[nodeid].failure
        told = _of_test(failure, plan, present, read) if failure is not None else None
        if told is not None:
            found.setdefault(told[0], _Seen(about=told[1], remedy=told[2])).tests[nodeid] = None
    causes = [
        Cause(text=text, about=one.about, files=tuple(one.files), tests=tuple(one.tests), remedy=one.remedy)
        for text, one in found.items()
    ]
    return tuple(sorted(causes, key=lambda one: -len(one.files) - len(one.tests)))[:_TOLD]


def keeps_away(run: SuiteRun, causes: Sequence[Cause]) -> bool:
    """Whether so much of a suite does not run that what is left is no base line.

    At least half of the test files cannot be loaded, half of the tests miss something of their environment, or nothing at all is
    collected from files that hold tests. A few files that the repository itself breaks (tests that were written before their
    code) are no such case.
    """
    if causes and not run.outcomes and not run.collection_errors:
        return True
    blind = {one.id for one in run.collection_errors}
    seen = {file_of(nodeid) for nodeid in run.outcomes} - blind
    lacking = {file for one in causes if one.about == "environment" for file in one.files}
    if blind and len(blind) >= len(seen) and (len(blind) > _FEW or lacking):
        return True
    missing = sum(len(one.tests) for one in causes if one.about == "environment")
    return bool(run.outcomes) and missing * 2 >= len(run.outcomes)


def _holding_tests(plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, ...]:
    """The Python files that are named like tests and define some, in the order of the tree."""
    if plan.runner not in ("pytest", "unittest"):
        return ()
    return tuple(name for name in present if is_python_test(name) and defines_tests(read(name) or b""))


def _of_nothing(run: SuiteRun, plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, str, str]:
    """Why no test was seen at all: the process ended before it could look, or it looks somewhere else."""
    if run.complete or not run.problems:
        return _NOTHING_COLLECTED, "environment", _SAY_WHERE
    kind = "ModuleNotFoundError" if "ModuleNotFoundError" in run.problems[0] else ""
    told = _lacking(Failure(exc_type=kind, message=run.problems[0]), plan, present, read)
    return told or (run.problems[0][:400], "environment", "")


def _of_error(error: CollectionError, plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, str, str]:
    failure = error.failure or Failure(exc_type="", message=error.text)
    told = _lacking(failure, plan, present, read)
    if told is not None:
        return told
    first = next((line.strip() for line in failure.message.splitlines() if line.strip()), "it cannot be loaded")
    where = f" in {failure.file}" if failure.file and failure.file != error.id else ""
    return f"{failure.exc_type}: {first}{where}".removeprefix(": ")[:300], "repository", ""


def _of_test(failure: Failure, plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, str, str] | None:
    """What a test's environment lacks; None where it fails by itself."""
    if failure.exc_type == "AssertionError":
        return None
    told = _lacking(failure, plan, present, read)
    return told if told is not None and told[1] == "environment" else None


def _lacking(failure: Failure, plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, str, str] | None:
    """A module, a service, a display or a fixture that is not there: (in words, whose fault, what helps)."""
    message = failure.message
    if _UNREACHED.search(message):
        remedy = (
            "tests run without network: leave these out by a marker or by [test] command, or let the suite use "
            "what it starts itself"
        )
        return "a service or the network cannot be reached", "environment", remedy
    if _DISPLAY.search(message):
        remedy = "start the tests under a virtual display (xvfb-run) by [test] command, or leave these out"
        return "there is no display", "environment", remedy
    fixture = _FIXTURE.search(message) if failure.exc_type == "FixtureLookupError" else None
    if fixture and fixture[1] in _FIXTURE_PLUGINS:
        name = _FIXTURE_PLUGINS[fixture[1]]
        return (
            f"the pytest plugin {name} (fixture {fixture[1]}) is not installed",
            "environment",
            _pip(plan, name, read),
        )
    if plan.language == "python":
        module = _PYTHON_MODULE.search(message) if failure.exc_type in ("ModuleNotFoundError", "ImportError") else None
        return _python_module(module[1], plan, present, read) if module else None
    absent = _NODE_MODULE.search(message) if plan.language == "javascript" else None
    if absent:
        return _node_module(absent[1], plan, present)
    needed = _GO_MODULE.search(f"{message}\n{failure.text}") if plan.language == "go" else None
    if needed:
        return f"the Go module of {needed[1]} is not in the module cache", "environment", "run: go mod download"
    return None


def _python_module(name: str, plan: TestPlan, present: Sequence[str], read: Read) -> tuple[str, str, str] | None:
    top = name.partition(".")[0]
    python = shlex.quote(plan.interpreter or "python")
    own = any(
        part == top for path in present if path.endswith(".py") for part in PurePosixPath(path).with_suffix("").parts
    )
    if own:
        remedy = f"install the project, which may make it: {python} -m pip install -e ."
        return f"the project's own module {name} is missing", "environment" if "." in name else "repository", remedy
    return f"the module {name} is missing", "environment", _pip(plan, top, read)


def _node_module(said: str, plan: TestPlan, present: Sequence[str]) -> tuple[str, str, str]:
    if said.startswith((".", "/")):
        ignored = PurePosixPath(said.lstrip("./")).parts[:1]
        return f"the file {said} is missing (is it made by a build: {', '.join(ignored) or said}?)", "repository", (
            "if a build makes it, put the build into the test script of package.json, before the tests"
        )  # fmt: skip
    locks = {"pnpm-lock.yaml": "pnpm install", "yarn.lock": "yarn install", "bun.lock": "bun install"}
    command = next((command for name, command in locks.items() if name in present), "npm install")
    return f"the package {_package(said)} is missing", "environment", f"install the packages: {command}"


def _package(said: str) -> str:
    parts = said.split("/")
    return "/".join(parts[:2]) if said.startswith("@") else parts[0]


# -- where a project declares a package


def _pip(plan: TestPlan, module: str, read: Read) -> str:
    """The command that brings a module: by what declares it, else by its own name."""
    python = shlex.quote(plan.interpreter or "python")
    for where, packages in _declared(read):
        if any(_fits(module, package) for package in packages):
            return f"install what the project declares: {python} -m pip install {where}"
    return f"install it: {python} -m pip install {module}"


def _declared(read: Read) -> Iterator[tuple[str, list[str]]]:
    """Arguments of `pip install`, each with the names of the packages that it brings."""
    project = _toml(read("pyproject.toml"))
    table = project.get("project", {})
    yield "-e .", _names(table.get("dependencies"))
    for extra, needs in (table.get("optional-dependencies") or {}).items():
        yield f"-e '.[{extra}]'", _names(needs)
    for group, needs in (project.get("dependency-groups") or {}).items():
        yield f"--group {group}", _names(needs)
    for group in (project.get("tool", {}).get("poetry", {}).get("group") or {}).values():
        names = list(group.get("dependencies", {}))
        yield " ".join(names), names
    for name in ("test", "tests", "testing", "dev", "develop", "development"):
        for path in (
            f"requirements-{name}.txt", f"requirements_{name}.txt", f"{name}-requirements.txt", f"{name}_requirements.txt",
            f"{name}.requirements.txt", f"requirements/{name}.txt", f"requirements/requirements-{name}.txt",
        ):  # fmt: skip
            yield f"-r {path}", _names((read(path) or b"").decode("utf-8", "replace").splitlines())
    yield "-r requirements.txt", _names((read("requirements.txt") or b"").decode("utf-8", "replace").splitlines())


def _names(needs: object) -> list[str]:
    """The package names of requirements; other lines are passed over."""
    lines = needs if isinstance(needs, list) else []
    found = (re.match(r"[A-Za-z0-9][\w.-]*", one.strip()) for one in lines if isinstance(one, str))
    return [one[0] for one in found if one]


def _fits(module: str, package: str) -> bool:
    """Whether a package may bring a module: their names are the same but for signs and a usual prefix or suffix."""
    one, other = (re.sub(r"[-_.]", "", text.lower()) for text in (module, package))
    return other in (one, f"py{one}", f"python{one}", f"{one}python", f"{one}py", f"{one}s")


def _toml(data: bytes | None) -> Mapping[str, Any]:
    try:
        return tomllib.loads((data or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}
