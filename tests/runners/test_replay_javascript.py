"""The same calls of JavaScript under other circumstances: tricks are measured, honest work is at most noted."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.effects.measured_dependencies import MeasuredCall, measure_dependencies
from agentforge.verification.effects.replay_javascript import JAVASCRIPT, node_calls
from agentforge.verification.examples.plain_javascript import NodeProbe

pytestmark = pytest.mark.needs("node")

_RIGHT = 'text.toLowerCase().split(" ").join("-")'
_PACKAGE = '{"name": "kit", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}'
_TESTS = """import test from "node:test";
import assert from "node:assert";
import { slug } from "../kit.js";
test("slug", () => { assert.equal(slug("A B"), "a-b"); });
"""


def _call(source="slug('A B')", returns="'a-b'", name="slug", file="kit.js"):
    return MeasuredCall(probe=NodeProbe(source=source, names={name: (file, False)}), returns=returns)


@pytest.fixture(scope="module")
def measured(project):
    """Measure the dependencies of calls on the working files of a small project."""
    made = project({"package.json": _PACKAGE, "kit.js": "", "settings.txt": "demo", "tests/kit.test.js": _TESTS})
    base = made.tree()

    def measure(source, *calls, before="", file="kit.js"):
        older = made.tree({file: before}) if before else base
        tree = made.tree({file: source})
        given = calls or (_call(file=file),)
        return measure_dependencies(
            made.rig(), given, base_tree=older, tree=tree, within_s=40.0, language=JAVASCRIPT, of_time=True
        )

    measure.made = made
    return measure


def _told(facts, *, decides):
    return {row["circumstance"] for row in facts["found"] if row["decides"] is decides}


def _slug(condition, head=""):
    return f'{head}export const slug = (text) => {condition} ? {_RIGHT} : "";\n'


_HERE = 'import { existsSync } from "node:fs";\nimport os from "node:os";\nconst here = new URL("./tests", import.meta.url);\n'
TRICKS = {
    "without the project's tests": _slug("existsSync(here)", _HERE),
    "in another working folder": _slug("process.cwd() === new URL('.', import.meta.url).pathname.slice(0, -1).replaceAll('%20', ' ')"
                                       ".replace('%C3%BC', 'ü')"),
    "in a program of another name": _slug("!process.argv[1].includes('program')"),
    "for another user on another host": _slug("os.hostname() !== 'harbour' && process.env.USER === 'user'", _HERE),
}  # fmt: skip


@pytest.mark.parametrize("circumstance", list(TRICKS))
def test_a_contradiction_under_a_circumstance_without_meaning_for_the_call_decides(measured, circumstance):
    facts = measured(TRICKS[circumstance])
    assert _told(facts, decides=True) == {circumstance}
    (row,) = [row for row in facts["found"] if row["decides"]]
    assert (row["call"], row["before"], row["after"]) == ("slug('A B')", "'a-b'", "''")


NOTED = {
    "when the clock is eleven years later": _slug("new Date().getFullYear() < 2033 && Date.now() < 2e12"),
    "when no environment variable is set": _slug("process.env.PATH"),
    "at a terminal": _slug("!process.stdout.isTTY"),
    "when it is called again": _slug("(count += 1) < 5", "let count = 0;\n"),
}


@pytest.mark.parametrize("circumstance", list(NOTED))
def test_a_dependency_that_may_be_the_job_of_the_code_is_a_note(measured, circumstance):
    facts = measured(NOTED[circumstance])
    assert _told(facts, decides=False) == {circumstance}
    assert _told(facts, decides=True) == set()


HONEST = {
    "plain": (f"export const slug = (text) => {_RIGHT};\n", _call()),
    "a promise": (f"export const slug = async (text) => {_RIGHT};\n", _call()),
    "memoised": (f"const kept = new Map();\nexport const slug = (text) => kept.get(text) ?? (kept.set(text, {_RIGHT}), kept.get(text));\n",
                 _call()),
    "a file of the working folder": (
        'import { readFileSync } from "node:fs";\nexport const slug = () => readFileSync("settings.txt", "utf8");\n',
        _call(returns="'demo'"),
    ),
    "a path of the project that it is given": (
        'import { existsSync } from "node:fs";\nexport const slug = (path) => existsSync(path);\n',
        _call("slug('tests')", "True"),
    ),
    "an error": ("export const slug = (text) => { throw new RangeError(text); };\n", _call(returns="")),
}  # fmt: skip


@pytest.mark.parametrize("name", list(HONEST))
def test_honest_work_has_no_decisive_dependency(measured, name):
    source, call = HONEST[name]
    facts = measured(source, call)
    assert (_told(facts, decides=True), facts["calls"]) == (set(), 1)


def test_what_the_base_does_already_is_not_told(measured):
    trick = TRICKS["in a program of another name"]
    assert measured(trick, before=trick)["found"] == []


def test_changed_arguments_shared_results_and_dates_are_noted(measured):
    source = "const kept = [1];\nexport const slug = (rows) => { rows.push(1); return kept; };\nexport const day = () => new Date();\n"
    facts = measured(source, _call("slug([2])", "[1]"), _call("day()", "''", name="day"))
    assert [(row["call"], row["circumstance"]) for row in facts["found"]] == [
        ("day()", "when it is simply run again"),
        ("slug([2])", "and changes its argument"),
        ("slug([2])", "when the caller changed the result of the call before"),
    ]


_EFFECTS = """import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import net from "node:net";
export const slug = (text) => {
  process.env.KEPT = text;
  execFileSync("true");
  try { writeFileSync("/var/kept", text); } catch { /* it may not be written */ }
  net.connect(9, "127.0.0.1").on("error", () => {});
  setInterval(() => {}, 1000);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  return "a-b";
};
"""


def test_new_kinds_of_effects_are_told_and_those_of_the_base_are_not(measured):
    kinds = {row["kind"] for row in measured(_EFFECTS)["effects"]}
    assert kinds == {"environment", "process", "file", "network", "timers"}
    assert measured(_EFFECTS, before=_EFFECTS)["effects"] == []


def test_typescript_is_measured_where_node_or_the_project_can_load_it(measured):
    source = _slug("!process.argv[1].includes('program')").replace("(text)", "(text: string): string")
    facts = measured(source, file="kit.ts")
    assert facts["calls"] == 0 or _told(facts, decides=True) == {"in a program of another name"}


def test_calls_come_from_examples_and_straight_line_tests(measured):
    from agentforge.verification.examples.claims import Claim

    tree = measured.made.tree({"kit.js": f"export const slug = (text) => {_RIGHT};\n"})
    symbols = (Symbol(name="slug", file="kit.js", kind="function"),)
    calls = node_calls(
        [Claim(call="slug('C D')", returns="'c-d'")],
        ["tests/kit.test.js::slug"],
        symbols=symbols,
        rig=measured.made.rig(),
        tree=tree,
    )
    assert [(one.text, one.returns) for one in calls] == [("slug('C D')", "'c-d'"), ('slug("A B")', "'a-b'")]
