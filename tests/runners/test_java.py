"""Java: detection by what the project says, JUnit reports by test, compile errors as reasons, planted tests, no forged peace."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.languages.catalogue import named_tests
from agentforge.languages.java.failures import compile_errors, files_by_class
from agentforge.languages.java.project import pom_part
from agentforge.suite.detection import detect
from agentforge.verification.source.runner_configuration import steering_changes
from tests.support.toolchains import need

_JUPITER = Path("/usr/share/java/junit-platform-console.jar")
_needs_junit = pytest.mark.skipif(not _JUPITER.is_file(), reason="JUnit's console launcher is not installed")
_REPOSITORY = Path("/usr/share/maven-repo")
_needs_maven = pytest.mark.skipif(
    not (_REPOSITORY / "org/apache/maven/plugins/maven-surefire-plugin").is_dir(),
    reason="maven's offline plugins are not installed",
)
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>textkit</artifactId><version>1.0</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>
<scope>test</scope></dependency></dependencies></project>
"""
_PRODUCT = 'package org.example;\npublic class Textkit {\n  public static String shout(String text) { return text.toUpperCase() + "!"; }\n}\n'
_ODD = """package org.example;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;
class OddTest {
  @Test void one() { assertEquals("A?", Textkit.shout("a")); }
  @Test void boom() { throw new IllegalStateException("x"); }
  @Disabled("later") @Test void off() {}
  @ParameterizedTest(name = "{0} [is] odd::x") @ValueSource(strings = {"a]b", "c<&"}) void odd(String n) { assertEquals("a]b", n); }
  @Nested class Inner { @DisplayName("nice name") @Test void deep() { assertThrows(Error.class, () -> {}); } }
}
class SecondTest { @Test void inTheSameFile() {} }
"""


@pytest.fixture
def plain(project):
    """A Java project without a build tool."""
    return project({"src/org/example/Textkit.java": _PRODUCT, "test/org/example/OddTest.java": _ODD}, env={})


@pytest.mark.needs("javac")
@_needs_junit
def test_reports_are_read_by_test_and_a_skip_is_no_pass(plain):
    run = plain.run()
    path = "test/org/example/OddTest.java::"
    told = {name.removeprefix(path): one.outcome for name, one in run.outcomes.items()}
    assert told == {
        "OddTest::one": "failed", "OddTest::boom": "failed", "OddTest::off": "skipped", "OddTest::odd[1]": "passed",
        "OddTest::odd[2]": "failed", "OddTest::Inner::deep": "failed", "SecondTest::inTheSameFile": "passed",
    }  # fmt: skip
    assert (run.complete, run.canary, run.problems) == (True, "held", ())
    one, boom = (run.outcomes[f"{path}OddTest::{name}"].failure for name in ("one", "boom"))
    assert (one.exc_type, one.in_test, one.line) == ("AssertionError", True, 7)
    assert (boom.exc_type, boom.file) == ("IllegalStateException", path[:-2])
    assert run.outcomes[f"{path}OddTest::Inner::deep"].failure.in_test


@pytest.mark.needs("javac")
@_needs_junit
def test_a_test_that_ends_the_process_is_no_evidence(project):
    quits = _ODD.replace('throw new IllegalStateException("x");', "System.exit(0);")
    run = project({"src/org/example/Textkit.java": _PRODUCT, "test/org/example/OddTest.java": quits}, env={}).run()
    assert not run.complete and run.problems


@pytest.mark.needs("javac")
@_needs_junit
def test_what_does_not_compile_is_told_with_its_symbol(plain):
    missing = _ODD.replace("OddTest", "NewTest").replace("SecondTest", "ThirdTest").replace('shout("a")', 'slug("a")')
    plain.tree({"test/org/example/NewTest.java": missing})
    run = plain.run()
    told = {error.id: (error.failure.exc_type, error.failure.names) for error in run.collection_errors}
    assert told["test/org/example/NewTest.java"] == ("AttributeError", ("slug",))
    assert "test/org/example/OddTest.java" in told and not run.outcomes


@pytest.mark.chaos  # Maven takes its time
@pytest.mark.needs("mvn")
@_needs_maven
def test_maven_runs_offline_and_its_reports_are_read(project):
    test = 'package org.example;\nimport static org.junit.Assert.*;\nimport org.junit.*;\npublic class ShoutTest {{\n  @Test public void {0}() {{ assertEquals("A!", Textkit.{0}("a")); }}\n}}\n'
    made = project(
        {"pom.xml": _POM, ".mvn/maven.config": f"-Dmaven.repo.local={_REPOSITORY}\n", "src/main/java/org/example/Textkit.java": _PRODUCT,
         "src/test/java/org/example/ShoutTest.java": test.format("shout")}, env={},
    )  # fmt: skip
    run = made.run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "src/test/java/org/example/ShoutTest.java::ShoutTest::shout": "passed"
    }
    assert (run.complete, run.canary, run.runner) == (True, "held", "mvn"), run.problems


