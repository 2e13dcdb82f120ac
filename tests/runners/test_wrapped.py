"""Commands that only show another runner's results, and what a command of any language finds offline."""

from __future__ import annotations

import subprocess

import pytest

from agentforge.errors import ConfigError
from agentforge.languages.native.wrapper_commands import unwrapped
from agentforge.suite.detection import detect
from agentforge.workspace.sandbox.toolchain import every_download


@pytest.mark.parametrize(
    ("command", "means"),
    [
        ("cargo nextest run", "cargo test"),
        (
            "cargo nextest run --profile ci --retries 2 --workspace --all-features",
            "cargo test --workspace --all-features",
        ),
        ("cargo nextest run --profile=ci -p inner --features=a,b -j 4", "cargo test -p inner --features=a,b"),
        ("cargo-nextest nextest run --locked --no-fail-fast", "cargo test --locked"),
        ("gotestsum -- -tags fast ./...", "go test -tags fast ./..."),
        ("gotestsum --format dots", "go test ./..."),
    ],
)
def test_a_command_that_shows_another_runners_results_means_that_runner(command, means):
    assert unwrapped(command.split()) == tuple(means.split())


@pytest.mark.parametrize("command", ["cargo nextest run -E test(slug)", "cargo nextest run slug", "cargo nextest list"])
def test_a_choice_among_the_tests_is_not_taken_for_the_suite(command, tmp_path):
    assert unwrapped(command.split()) == tuple(command.split())
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    with pytest.raises(ConfigError, match="does not say where its results are"):
        detect(tmp_path, settings={"command": command})


def test_a_vendor_folder_is_lent_only_where_git_ignores_it(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "autoload.php").write_text("<?php\n")
    settings = {"command": "php run.php", "junit": "report.xml"}
    assert detect(tmp_path, settings=settings).environments == ()
    (tmp_path / ".gitignore").write_text("/vendor/\n")
    assert detect(tmp_path, settings=settings).environments == ("vendor",)


def test_any_command_finds_what_was_downloaded_and_fetches_nothing(tmp_path):
    for folder in (".cargo/registry", ".m2/repository"):
        (tmp_path / folder).mkdir(parents=True)
    found = every_download({"HOME": str(tmp_path), "GOPATH": "/one:/two", "MAVEN_OPTS": "-Xmx1g"})
    assert found["CARGO_HOME"] == str(tmp_path / ".cargo") and found["CARGO_NET_OFFLINE"] == "true"
    assert (found["GOMODCACHE"], found["GOPROXY"]) == ("/one/pkg/mod", "off")
    assert found["MAVEN_OPTS"].startswith(f"-Xmx1g -Dmaven.repo.local={tmp_path}/.m2/repository ")
    assert "CARGO_HOME" not in every_download({"HOME": str(tmp_path / "empty")})
    told = every_download({"HOME": str(tmp_path), "MAVEN_OPTS": "-Dmaven.repo.local=/x"})["MAVEN_OPTS"]
    assert told.count("maven.repo.local") == 1


def test_a_class_name_of_packages_and_files_leads_to_the_file(project):
    """As cargo nextest writes it: `package::file` for a file of tests, `package` for the library's own."""
    report = (
        '<testsuites><testsuite name="textkit::shout"><testcase name="shouts" classname="textkit::shout"/></testsuite>'
        '<testsuite name="textkit"><testcase name="tests::inner" classname="textkit"/></testsuite></testsuites>'
    )
    files = {"tests/shout.rs": "// tests\n", "src/lib.rs": "// code\n", "report.txt": report}
    run = project(files, command="cp report.txt {junit}").run()
    assert sorted(run.outcomes) == ["tests/shout.rs::shouts", "textkit::tests::inner"], run.problems


def test_a_suite_that_names_its_file_by_underscores_and_one_that_could_not_run_are_told_by_file(project):
    """As Perl's prove writes it."""
    report = (
        '<testsuites><testsuite name="deep_shout_t"><testcase name="1 - shouts"></testcase></testsuite>'
        '<testsuite name="slug_t"><error message="Dubious, test returned 255" /></testsuite></testsuites>'
    )
    files = {"t/deep/shout.t": "# tests\n", "t/slug.t": "# tests\n", "report.txt": report}
    run = project(files, command=["sh", "-c", "cp report.txt $1; exit 1", "sh", "{junit}"]).run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "t/deep/shout.t::1 - shouts": "passed", "t/slug.t::(the whole file)": "error"
    }, run.problems  # fmt: skip
    assert run.complete
