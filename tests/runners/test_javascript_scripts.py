"""What `npm test` comes to: scripts that call scripts, workspaces, several runners, runners that are not installed."""

from __future__ import annotations

import json

import pytest

from agentforge.languages.javascript.command import command_of
from agentforge.languages.javascript.scripts import over_workspaces, script_steps
from agentforge.suite.detection import detect
from agentforge.testing.plan import TestPlan

SCRIPTS = {
    "unit": "vitest run", "e2e": "npm run build && playwright test", "lint": "eslint .", "test:a": "mocha a", "test:b": "mocha b",
    "build": "tsc", "loop": "npm run loop", "prebuilt": "tsc -p .", "built": "mocha dist", "ci": "npm run lint && npm run unit -- --dir src",
}  # fmt: skip


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("npm run unit", ["vitest run"]),
        ("npm run lint && yarn unit --dir lib", ["vitest run --dir lib"]),
        ("pnpm ci", ["vitest run --dir src"]),
        ("npm-run-all lint 'test:*'", ["mocha a", "mocha b"]),
        ("concurrently npm:unit 'npm:lint'", ["vitest run"]),
        ("npm run unit && npm run e2e", ["vitest run", "tsc"]),
        ("npm run loop", ["npm run loop"]),
        ("tape 'a|b.js' 2>&1 | tap-spec", ["tape 'a|b.js'"]),
        ("vitest run || echo failed; mocha x", ["vitest run", "mocha x"]),
        ("vitest run 'unclosed", ["vitest run 'unclosed"]),
        ("npm run built", ["tsc -p .", "mocha dist"]),
        ("nyc npm run unit", ["vitest run"]),
    ],
)
def test_scripts_are_followed_to_the_commands_that_run_tests(script, commands):
    assert [step.text for step in script_steps(script, SCRIPTS) if not step.checks] == commands


@pytest.mark.parametrize(
    ("script", "words", "env"),
    [
        ("c8 --reporter=text -r html mocha x", "mocha x", {}),
        ("nyc --reporter text cross-env A=1 B=c mocha -r esm", "mocha -r esm", {"A": "1", "B": "c"}),
        ("npx -y vitest run", "vitest run", {}), ("yarn run -s mocha x", "mocha x", {}), ("pnpm exec jest -i", "jest -i", {}),
        ("npm exec -- jest -i", "jest -i", {}), ("NODE_ENV=test node --test", "node --test", {"NODE_ENV": "test"}),
        ("c8 -- node --test", "node --test", {}), ("dotenv -e .env.test -- jest", "jest", {}),
    ],
)  # fmt: skip
def test_what_only_starts_or_measures_a_command_is_taken_off(script, words, env):
    (step,) = script_steps(script, {})
    assert (" ".join(step.words), dict(step.env)) == (words, env)


def _found(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
    return detect(folder, settings={}, environ={"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize(
    ("test", "runs", "before", "left_out"),
    [
        ("vitest run && mocha old", "vitest run", (), ("mocha old (more tests",)),
        ("tstyche && npm run unit && size-limit && attw --pack .", "vitest run", (), ("tstyche (a check", "size-limit (a check", "attw --pack . (a check")),
        ("npm run compile && mocha dist && unheard-of --of", "mocha dist", ("tsc -p .",), ("unheard-of --of (comes after the tests)",)),
        ("TZ=UTC vitest run src/tz && vitest run && mocha old", "vitest run", (), ("TZ=UTC vitest run src/tz (more tests", "mocha old (more")),
        ("c8 mocha a && npm run missing", "mocha a", (), ("npm run missing (comes after",)),
    ],
)  # fmt: skip
def test_of_a_chain_the_tests_run_and_the_rest_is_named(tmp_path, test, runs, before, left_out):
    scripts = {"test": test, "unit": "vitest run", "compile": "tsc -p ."}
    plan = _found(
        tmp_path, {"package.json": {"scripts": scripts}, "node_modules/vitest/a": "", "node_modules/mocha/a": ""}
    )
    assert (plan.shown_command, plan.prepare) == (f"node_modules/.bin/{runs}", before)
    assert len(plan.left_out) == len(left_out) and all(map(str.startswith, plan.left_out, left_out))


def test_a_script_that_nobody_can_read_gives_way_to_the_only_installed_runner(tmp_path):
    package = {"scripts": {"test": "own-scripts test && size-limit"}, "devDependencies": {"vitest": "3"}}
    plan = _found(tmp_path, {"package.json": package, "node_modules/vitest/a": "", "src/a.test.ts": ""})
    assert plan.shown_command == "node_modules/.bin/vitest run" and "own-scripts test" in plan.left_out[0]


def test_a_script_of_plain_assertions_is_one_test_of_node(tmp_path):
    plan = _found(tmp_path, {"package.json": {"scripts": {"test": "node test/index.js"}}, "test/index.js": ""})
    assert plan.shown_command == "node --test test/index.js"


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
        ("jest", ["node_modules/.bin/jest", "--config", "a.json", "src"], ["canary.mjs", "--config", "a.json", "src"]),
        ("jest", ["node_modules/.bin/jest", "--roots", "a", "b", "-i"], ["--roots", "a", "b", "-i"]),
    ],
)
def test_the_value_of_an_option_chooses_no_tests(runner, command, ends):
    made = command_of(TestPlan(runner=runner, command=tuple(command)), files=[], canary="canary.mjs", seed=None)
    ours = ("--reporter", "--test-reporter", "--ci", "--watchman", "--coverage", "--bail")
    shown = [one for one in made if not one.startswith(ours)]
    assert shown == [*command[: 1 if runner == "jest" else 2], *ends]


def test_vitest_reads_its_configuration_without_writing_into_node_modules(tmp_path):
    files = {"package.json": {"scripts": {"test": "vitest"}}, "node_modules/vitest/package.json": {"version": "3.2.4"}}
    assert _found(tmp_path, files).command[2:] == ("--configLoader=runner",)
    old = {**files, "node_modules/vitest/package.json": {"version": "2.1.9"}}
    assert _found(tmp_path, old).command[2:] == ()
