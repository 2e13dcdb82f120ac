"""The table of docs/runners.md says what the code does."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from agentforge.languages.catalogue import languages, of_runner
from agentforge.languages.javascript.command import command_of, shuffles
from agentforge.languages.symbols import Symbol
from agentforge.testing.plan import TestPlan
from agentforge.verification.counterexamples.stub_runs import variants
from agentforge.verification.source.runner_configuration import steering_changes
from agentforge.verification.source.test_hashes import duplicates, test_hashes

_TEXT = (Path(__file__).parents[2] / "docs" / "runners.md").read_text("utf-8").partition("## Controls")[2]
_ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in _TEXT.splitlines() if line.startswith("|")]
_RUNNERS = _ROWS[0][1:]
_JAVASCRIPT = of_runner("node").runners
_TABLE = {row[0]: dict(zip(_ROWS[0][1:], row[1:], strict=True)) for row in _ROWS[2:]}
_TEST = {
    "pytest": ("t.py", "def test_a(): pass\n", "pytest.ini"), "unittest": ("t.py", "class T:\n    def test_a(self): pass\n", "unittest.py"),
    "node": ("a.test.js", "test('a', f);\n", "package.json"), "vitest": ("a.test.ts", "test('a', f);\n", "vitest.config.ts"),
    "jest": ("a.test.js", "test('a', f);\n", "jest.config.js"), "mocha": ("a.js", "it('a', f);\n", ".mocharc.json"),
    "go": ("a_test.go", "func TestA(t *testing.T) {}\n", "go.mod"), "cargo": ("tests/a.rs", "#[test]\nfn a() {}\n", "Cargo.toml"),
    "java": ("ATest.java", "class ATest { @Test void a() {} }\n", "pom.xml"),
    "minitest": ("test/a_test.rb", "class ATest\n  def test_a; end\nend\n", "Rakefile"), "junit": ("t.txt", "a\n", "run.sh"),
}  # fmt: skip
_PRODUCT = {
    "pytest": "a.py", "unittest": "a.py", "node": "a.mjs", "vitest": "a.ts", "jest": "a.jsx", "mocha": "a.cjs", "go": "a.go",
    "cargo": "src/a.rs", "java": "A.java", "minitest": "lib/a.rb", "junit": "a.txt",
}  # fmt: skip
_LANGUAGE = {
    "pytest": "python",
    "unittest": "python",
    "go": "go",
    "cargo": "rust",
    "java": "java",
    "minitest": "ruby",
    "junit": "other",
}
_SIGNATURE = {"go": "func f() string", "cargo": "fn f() -> String", "java": "static String f()"}
_CHANGED = {
    "package.json": b'{"scripts": {"test": "x"}}',
    "go.mod": b"replace a => b\n",
    "Cargo.toml": b"[lib]\ntest = false\n",
    "pom.xml": b"<project><build><plugins/></build></project>",
}


def _yes(control, runner):
    return _TABLE[control][runner] == "yes"


def test_every_runner_has_a_column():
    assert sorted(_RUNNERS) == sorted(["junit", *(runner for one in languages() for runner in one.runners)])


@pytest.mark.parametrize("runner", _RUNNERS)
def test_the_controls_are_those_of_the_code(runner):
    plan = TestPlan(runner=runner, command=("a", "b"))
    path, text, steering = _TEST[runner]
    assert _yes("planted test that must fail", runner) == plan.has_canary
    assert _yes("second channel agrees", runner) == plan.has_second_channel
    assert _yes("frozen test by test", runner) == bool(list(test_hashes(path, text.encode())))
    assert _yes("one name defined twice is found", runner) == bool(
        duplicates("t.py", b"def test_a(): pass\n" * 2)
        if runner in ("pytest", "unittest")
        else duplicates(path, text.encode() * 2)
    )
    steered = steering_changes([steering], before=lambda _: None, after=lambda _: _CHANGED.get(steering, b"x"))
    assert _yes("runner configuration of the base commit", runner) == bool(steered)
    assert _yes("targets fail again without the change (after GREEN)", runner) == (
        runner != "junit" and of_runner(runner).null_implementation is not None
    )
    if runner in _JAVASCRIPT:
        shuffled = command_of(plan, files=[], canary="c", seed=1) != command_of(plan, files=[], canary="c", seed=None)
        assert _yes("random order in repeats", runner) == shuffled


@pytest.mark.parametrize(
    ("version", "takes"),
    [("24.9.0", False), ("29.4.3", False), ("29.5.0", True), ("30.0.0-alpha.1", True), ("", False)],
)
def test_jest_is_given_an_order_from_the_version_on_that_takes_one(tmp_path, version, takes):
    package = tmp_path / "node_modules" / "jest" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(f'{{"version": "{version}"}}')
    ground = SimpleNamespace(mount_at=tmp_path)
    assert shuffles(TestPlan(runner="jest", command=("jest",)), ground) is takes
    assert shuffles(TestPlan(runner="vitest", command=("vitest",)), ground)


@pytest.mark.parametrize("runner", _RUNNERS)
def test_wrong_implementations_and_mutants_are_those_of_the_code(runner):
    symbol = Symbol(name="f", file=_PRODUCT[runner], kind="function", signature=_SIGNATURE.get(runner, ""))
    assert _yes("stub controls in RED", runner) == bool(variants([symbol], source=lambda _: "", seed="1"))
    plan = TestPlan(runner=runner, language=_LANGUAGE.get(runner, "javascript"))
    language = of_runner(plan.runner)
    made = language is not None and language.mutants is not None
    assert _yes("mutants of changed lines", runner) == made
