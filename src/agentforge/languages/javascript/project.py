"""Finds out how the tests of a JavaScript or TypeScript repository run: by node itself, vitest, jest or mocha."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.languages.javascript.scripts import Step, over_workspaces, program_words, read_package, steps
from agentforge.languages.language import ProjectFiles
from agentforge.testing.plan import Runner, TestPlan

_TOOLS: dict[str, Runner] = {"vitest": "vitest", "jest": "jest", "mocha": "mocha"}
_OURS = (
    "--reporter", "--reporters", "--outputFile", "--coverage", "--watch", "--watchAll", "--ui", "--silent", "-R", "--bail", "-b",
)  # fmt: skip
"""Options that the harness sets itself. A run that ends at its first failure would end at the planted test that must fail."""
_TAKES_VALUE = frozenset({"--reporter", "-R", "--outputFile"})
_SUFFIXES = ("js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx")
_FILES_RUN_ALONE = ("tape", "tap", "uvu")
"""Runners whose test files are programs that end with an exit code."""
_FOLDERS = 4
_OTHERS = ("pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "go.mod", "Gemfile")
"""Build files of other languages, beside which a package.json without tests may stand."""
_BY_SCRIPT = "the test script of package.json"


def find_javascript(project: ProjectFiles) -> TestPlan | None:
    """Find the plan of a repository with a package.json; None when there is none, or a test script without tests.

    Of a test script that does several things the part that is tests runs; what it does before that and may build
    something runs before every run, and everything else is left out and told. A project without tests gets node's own runner.
    """
    repo, names = project.repo, project.names
    if "package.json" not in names or (project.holds(*_OTHERS) and not any(is_test(name) for name in names)):
        return None
    package = read_package(repo / "package.json")
    scripts = package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    script = _test_script(package)
    tests = [name for name in names if is_test(name)]
    chain = steps("test", scripts) if script else []
    found = _of_chain(project, chain)
    if found is not None:
        return found
    spread = over_workspaces(repo, package, names, script)
    if spread is not None:
        return plan_of_words(project, spread, by="the test scripts of its workspaces")
    installed = [tool for tool in _TOOLS if _depends(package, tool)]
    installed = installed or [tool for tool in _TOOLS if _is_brought(repo, names, tool)]
    if not script and not installed:
        return _node(project, (), f"the tests ({tests[0]})" if tests else "package.json; there are no tests yet")
    if not script or (tests and len(installed) == 1):
        plan = plan_of_words(project, [installed[0]], by="the dependencies of package.json")
        unread = (f"what else the test script does: {script}",) if script else ()
        return replace(plan, left_out=unread) if plan is not None else None
    if tests:
        told = " && ".join(step.text for step in chain if not step.checks) or script
        problem = f"package.json runs its tests by {told!r}, whose results are not read here; {_instead(chain, tests)}"
        source = "detected: a test script that is not understood"
        return TestPlan(runner="none", language="javascript", source=source, problems=(problem,), **project.base)
    return None


def _instead(chain: Sequence[Step], tests: Sequence[str]) -> str:
    """What to set where the runner is none that is read: its files run by themselves, or it writes JUnit XML."""
    names = [word.rpartition("/")[2] for step in chain for word in program_words(step.words)[1]]
    plain = next((name for name in names if name in _FILES_RUN_ALONE), "")
    if plain:
        folders = sorted({name.rpartition("/")[0] or name for name in tests if name.endswith((".js", ".mjs", ".cjs"))})
        return (
            f"the files of {plain} run by themselves, so node runs them, each as one test: set [test] command = "
            f'"node --test {" ".join(folders[:_FOLDERS])}"'
        )
    other = "set [test] command to a runner that is (node --test, vitest, jest, mocha), or to one that writes JUnit XML"
    return f"{other}, with [test] junit"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A step of the test script that runs tests, and its place among the steps."""

    place: int
    step: Step
    plan: TestPlan


