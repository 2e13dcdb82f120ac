"""What `npm test` comes to: scripts that call scripts, workspaces, several runners, runners that are not installed."""

from __future__ import annotations

import json

import pytest

from agentforge.runners.detection import detect
from agentforge.runners.javascript_runner import _command
from agentforge.runners.javascript_scripts import over_workspaces, test_commands
from agentforge.runners.plan import TestPlan

SCRIPTS = {
    "unit": "vitest run", "e2e": "npm run build && playwright test", "lint": "eslint .", "test:a": "mocha a", "test:b": "mocha b",
    "build": "tsc", "loop": "npm run loop", "ci": "npm run lint && npm run unit -- --dir src",
}  # fmt: skip


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("npm run unit", [["vitest", "run"]]),
        ("npm run lint && yarn unit --dir lib", [["vitest", "run", "--dir", "lib"]]),
        ("pnpm ci", [["vitest", "run", "--dir", "src"]]),
        ("npm-run-all lint 'test:*'", [["mocha", "a"], ["mocha", "b"]]),
        ("npm run unit && npm run e2e", [["vitest", "run"], ["tsc"], ["playwright", "test"]]),
        ("npm run loop", []),
        ("vitest run | tee log", []),
        ("vitest run 'unclosed", []),
    ],
)
def test_scripts_are_followed_to_the_commands_that_run_tests(script, commands):
    assert test_commands(script, SCRIPTS) == commands


def _found(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
    return detect(folder, settings={}, environ={"PATH": "/usr/bin:/bin"})


def test_two_runners_in_one_repository_are_a_question_for_a_person(tmp_path):
    package = {"scripts": {"test": "vitest run && mocha old"}}
    plan = _found(tmp_path, {"package.json": package, "node_modules/vitest/a": "", "node_modules/mocha/a": ""})
    assert plan.runner == "none" and "several commands" in plan.problems[0]
    assert "node_modules/.bin/vitest run; node_modules/.bin/mocha old" in plan.problems[0]


@pytest.mark.parametrize(
    ("lock", "declared", "said"),
    [
        ("package-lock.json", True, "run: npm ci"), ("pnpm-lock.yaml", True, "run: pnpm install --frozen-lockfile"),
        ("README", True, "run: npm install"), ("package-lock.json", False, "run: npm install --save-dev mocha"),
    ],
)  # fmt: skip
def test_a_runner_that_is_not_installed_is_told_with_the_command_that_brings_it(tmp_path, lock, declared, said):
    package = {"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "10"} if declared else {}}
    plan = _found(tmp_path, {"package.json": package, lock: ""})
    assert plan.runner == "none" and plan.problems[0].endswith(said)


def test_tsx_is_node_with_a_loader(tmp_path):
    plan = _found(tmp_path, {"package.json": {"scripts": {"test": "tsx --test src/*.test.ts"}}})
    assert plan.command == ("node", "--test", "--import", "tsx", "src/*.test.ts")


@pytest.mark.parametrize(
    ("tests", "command"),
    [
        (("node --test", "node --test"), ["node", "--test"]), (("vitest run", "vitest"), ["vitest"]),
        (("jest", "jest"), ["jest", "--projects=packages/a", "--projects=packages/b"]), (("vitest", "mocha"), None), (("tsc", "tsc"), None),
    ],
)  # fmt: skip
def test_packages_of_a_workspace_run_together_when_they_run_alike(tmp_path, tests, command):
    root = {"workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}}
    files = {"package.json": root}
    for folder, test in zip("ab", tests, strict=True):
        files[f"packages/{folder}/package.json"] = {"scripts": {"test": test}}
    _found(tmp_path, files)
    assert over_workspaces(tmp_path, root, list(files), "npm test --workspaces") == command


@pytest.mark.parametrize(
    ("runner", "command", "ends"),
    [
        ("vitest", ["node_modules/.bin/vitest", "run", "--dir", "src"], ["--dir", "src"]),
        ("node", ["node", "--test", "--import", "tsx"], ["--import", "tsx"]),
        ("node", ["node", "--test", "--import", "tsx", "src"], ["--import", "tsx", "src", "canary.mjs"]),
        ("jest", ["node_modules/.bin/jest", "--config", "a.json"], ["--config", "a.json"]),
        ("jest", ["node_modules/.bin/jest", "--config", "a.json", "src"], ["--config", "a.json", "src", "canary.mjs"]),
    ],
)
def test_the_value_of_an_option_chooses_no_tests(runner, command, ends):
    made = _command(TestPlan(runner=runner, command=tuple(command)), files=[], canary="canary.mjs", seed=None)
    ours = ("--reporter", "--test-reporter", "--ci", "--watchman", "--coverage")
    shown = [one for one in made if not one.startswith(ours)]
    assert shown == [*command[: 1 if runner == "jest" else 2], *ends]


def test_vitest_reads_its_configuration_without_writing_into_node_modules(tmp_path):
    files = {"package.json": {"scripts": {"test": "vitest"}}, "node_modules/vitest/package.json": {"version": "3.2.4"}}
    assert _found(tmp_path, files).command[2:] == ("--configLoader=runner",)
    old = {**files, "node_modules/vitest/package.json": {"version": "2.1.9"}}
    assert _found(tmp_path, old).command[2:] == ()
