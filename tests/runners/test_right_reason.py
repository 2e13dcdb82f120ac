"""What RED takes for a right reason: whatever the base does today and the change can make pass; never the test's own mistake."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.testing.outcome import Failure, TestOutcome
from agentforge.verification.stages.classification import Expectation, classify, classify_failure
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

CLI = """
import argparse

def main(argv):
    parser = argparse.ArgumentParser(exit_on_error=True)
    parser.add_argument("name")
    return parser.parse_args(argv)
"""
PATH = "tests/test_new.py"


def _reasons(made, code, *, symbols=(), modified=(), kind="target", extra=None, names=()):
    base = made.tree()
    red = made.tree({PATH: code, **(extra or {})})
    listed = [{"path": PATH, "name": name, "kind": kind} for name in names]
    suite = Suite(tests=listed, symbols=list(symbols), modified=modified)
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red, with_stubs=False)
    return {one["id"].partition("::")[2]: (one["right_reason"], one["reason"]) for one in facts["tests"]}


def test_what_the_base_does_not_know_yet_is_a_right_reason_however_it_fails(project):
    code = """
import tomllib
from dataclasses import dataclass
import cli
from options import Options, read

def test_option():
    assert cli.main(["x", "--upper"]).upper is True
def test_attribute_of_a_namespace():
    assert cli.main(["x"]).upper is False
def test_field():
    assert Options(name="x", upper=True).upper
def test_key():
    assert read()["upper"] is False
def test_assertion_of_the_product():
    assert read(strict=1)
def test_value():
    assert int(read()["name"].upper()) == 3
"""
    product = {
        "cli.py": CLI,
        "options.py": "from dataclasses import dataclass\n@dataclass\nclass Options:\n    name: str = ''\n"
        "def read(strict=0):\n    assert not strict, 'not yet'\n    return {'name': 'x'}\n",
    }
    names = [line[4:-3] for line in code.splitlines() if line.startswith("def test")]
    found = _reasons(project(product), code, modified=("cli.py", "options.py"), names=names)
    assert {name: right for name, (right, _) in found.items()} == dict.fromkeys(names, True), found
    assert "SystemExit" in found["test_option"][1] and "cli.py" in found["test_option"][1]


def test_a_file_that_is_not_there_yet_may_be_read(project):
    code = "from pathlib import Path\ndef test_page(): assert 'x' in Path('docs/page.md').read_text()\n"
    found = _reasons(project({"a.py": ""}), code, modified=("docs/page.md",), names=["test_page"])
    assert found["test_page"][0], found


def test_what_fails_before_any_code_of_the_project_ran_is_the_tests_own_mistake(project):
    code = """
import shop
def numbers(): return int("three")
def test_helper(): assert shop.total([numbers()]) == 3
def test_after(): assert shop.total([1])["sum"] == 1
"""
    made = project({"shop.py": "def total(rows):\n    return {}\n"})
    found = _reasons(made, code, modified=("shop.py",), names=["test_helper", "test_after"])
    assert not found["test_helper"][0] and "before it runs any code of the project" in found["test_helper"][1]
    assert found["test_after"][0]


@pytest.mark.parametrize(
    ("failure", "running", "right"),
    [
        (Failure(exc_type="SyntaxError", message="bad", file=PATH, line=3, in_test=True), False, False),
        (Failure(exc_type="SyntaxError", message="bad", file=PATH, line=3, in_test=True), True, True),
        (Failure(exc_type="SyntaxError", message="bad template", file="shop.py", line=3), True, True),
        (Failure(exc_type="NameError", message="totl", file=PATH, in_test=True, names=("totl",)), True, False),
        (Failure(exc_type="NameError", message="totl", file="shop.py", names=("totl",)), True, True),
        (Failure(exc_type="Panic", message="called `Result::unwrap()` on an `Err`", file=PATH, in_test=True), True, True),
        (Failure(exc_type="AttributeError", message="module 'os' has no attribute 'pat'", file=PATH, in_test=True,
                 names=("pat", "os")), True, False),
        (Failure(exc_type="AttributeError", message="'str' object has no attribute 'value'", file=PATH, in_test=True,
                 names=("value", "str")), True, True),
        (Failure(exc_type="AttributeError", message="no attribute 'totla'", file=PATH, in_test=True,
                 names=("totla", "Cart")), True, False),
        (Failure(exc_type="ImportError", message="", file=PATH, in_test=True, names=("other", "shop")), False, True),
        (Failure(exc_type="ImportError", message="", file=PATH, in_test=True, names=("other", "else_where")), False, False),
        (Failure(exc_type="ModuleNotFoundError", message="", file=PATH, in_test=True, names=("numpy",)), False, False),
    ],
)  # fmt: skip
def test_kinds_of_failures(failure, running, right):
    symbols = (Symbol(name="total", file="shop.py", kind="function", change="changed"),)
    expected = Expectation(symbols=symbols, test_files=(PATH,), present=("shop.py", PATH))
    assert classify_failure(failure, expected, running=running).right is right


@pytest.mark.parametrize(
    ("path", "name", "right"),
    [
        ("src/__private/build.rs", "build", True),
        ("src/build/mod.rs", "build", True),
        ("src/lib/build.rs", "lib", False),
        ("src/old.rs", "old", False),
    ],
)
def test_a_module_that_a_new_file_will_be_is_to_come(path, name, right):
    failure = Failure(exc_type="ImportError", message="", file="tests/gen.rs", in_test=True, names=(name,))
    symbols = (Symbol(name="gen", file=path, kind="function", change="new"),)
    expected = Expectation(symbols=symbols, test_files=("tests/gen.rs",), present=("src/old.rs",), language="rust")
    assert classify_failure(failure, expected).right is right


def test_the_advice_speaks_no_other_languages_runner():
    failure = Failure(
        exc_type="ImportError", message="cannot find `slgu`", file="tests/a.rs", in_test=True, names=("slgu",)
    )
    expected = Expectation(symbols=(), test_files=("tests/a.rs",), language="rust")
    reason = classify(TestOutcome(id="tests/a.rs::a", outcome="failed", failure=failure), expected)
    assert not reason.right and "pytest" not in reason.text


def test_names_that_the_base_has_twice_are_the_bases_business(project):
    old = "import pytest\nimport shop\n@pytest.mark.parametrize('n', [1])\ndef test_a(n): assert n\ndef test_b(): assert 1\ndef test_b(): assert 2\n"
    made = project({"shop.py": "def f(n): return n\n", PATH: old})
    base = made.tree()
    red = made.tree(
        {PATH: old.replace("[1]", "[1, 2]").replace("assert n", "assert n") + "def test_c(): assert shop.f(1) == 2\n"}
    )
    suite = Suite(
        tests=[{"path": PATH, "name": "test_c", "kind": "target"}],
        symbols=[{"name": "f", "file": "shop.py", "kind": "function", "change": "changed"}],
    )
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert facts["duplicates"] == [] and facts["right_reason"] and facts["existing_changed"] == []


@pytest.mark.parametrize("beside", [False, True])
def test_a_constant_that_the_tests_of_the_base_notice_shows_no_weakness(project, beside):
    old = "from shop import f\ndef test_old(): assert f('a') == 'A'\n"
    place = PATH if beside else "tests/test_old.py"
    made = project({"shop.py": "def f(text):\n    return text[0].upper()\n", place: old})
    base = made.tree()
    new = "from shop import f\ndef test_empty(): assert f('') is None\n"
    red = made.tree({PATH: old + new if beside else new})
    symbol = {"name": "f", "file": "shop.py", "kind": "function", "signature": "def f(text)", "change": "changed"}
    suite = Suite(tests=[{"path": PATH, "name": "test_empty", "kind": "target"}], symbols=[symbol])
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert facts["stub_survivors"] == [] and facts["stubs_noticed"], facts
    made.tree({} if beside else {place: None})
    alone, _ = measure_red(made.rig(), suite, base_tree=made.tree({PATH: None}), red_tree=made.tree({PATH: new}))
    assert alone["stub_survivors"], "nothing else would notice an f that always gives None"


def test_a_row_or_guard_that_is_skipped_here_asks_for_nothing(project):
    code = """