def _of_chain(project: ProjectFiles, chain: Sequence[Step]) -> TestPlan | None:
    """The plan of the first step that runs tests and whose runner is there; None when no step runs tests.

    A later step of the same runner that names no files runs all of them, and comes first therefore.
    """
    found = []
    for place, step in enumerate(chain):
        plan = plan_of_words(_with_env(project, step.env), step.words, by=_BY_SCRIPT) if not step.checks else None
        if plan is not None:
            found.append(_Found(place=place, step=step, plan=plan))
    if not found:
        return None
    first = next((one for one in found if one.plan.runner != "none"), found[0])
    chosen = next((one for one in found if one.plan.runner == first.plan.runner and _runs_all(one.step)), first)
    others = {one.place for one in found if one is not chosen}
    before = [step.text for place, step in enumerate(chain) if place < chosen.place and _builds(step, place, others)]
    left_out = [
        f"{step.text} ({_why(step, tests=place in others)})"
        for place, step in enumerate(chain)
        if place != chosen.place and step.text not in before
    ]
    return replace(chosen.plan, prepare=tuple(dict.fromkeys(before)), left_out=tuple(dict.fromkeys(left_out)))


def _runs_all(step: Step) -> bool:
    """Whether a command names no files, so that its runner looks for all tests."""
    return all(word.startswith("-") or word == "run" for word in program_words(step.words)[1][1:])


def _builds(step: Step, place: int, others: set[int]) -> bool:
    """Whether a step may make something that the tests need."""
    return not step.checks and place not in others


def _why(step: Step, *, tests: bool) -> str:
    if tests:
        return "more tests, of which one command can run at a time: set [test] command to run these instead"
    return "a check, no tests" if step.checks else "comes after the tests"


def _with_env(project: ProjectFiles, env: Mapping[str, str], *, over: bool = False) -> ProjectFiles:
    """The project with more variables in its plans; those that are there win, unless the new ones go `over` them."""
    known = project.base["env"]
    return replace(project, base={**project.base, "env": {**known, **env} if over else {**env, **known}})


def plan_of_words(project: ProjectFiles, words: Sequence[str], *, by: str = "the setting") -> TestPlan | None:
    """The plan of a command that starts node's runner, vitest, jest or mocha; None for any other."""
    env, plain = program_words(words)
    words = list(plain)
    project = _with_env(project, env)
    if words[:1] == ["tsx"] and "--test" in words:
        words = ["node", "--import", "tsx", *words[1:]]
    if words[:1] == ["borp"]:  # node's runner with more reporters
        words = ["node", "--test", *_patterns(words[1:])]
    if words[:1] == ["node"] and ("--test" in words or _is_script_of_tests(words[1:])):
        rest = tuple(word for word in words[1:] if word != "--test" and not word.startswith("--test-reporter"))
        return _node(project, rest, by)
    at = next((place for place, word in enumerate(words) if _tool(word)), -1)
    if at < 0 or (at > 0 and words[0] not in ("node", "ts-node", "tsx")):
        return None
    if (
        at > 0 and words[0] == "node"
    ):  # node's own options: `node --experimental-vm-modules node_modules/jest/bin/jest.js`
        options = " ".join([*words[1:at], env.get("NODE_OPTIONS", "")]).strip()
        project = _with_env(project, {"NODE_OPTIONS": options} if options else {}, over=True)
    return _installed(project, _tool(words[at]), words[at + 1 :], by)


def is_test(name: str) -> bool:
    """Whether the runners would take a file for a test by its name or folder."""
    folder, _, file = f"/{name}".rpartition("/")
    if file.rpartition(".")[2] not in _SUFFIXES or file.endswith(".d.ts"):
        return False
    marked = any(mark in file for mark in (".test.", ".spec.", "-test.", "_test.")) or file.startswith(
        ("test-", "test.")
    )
    return marked or any(f"/{part}/" in f"{folder}/" for part in ("test", "tests", "__tests__", "spec"))


def _is_script_of_tests(words: Sequence[str]) -> bool:
    """Whether node starts one file of tests: `node test.js`, `node test/index.js`; its exit code is a result, too."""
    return len(words) == 1 and is_test(words[0].removeprefix("./"))


