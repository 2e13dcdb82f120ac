"""Runs the tests of a Java project by Maven, Gradle or JUnit's console launcher, and reads the JUnit reports that these write."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from agentforge.languages.java.failures import compile_errors, outcomes_of, package_of, report_files
from agentforge.languages.java.project import class_path, is_java_test
from agentforge.languages.language import RunOptions
from agentforge.testing.launch import TestSandbox, borrowed, box
from agentforge.testing.outcome import Outcome, SuiteRun, file_of
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import Gathered, Planted, drawn_outcomes, judged, new_word
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.toolchain import JVM

_OUTPUT_LIMIT_BYTES = 64_000_000
_SUFFIXES = (".java", ".kt", ".groovy", ".scala")
_BUILT = frozenset({".git", "target", "build", "node_modules", ".gradle", "out", "bin"})
_PLANTED = "{package}public class {name} {{\n{tests}}}\n"
_FAILS = '    @{test} public void {name}() {{ throw new AssertionError("must fail"); }}\n'
_PASSES = "    @{test} public void {name}() {{}}\n"
_ANNOTATIONS = {
    "jupiter": "org.junit.jupiter.api.Test",
    "junit4": "org.junit.Test",
    "testng": "org.testng.annotations.Test",
}
_MAVEN = (
    "-o", "-B", "-Dstyle.color=never", "-DtrimStackTrace=false", "-Dmaven.test.failure.ignore=true", "-Dmaven.test.skip=false",
    "-DskipTests=false", "-Dsurefire.rerunFailingTestsCount=0", "-Dsurefire.skipAfterFailureCount=0",
    "-Dmaven.legacyLocalRepo=true",
)  # fmt: skip
_GRADLE = ("--offline", "--no-daemon", "--continue", "--console=plain")
_FAILING = ("There are test failures", "There were failing tests")
_CRASHED = (
    "The forked VM terminated",
    "There was a timeout or other error in the fork",
    "Process 'Gradle Test Executor",
)
_CHOSEN = re.compile(r"^(?:Test.*|.*(?:Test|Tests|TestCase))$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plant:
    """Planted tests below one root of tests: their file, and the folder where its module's reports will be."""

    path: str
    module: str