import pytest
from shop import f
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.skip(reason="elsewhere"))])
def test_rows(n): assert f(n) == n + 1
@pytest.mark.skipif(True, reason="another system")
def test_elsewhere(): assert f(1) == 1
def test_target(): assert f(3) == 4
"""
    made = project({"shop.py": "def f(n):\n    return n\n"})
    base = made.tree()
    kinds = {"test_rows": "target", "test_elsewhere": "guard", "test_target": "target"}
    suite = Suite(
        tests=[{"path": PATH, "name": name, "kind": kind} for name, kind in kinds.items()],
        symbols=[{"name": "f", "file": "shop.py", "kind": "function", "change": "changed"}],
    )
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=made.tree({PATH: code}))
    assert facts["right_reason"] and facts["guards_pass"] and facts["all_tests_fail"], facts["tests"]
    assert [one["outcome"] for one in facts["tests"]].count("skipped") == 2
    only = Suite(tests=[{"path": PATH, "name": "test_elsewhere", "kind": "target"}], symbols=suite.symbols)
    alone, _ = measure_red(made.rig(), only, base_tree=base, red_tree=made.tree({PATH: code}))
    assert not alone["right_reason"]


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("from kit.colls import *", True),
        ("from kit import *", True),  # which takes over all of kit.colls
        ("from kit.other import *", False),
        ("import kit.colls", False),
    ],
)
def test_a_name_that_a_star_import_will_bring_is_missing_for_the_right_reason(project, line, right):
    made = project(
        {
            "kit/__init__.py": "from .colls import *\n",
            "kit/colls.py": "__all__ = ['get_in']\n\ndef get_in(rows, path):\n    return rows[path]\n",
            "kit/other.py": "",
        }
    )
    code = f"{line}\n\ndef test_del_in(): assert del_in([1], 0) == []\ndef test_slip(): assert dell_in([1], 0) == []\n"
    new = {"name": "del_in", "file": "kit/colls.py", "kind": "function", "signature": "(rows, path)", "change": "new"}
    found = _reasons(made, code, symbols=[new], names=["test_del_in", "test_slip"])
    assert found["test_del_in"][0] is right, found
    assert not found["test_slip"][0]


def test_what_todays_result_cannot_do_in_the_test_itself_is_a_right_reason(project):
    code = "import shop\n\ndef test_call(): assert shop.field('a').upper('b') == 'B'\ndef test_value(): assert shop.field('a')('b')\n"
    made = project({"shop.py": "def field(name):\n    return True\n"})
    changed = {"name": "field", "file": "shop.py", "kind": "function", "signature": "(name)", "change": "changed"}
    found = _reasons(made, code, symbols=[changed], names=["test_call", "test_value"])
    assert [right for right, _ in found.values()] == [True, True], found