def _patterns(words: Sequence[str]) -> list[str]:
    """What of borp's words chooses files."""
    value = {"-t", "--timeout", "-c", "--concurrency", "-r", "--reporter", "-x", "--coverage-exclude", "--lines"}
    return [
        word for at, word in enumerate(words) if not word.startswith("-") and (not at or words[at - 1] not in value)
    ]


def _tool(word: str) -> str:
    """The runner that a word of a command starts: `jest`, `node_modules/.bin/jest`, `node_modules/jest/bin/jest.js`."""
    last = word.rpartition("/")[2]
    return next((tool for tool in _TOOLS if last in (tool, f"{tool}.js", f"{tool}.mjs", f"_{tool}")), "")


def _node(project: ProjectFiles, rest: tuple[str, ...], by: str) -> TestPlan:
    found = shutil.which("node", path=project.environ.get("PATH"))
    return TestPlan(
        runner="node" if found else "none",
        command=("node", "--test", *rest),
        language="javascript",
        source=f"detected: node --test via {by}",
        problems=() if found else ("node is not on PATH",),
        **project.base,
    )


def _installed(project: ProjectFiles, tool: str, words: Sequence[str], by: str) -> TestPlan:
    """A runner from node_modules."""
    repo = project.repo
    there = (repo / "node_modules" / tool).is_dir()
    run = ("run", *_config_loader(repo, words)) if tool == "vitest" else ()
    return TestPlan(
        runner=_TOOLS[tool] if there else "none",
        command=(f"node_modules/.bin/{tool}", *run, *_kept(words)),
        language="javascript",
        source=f"detected: {tool} via {by}",
        problems=() if there else (f"{tool} is not installed; run: {install_command(repo, tool)}",),
        **project.base,
    )


def _config_loader(repo: Path, words: Sequence[str]) -> tuple[str, ...]:
    """How vitest from 3.1 on reads its configuration without writing into node_modules, which is lent read-only."""
    version = read_package(repo / "node_modules" / "vitest" / "package.json").get("version")
    parts = [int(part) for part in str(version).split(".")[:2] if part.isdecimal()]
    return ("--configLoader=runner",) if parts >= [3, 1] and not any("configLoader" in one for one in words) else ()


def install_command(repo: Path, tool: str = "") -> str:
    """The command that brings the packages: from the lock file of a project that declares the tool, else as a new dependency."""
    locks = {
        "package-lock.json": "npm ci", "npm-shrinkwrap.json": "npm ci", "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
        "yarn.lock": "yarn install --frozen-lockfile", "bun.lock": "bun install --frozen-lockfile",
    }  # fmt: skip
    known = next((command for name, command in locks.items() if (repo / name).is_file()), "npm install")
    declared = not tool or _depends(read_package(repo / "package.json"), tool)
    return known if declared else f"npm install --save-dev {tool}"


def _kept(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a script without those that choose how results are shown."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.partition("=")[0] in _OURS or re.match(r"--coverage\.", word):
            skip = word in _TAKES_VALUE
        elif word not in ("run", "watch"):
            kept.append(word)
    return tuple(kept)


def _depends(package: Mapping[str, Any], tool: str) -> bool:
    return any(tool in (package.get(kind) or {}) for kind in ("devDependencies", "dependencies"))


def _is_brought(repo: Path, names: Sequence[str], tool: str) -> bool:
    """Whether another package brought a runner that this repository has a configuration of, or that is the only one there."""
    there = [one for one in _TOOLS if (repo / "node_modules" / one).is_dir()]
    config = any(name.startswith((f"{tool}.config.", f".{tool}rc")) for name in names)
    return tool in there and (config or len(there) == 1)


def _test_script(package: Mapping[str, Any]) -> str:
    scripts = package.get("scripts")
    script = scripts.get("test", "") if isinstance(scripts, dict) else ""
    return script if isinstance(script, str) and "no test specified" not in script else ""