def run_java(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the suite; the console launcher and Maven's own names allow the named files alone.

    A seed orders the classes (Maven) or the classes' methods (console launcher). Gradle has no limit for the tests alone.

    Side effects: a class of planted tests stands in every root of tests while they run.
    """
    word = new_word().capitalize()
    drawn = {f"{word.lower()}{letter}": outcome for letter, outcome in drawn_outcomes().items()}
    sources = _sources(ground.checkout)
    planted = _plant(plan, ground.checkout, sources, word, drawn)
    for path in list(report_files(ground)):
        path.unlink()  # one that the repository brings
    try:
        with borrowed(plan, ground):
            built, done = _run(plan, ground, sources, planted, ask)
    finally:
        for one in planted:
            (ground.checkout / one.path).unlink(missing_ok=True)
    reports = list(report_files(ground))
    outcomes, problems = outcomes_of(reports, ground.checkout, [*sources, *(one.path for one in planted)])
    own = [one for one in sources if is_java_test(one)]
    errors, broken = compile_errors(built.text, root=str(ground.root), tests=own, line_of=_line_of(ground.checkout))
    problems += [f"{path} does not compile" for path in broken[:3]]
    problems += _ending(built, done, compiled=not errors and not broken, planted=planted)
    if not reports and not errors and not problems:
        problems.append("no report was written: a test ended the process, or the build runs no tests")
    expected: dict[str, Outcome] = {}
    for one in planted:
        if any(path.is_relative_to(ground.checkout / one.module) for path in reports) or (
            len(planted) == 1 and reports
        ):
            expected |= {
                f"{one.path}::{PurePosixPath(one.path).stem}::{name}": outcome for name, outcome in drawn.items()
            }
    gathered = Gathered(outcomes=outcomes, errors=errors, problems=problems, runner=_runner(plan))
    red = any(one.outcome in ("failed", "error") for one in outcomes) or bool(errors)
    ending = replace(done, exit_code=1 if red else done.exit_code)  # what the exit code says was judged above
    return judged(gathered, ending, plan=plan, planted=Planted(word=word, expected=expected), tests=ask.tests)


def _runner(plan: TestPlan) -> str:
    return "junit console launcher" if "-cp" in plan.command else PurePosixPath(plan.command[0]).name


def _sources(checkout: Path) -> list[str]:
    """Source files that are compiled for the JVM, in the order of their paths."""
    found = []
    for folder, inner, names in os.walk(checkout):
        inner[:] = sorted(name for name in inner if name not in _BUILT)
        relative = os.path.relpath(folder, checkout)
        found += [
            name if relative == "." else f"{relative}/{name}" for name in sorted(names) if name.endswith(_SUFFIXES)
        ]
    return found


def _plant(
    plan: TestPlan, checkout: Path, sources: Sequence[str], word: str, drawn: Mapping[str, Outcome]
) -> list[_Plant]:
    """Write a class of planted tests beside the first tests of every module."""
    planted = []
    for module, first in _first_tests(plan, sources).items():
        annotation = _ANNOTATIONS[_flavour(checkout, module, sources)]
        bodies = [
            (_PASSES if outcome == "passed" else _FAILS).format(test=annotation, name=name)
            for name, outcome in drawn.items()
        ]
        folder = PurePosixPath(first).parent
        path = str(folder / f"{word}Test.java")
        text = _PLANTED.format(package=package_of(checkout / first), name=f"{word}Test", tests="".join(bodies))
        (checkout / folder).mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text(text, "utf-8")
        planted.append(_Plant(path=path, module=module))
    return planted


def _first_tests(plan: TestPlan, sources: Sequence[str]) -> dict[str, str]:
    """Module folder -> the first file of its tests; where nothing has tests yet, the place of the first ones."""
    found: dict[str, str] = {}
    for path in sources:
        if path.endswith(".java") and is_java_test(path):
            module = path.partition("src/test/")[0] if "src/test/" in path and "-cp" not in plan.command else ""
            found.setdefault(module, path)
    return found or {"": "src/test/java/Any.java" if "-cp" not in plan.command else "test/Any.java"}


def _flavour(checkout: Path, module: str, sources: Sequence[str]) -> str:
    """The kind of JUnit that the tests of a module import; without tests, what its build file names."""
    tests = [one for one in sources if one.startswith(module) and is_java_test(one)]
    build = [f"{module}{name}" for name in ("pom.xml", "build.gradle", "build.gradle.kts")] + ["pom.xml"]
    for path in [*tests, *build]:
        text = (checkout / path).read_text("utf-8", "replace") if (checkout / path).is_file() else ""
        if "org.junit.jupiter" in text:
            return "jupiter"
        if "org.testng" in text:
            return "testng"
        if (
            "org.junit.Test" in text
            or "org.junit.*" in text
            or "junit.framework" in text
            or "<artifactId>junit</" in text
        ):
            return "junit4"
    return "jupiter"


def _run(
    plan: TestPlan, ground: TestSandbox, sources: Sequence[str], planted: Sequence[_Plant], ask: RunOptions
) -> tuple[Completed, Completed]:
    """What compiling printed, and how the tests ended; one and the same for a build tool."""
    if "-cp" in plan.command:
        return _console(plan, ground, [*sources, *(one.path for one in planted)], ask)
    if PurePosixPath(plan.command[0]).name == "mvn":
        done = _maven(plan, ground, planted, ask)
    else:
        done = _by_gradle(plan, ground, timeout_s=ask.timeout_s)
    return done, done


def _maven(plan: TestPlan, ground: TestSandbox, planted: Sequence[_Plant], ask: RunOptions) -> Completed:
    """Maven offline with the user's local repository, which it may only read."""
    local = _local_repository(plan, ground)
    argv = [*plan.command, *_MAVEN, *([f"-Dmaven.repo.local={local}"] if local is not None else [])]
    chosen = _named_alone(ground.checkout, ask.tests)
    if chosen:
        names = [*chosen, *(PurePosixPath(one.path).stem for one in planted)]
        argv += [f"-Dtest={','.join(names)}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"]
    if ask.seed is not None:
        argv += ["-Dsurefire.runOrder=random", f"-Dsurefire.runOrder.random.seed={ask.seed}"]
    if ask.tests_s:
        argv.append(f"-Dsurefire.timeout={math.ceil(ask.running.left_s)}")
    env = {"MAVEN_OPTS": _machine("MAVEN_OPTS", ground), **_jdk()}
    shown = (local,) if local is not None and local.is_dir() else ()
    space = box(plan, ground, env=env, read_only=shown)
    return ground.sandbox.run(argv, box=space, timeout_s=ask.timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES)


def _named_alone(checkout: Path, tests: Sequence[str]) -> list[str]:
    """Classes that Maven can run alone: all have a name that it takes by default, and no pom.xml chooses otherwise."""
    stems = sorted({PurePosixPath(file_of(one)).stem for one in tests})
    poms = [one.read_text("utf-8", "replace") for one in checkout.rglob("pom.xml")]
    own = any("<include>" in text or "<exclude>" in text or "<groups>" in text for text in poms)
    return stems if stems and not own and all(_CHOSEN.match(one) for one in stems) else []


def _local_repository(plan: TestPlan, ground: TestSandbox) -> Path | None:
    """Where Maven's downloads lie; None when the command, the project or MAVEN_OPTS says it."""
    config = ground.checkout / ".mvn" / "maven.config"
    told = [*plan.command, os.environ.get("MAVEN_OPTS", ""), config.read_text("utf-8") if config.is_file() else ""]
    if any("maven.repo.local" in one for one in told):
        return None
    home = Path(os.environ.get("HOME") or Path.home()) / ".m2"
    settings = home / "settings.xml"
    found = (
        re.search(r"<localRepository>([^<]+)</", settings.read_text("utf-8", "replace")) if settings.is_file() else None
    )
    return Path(found[1].strip().replace("${user.home}", str(home.parent))) if found else home / "repository"


def _by_gradle(plan: TestPlan, ground: TestSandbox, *, timeout_s: float) -> Completed:
    """Gradle offline, with what the user has downloaded as a read-only cache."""
    theirs = Path(os.environ.get("GRADLE_USER_HOME") or Path(os.environ.get("HOME") or Path.home()) / ".gradle")
    ours = ground.scratch / "gradle"
    ours.mkdir()
    if (theirs / "wrapper").is_dir():
        (ours / "wrapper").symlink_to(theirs / "wrapper")
    env = {
        "GRADLE_USER_HOME": str(ours),
        "GRADLE_OPTS": _machine("GRADLE_OPTS", ground),
        "GRADLE_RO_DEP_CACHE": str(theirs / "caches"),
        **_jdk(),
    }
    shown = tuple(one for one in (theirs / "caches" / "modules-2", theirs / "wrapper") if one.is_dir())
    argv = [*plan.command, *(one for one in _GRADLE if one not in plan.command)]
    space = box(plan, ground, env=env, read_only=shown)
    return ground.sandbox.run(argv, box=space, timeout_s=timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES)


def _console(
    plan: TestPlan, ground: TestSandbox, sources: Sequence[str], ask: RunOptions
) -> tuple[Completed, Completed]:
    """Compile everything in one box, run it in another where the classes are read-only."""
    classes, reports, listed = (ground.scratch / name for name in ("classes", "reports", "sources"))
    classes.mkdir()
    listed.write_text("\n".join(f'"{one}"' for one in sources if one.endswith(".java")), "utf-8")
    jars = class_path(plan)
    argv = ["javac", "-encoding", "UTF-8", "-Xmaxerrs", "1000", "-d", str(classes), "-cp", jars, f"@{listed}"]
    built = ground.sandbox.run(
        argv, box=box(plan, ground, env=_jdk()), timeout_s=ask.timeout_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES
    )
    if built.exit_code != 0:
        return built, built
    folders = [
        one for one in ("src/main/resources", "src/test/resources", "resources") if (ground.checkout / one).is_dir()
    ]
    words = [plan.command[0], *JVM, *plan.command[1:]]
    words[words.index("-cp") + 1] = ":".join([str(classes), *folders, jars])
    order = []
    if ask.seed is not None:
        random = "org.junit.jupiter.api.MethodOrderer$Random"
        order = ["--config", f"junit.jupiter.testmethod.order.default={random}"]
        order += ["--config", f"junit.jupiter.execution.order.random.seed={ask.seed}"]
    space = box(plan, ground, env=_jdk(), read_only=(classes,))
    options = ["--scan-classpath", str(classes), "--include-classname", ".*", "--reports-dir", str(reports)]
    argv = [*words, *options, "--details", "none", "--disable-banner", "--disable-ansi-colors", *order]
    limit_s = ask.running.left_s
    return built, ground.sandbox.run(argv, box=space, timeout_s=limit_s, output_limit_bytes=_OUTPUT_LIMIT_BYTES)


def _machine(name: str, ground: TestSandbox) -> str:
    """The user's options for the Java machine of a build tool, and those that a box asks for."""
    return " ".join([os.environ.get(name, ""), f"-Duser.home={ground.scratch / 'home'}", *JVM]).strip()


def _jdk() -> dict[str, str]:
    """The user's own JDK, and a locale in which any path can be named."""
    home = os.environ.get("JAVA_HOME", "")
    found = {"JAVA_HOME": home} if home and shutil.which("java", path=f"{home}/bin") else {}
    return {**found, "LC_ALL": "C.UTF-8"}  # names of files are told in the encoding of the locale


def _ending(built: Completed, done: Completed, *, compiled: bool, planted: Sequence[_Plant]) -> list[str]:
    """What the exit code and the tool's own words say against the run."""
    text = done.text
    crashed = next((line.strip() for line in text.splitlines() if any(mark in line for mark in _CRASHED)), "")
    if crashed and not any(mark in text for mark in _FAILING[1:]):
        return [f"a process of the tests ended early: {crashed[:200]}"]
    if done.omitted_bytes:
        return ["its tests printed too much to be read"]
    failed = any(mark in text for mark in _FAILING) or (built is not done and done.exit_code == 1)
    if done.exit_code != 0 and compiled and not failed and not done.timed_out:
        return [f"{_told(text)} (exit code {done.exit_code})"]
    return []


def _told(text: str) -> str:
    """What a build tool says of why it ended: Maven's first error, what Gradle says "went wrong", else the last words."""
    _, wrong, after = text.partition("* What went wrong:\n")
    errors = [line for line in text.splitlines() if line.startswith("[ERROR]")]
    told = after.partition("\n\n")[0] if wrong else errors[0] if errors else text[-300:]
    return " ".join(told.split())[:400]


def _line_of(checkout: Path) -> Callable[[str, int], str]:
    def line_of(path: str, line: int) -> str:
        file = checkout / path
        lines = file.read_text("utf-8", "replace").splitlines() if file.is_file() else []
        return lines[line - 1] if 0 < line <= len(lines) else ""

    return line_of