def test_every_way_of_building_is_detected_by_its_own_file(tmp_path):
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in ("mvn", "gradle", "javac"):
        (bin_folder / name).write_text("#!/bin/sh\n")
        (bin_folder / name).chmod(0o755)
    environ = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for file, command in (("pom.xml", ("mvn", "test")), ("build.gradle.kts", ("gradle", "test"))):
        repo = tmp_path / file.partition(".")[0]
        repo.mkdir()
        (repo / file).write_text("x")
        (repo / "package.json").write_text("{}")  # for a formatter: no tests of JavaScript stand here
        plan = detect(repo, settings={}, environ=environ)
        assert (plan.runner, plan.command, plan.language) == ("java", command, "java")
    asked = detect(tmp_path, settings={"command": "mvn -Pfast verify"}, environ=environ)
    assert (asked.runner, asked.command) == ("java", ("mvn", "-Pfast", "verify"))
    (bin_folder / "javac").unlink()
    bare = detect(tmp_path / "pom", settings={}, environ={**environ, "PATH": str(bin_folder)})
    assert bare.runner == "none" and "JDK" in bare.problems[0]


def test_javac_maven_and_gradle_say_the_same_thing_in_other_words():
    spoken = (
        "src/test/java/ATest.java:6: error: cannot find symbol\n  Textkit.slug(1);\n         ^\n  symbol:   method slug(int)\n  location: class T\n",
        "[ERROR] /r/src/test/java/ATest.java:[6,60] cannot find symbol\n  symbol:   method slug(java.lang.String)\n  location: class T\n",
        "/r/src/test/java/ATest.java:6: error: method slug in class Textkit cannot be applied to given types;\n",
        "/r/src/test/java/ATest.java:6: error: incompatible types: String cannot be converted to int\n  Textkit.slug(1);\n         ^\n",
    )
    for output in spoken:
        errors, broken = compile_errors(
            output, root="/r", tests=["src/test/java/ATest.java", "src/test/java/BTest.java"], line_of=lambda *_: "  Textkit.slug(1);"
        )  # fmt: skip
        assert [one.id for one in errors] == ["src/test/java/ATest.java", "src/test/java/BTest.java"]
        assert (errors[0].failure.names, errors[0].failure.line, broken) == (("slug",), 6, [])
    _, broken = compile_errors("A.java:1: error: ';' expected\n", root="/r", tests=["T.java"], line_of=lambda *_: "")
    assert broken == ["A.java"]


def test_tests_are_named_as_the_reports_name_them():
    names = [name for name, _ in named_tests("a/OddTest.java", _ODD.encode())]
    assert names == [
        "OddTest::one",
        "OddTest::boom",
        "OddTest::off",
        "OddTest::odd",
        "OddTest::Inner::deep",
        "SecondTest::inTheSameFile",
    ]
    old = b"public class AT extends junit.framework.TestCase { public void testA() {} public void helper() {} }"
    assert [name for name, _ in named_tests("AT.java", old)] == ["AT::testA"]


def test_a_class_name_that_two_modules_have_is_not_guessed():
    found = files_by_class(["a/src/test/java/x/T.java", "b/src/test/java/x/T.java", "b/src/test/java/x/U.java"])
    assert "x.T" not in found and found["x.U"] == "b/src/test/java/x/U.java"


def test_a_dependency_steers_nothing_but_a_plugin_does():
    before, dependency = _POM.encode(), _POM.replace("4.13.2", "4.13.1").encode()
    skipping = _POM.replace("<maven.compiler.source>", "<skipTests>true</skipTests><maven.compiler.source>").encode()
    plugin = _POM.replace("</project>", "<build><plugins><plugin/></plugins></build></project>").encode()

    def steered(after):
        return bool(steering_changes(["pom.xml"], before=lambda _: before, after=lambda _: after))

    assert [steered(one) for one in (dependency, skipping, plugin, b"no xml")] == [False, True, True, True]
    assert pom_part(before)


def test_gotestsum_means_go_test_with_its_arguments(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n")
    need("go")
    plan = detect(tmp_path, settings={"command": "gotestsum --format dots -- -tags fast ./..."})
    assert (plan.runner, plan.command) == ("go", ("go", "test", "-tags", "fast", "./..."))
