"""Finds how the tests of a Java project are run: by Maven, by Gradle, or by javac and JUnit's console launcher."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from agentforge.languages.language import ProjectFiles
from agentforge.testing.plan import TestPlan

_STEERING = ("build", "profiles", "modules", "packaging", "parent", "reporting")
LAUNCHER = "org.junit.platform.console.ConsoleLauncher"
_STANDALONE = "junit-platform-console-standalone"
_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_SYSTEM = Path("/usr/share/java")
_PARTS = (
    "junit-platform-console", "junit-platform-launcher", "junit-platform-engine", "junit-platform-commons",
    "junit-platform-reporting", "junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params", "junit-vintage-engine",
    "junit4", "hamcrest", "opentest4j", "opentest4j-reporting-events", "apiguardian-api", "picocli", "univocity-parsers",
)  # fmt: skip


def find_java(project: ProjectFiles) -> TestPlan | None:
    """Find the plan of a Java project by what it says of itself; None when there is no Java."""
    if project.holds("pom.xml"):
        return _tool_plan(project, "mvn", "detected: maven via pom.xml")
    configured = project.holds(*_GRADLE)
    if configured:
        return _gradle(project, configured)
    return _plain(project) if any(name.endswith(".java") for name in project.names) else None


def plan_of_java_words(project: ProjectFiles, words: Sequence[str]) -> TestPlan | None:
    """The plan of a command that starts Maven's or Gradle's tests; None for any other command."""
    program = PurePosixPath(words[0]).name if words else ""
    goals = {word for word in words[1:] if not word.startswith("-")}
    if program in ("mvn", "mvnw") and goals & {"test", "verify", "package", "install"}:
        plan = _tool_plan(project, "mvn", "")
    elif program in ("gradle", "gradlew") and any(
        goal.rpartition(":")[2] in ("test", "check", "build") for goal in goals
    ):
        plan = _tool_plan(project, words[0], "")
    else:
        return None
    program = "mvn" if program == "mvnw" else words[0]  # what the wrapper would download is not there offline
    return replace(plan, command=(program, *words[1:])) if plan.runner == "java" else plan


def is_java_test(path: str) -> bool:
    """Whether a repository path looks like a file of tests by the names that Maven and Gradle take."""
    stem, dot, suffix = PurePosixPath(path).name.partition(".")
    below = "src/test/" in path or path.startswith(("test/", "tests/")) or "/test/" in path
    return (
        bool(dot)
        and suffix in ("java", "kt", "groovy", "scala")
        and (below or stem.endswith(("Test", "Tests", "TestCase")))
    )


def pom_part(data: bytes) -> list[str]:
    """What of a pom.xml steers building and testing; dependencies, their versions and descriptions do not.

    Raises:
        ValueError: it is no XML that is read here.
    """
    from xml.etree import ElementTree

    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError("a pom.xml that declares entities")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as exc:
        raise ValueError(f"a pom.xml that is no XML: {exc}") from exc
    found = []
    for part in root:
        name = part.tag.rpartition("}")[2]
        if name == "properties":
            steering = [one for one in part if not one.tag.endswith((".version", "Version"))]
            found += [f"{one.tag.rpartition('}')[2]}={(one.text or '').strip()}" for one in steering]
        elif name in _STEERING:
            found.append(ElementTree.canonicalize(ElementTree.tostring(part), strip_text=True))
    return found


def class_path(plan: TestPlan) -> str:
    """The class path of a plan that starts JUnit's console launcher."""
    return plan.command[plan.command.index("-cp") + 1]


def _tool_plan(project: ProjectFiles, tool: str, source: str) -> TestPlan:
    """Run the tests by the build tool; without it, or without a JDK, say so."""
    program = tool if tool.startswith("./") else shutil.which(tool, path=project.environ.get("PATH")) and tool
    if not program or shutil.which("javac", path=project.environ.get("PATH")) is None:
        missing = "a JDK (javac)" if program else tool
        return TestPlan(
            runner="none",
            language="java",
            source=source,
            problems=(f"{missing} is not on PATH; install it",),
            **project.base,
        )
    return TestPlan(runner="java", command=(program, "test"), language="java", source=source, **project.base)


def _gradle(project: ProjectFiles, configured: str) -> TestPlan:
    """The project's own wrapper when what it starts has been downloaded, else the gradle of this machine."""
    home = Path(project.environ.get("GRADLE_USER_HOME") or Path(project.environ.get("HOME") or Path.home()) / ".gradle")
    wrapped = (
        "gradlew" in project.names and (home / "wrapper" / "dists").is_dir() and (project.repo / "gradlew").is_file()
    )
    return _tool_plan(project, "./gradlew" if wrapped else "gradle", f"detected: gradle via {configured}")


def _plain(project: ProjectFiles) -> TestPlan:
    """Java files without a build tool: jars of the repository, and JUnit from there or from this machine."""
    source = "detected: Java files without a build tool"
    own = [name for name in project.names if name.endswith(".jar")]
    junit = [] if any(_STANDALONE in name for name in own) else list(_launcher(project.environ))
    path = ":".join([*own, *junit])
    if shutil.which("javac", path=project.environ.get("PATH")) is None:
        return TestPlan(
            runner="none", language="java", source=source, problems=("a JDK (javac) is not on PATH",), **project.base
        )
    if _STANDALONE not in path and "junit-platform-console" not in path:
        told = f"put {_STANDALONE}.jar into lib/, or set [test] command to a command that writes JUnit XML"
        return TestPlan(
            runner="none", language="java", source=source, problems=(f"JUnit's console launcher was not found; {told}",),
            **project.base,
        )  # fmt: skip
    return TestPlan(
        runner="java", command=("java", "-cp", path, LAUNCHER), language="java",
        source=f"{source}; tests run by JUnit's console launcher", **project.base,
    )  # fmt: skip


def _launcher(environ: Mapping[str, str]) -> Iterator[str]:
    """JUnit's console launcher as Maven has downloaded it, else as the system's packages bring it."""
    home = Path(environ.get("HOME") or Path.home())
    found = sorted((home / ".m2/repository/org/junit/platform" / _STANDALONE).glob(f"*/{_STANDALONE}-*.jar"))
    if found:
        yield str(found[-1])
        return
    yield from (str(_SYSTEM / f"{part}.jar") for part in _PARTS if (_SYSTEM / f"{part}.jar").is_file())
