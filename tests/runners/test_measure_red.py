"""RED's facts on real repositories: right reasons, stub controls, and the suites that must be refused."""

from __future__ import annotations

import resource
from dataclasses import replace

import pytest

from agentforge.testing.cache import ResultCache
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite, is_tests_own

BASE = {
    "shop/__init__.py": "",
    "shop/cart.py": "class Cart:\n    def __init__(self):\n        self.items = []\n    def add(self, price):\n        self.items.append(price)\n",
}
TOTAL = {
    "name": "Cart.total",
    "file": "shop/cart.py",
    "kind": "method",
    "signature": "def total(self) -> int",
    "change": "new",
}
SLUG = {
    "name": "slugify",
    "file": "shop/text.py",
    "kind": "function",
    "signature": "slugify(text: str) -> str",
    "change": "new",
}
PATH = "tests/test_new.py"


def _measure(
    made, code, *, tests, symbols=(TOTAL,), action="create", extra=None, with_stubs=True, limit=None, **options
):
    base = made.tree()
    red = made.tree({PATH: code, **(extra or {})})
    listed = [{"path": PATH, "name": name, "kind": kind} for name, kind in tests.items()]
    suite = Suite(tests=listed, symbols=list(symbols), action=action, **options)
    rig = replace(made.rig(), test_limit_s=limit) if limit else made.rig()
    return measure_red(rig, suite, base_tree=base, red_tree=red, with_stubs=with_stubs)


def test_skipped_tests_that_a_program_makes_are_the_bases_business(project):
    made_by = (
        "import pytest\n\n\n@pytest.mark.skip(reason='not here')\ndef idle():\n    pass\n\n\n"
        "globals().update({'test_%d' % number: idle for number in range(WANTED)})\n"
    )
    made = project({**BASE, PATH: made_by.replace("WANTED", "2")})
    code = "\n\ndef test_total():\n    from shop.cart import Cart\n\n    cart = Cart()\n    cart.add(3)\n    assert cart.total() == 3\n"
    for wanted, held in (("2", True), ("3", False)):
        text = made_by.replace("WANTED", wanted) + code
        facts, _ = _measure(made, text, tests={"test_total": "target"}, with_stubs=False)
        assert facts["right_reason"] is held, facts["tests"]


def test_inherited_tests_that_fail_at_the_base_are_the_bases_business(project):
    inherited = (
        "class Checks:\n    length = 5\n\n    def test_length(self):\n        assert len('abcde') == self.length\n\n\n"
        "class TestShort(Checks):\n    length = 4\n"
    )
    made = project({**BASE, "pytest.ini": "[pytest]\n", PATH: inherited})
    code = "\n\ndef test_total():\n    from shop.cart import Cart\n\n    cart = Cart()\n    cart.add(3)\n    assert cart.total() == 3\n"
    more = "\n\nclass TestLong(Checks):\n    length = 6\n"
    for text, failing in ((inherited + code, []), (inherited + more + code, ["TestLong"])):
        facts, _ = _measure(made, text, tests={"test_total": "target"}, with_stubs=False)
        ids = [one["id"].split("::")[1] for one in facts["tests"] if one["kind"] == "target"]
        assert ids == [*failing, "test_total"], facts["tests"]


PLUGIN = """\
import pytest


class Status(pytest.Item):
    def runtest(self):
        raise AssertionError("status 1")


def pytest_collection_modifyitems(items):
    modules = {item.getparent(pytest.Module) for item in items}
    items.extend(Status.from_parent(one, name="lint-status") for one in modules)
"""


def test_what_a_plug_in_adds_to_a_new_file_is_no_test_of_red(project):
    code = "def test_total():\n    from shop.cart import Cart\n\n    cart = Cart()\n    cart.add(3)\n    assert cart.total() == 3\n"
    facts, _ = _measure(project({**BASE, "tests/conftest.py": PLUGIN}), code, tests={"test_total": "target"})
    assert [one["id"] for one in facts["tests"]] == [f"{PATH}::test_total"]
    assert facts["right_reason"] and facts["undeclared"] == [], facts


STARTING = {
    "shop/__init__.py": "from shop.start import sizes\n\nFIRST = sizes()['small'][0]\n",
    "shop/start.py": "def sizes():\n    return {'small': (1, 2)}\n",
    "tests/conftest.py": "import shop\n\nassert shop.FIRST\n",
    "tests/test_old.py": "from shop.start import sizes\n\n\ndef test_sizes():\n    assert 'small' in sizes()\n",
}
SIZES = {
    "name": "sizes",
    "file": "shop/start.py",
    "kind": "function",
    "signature": "sizes() -> dict",
    "change": "changed",
}
LARGE = "from shop.start import sizes\n\n\ndef test_large():\n    assert sizes().get('large') == (8, 9)\n"


def test_stubs_that_the_project_itself_cannot_be_imported_with_refuse_no_test(project):
    facts, _ = _measure(project(STARTING), LARGE, tests={"test_large": "target"}, symbols=(SIZES,))
    assert facts["controls"]["stubs"] == "none can be loaded"


def test_a_test_that_ends_its_runner_where_a_stub_is_does_not_pass_for_that(project):
    code = LARGE.replace("\n\n\ndef", "\n\nif not sizes().get('small'):\n    __import__('os')._exit(0)\n\n\ndef", 1)
    made = project({**STARTING, "shop/__init__.py": "", "tests/conftest.py": ""})
    facts, _ = _measure(made, code, tests={"test_large": "target"}, symbols=(SIZES,))
    controls = facts["controls"]
    assert controls["stubs"] is not False or "came to results" in controls["stubs_ended"]
    assert controls["stubs"] != "none can be loaded"


def test_a_file_that_no_stub_can_load_has_the_tests_of_its_source(project):
    code = "from shop.text import SIZES\n\nFIRST = SIZES[0] + len(SIZES[1])\n\n\ndef test_sizes():\n    assert FIRST == 3\n"
    symbol = {"name": "SIZES", "file": "shop/text.py", "kind": "constant", "signature": "", "change": "new"}
    facts, _ = _measure(project(BASE), code, tests={"test_sizes": "target"}, symbols=(symbol,))
    assert (facts["declared_missing"], facts["all_tests_fail"]) == ([], True), facts


def test_what_was_measured_before_is_judged_again_in_no_time(project, tmp_path):
    """RED with its five stubs, 50 ms of CPU at most; whatever was executed comes out of the cache."""
    made = project(BASE)
    code = "from shop.cart import Cart\n\n\ndef test_total():\n    cart = Cart()\n    cart.add(3)\n    assert cart.total() == 3\n"
    base, red = made.tree(), made.tree({PATH: code})
    suite = Suite(tests=[{"path": PATH, "name": "test_total", "kind": "target"}], symbols=[TOTAL])
    rig = made.rig(cache=ResultCache(tmp_path / "results"))
    first = measure_red(rig, suite, base_tree=base, red_tree=red)
    assert first[0]["all_tests_fail"] and first[0]["stubs_run"] == 5
    spent = []
    for _ in range(5):
        began = _cpu_s()
        again = measure_red(rig, suite, base_tree=base, red_tree=red)
        spent.append(_cpu_s() - began)
        assert again == first
    assert min(spent) < 0.05


def _cpu_s():
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def test_an_honest_suite_of_targets_and_guards_is_red_for_the_right_reason(project):
    code = """
from shop.cart import Cart
def test_total():
    cart = Cart(); cart.add(3); cart.add(4)
    assert cart.total() == 7
def test_total_of_nothing(): assert Cart().total() == 0
def test_add_keeps_items():
    cart = Cart(); cart.add(3)
    assert cart.items == [3]
"""
    tests = {"test_total": "target", "test_total_of_nothing": "target", "test_add_keeps_items": "guard"}
    facts, evidence = _measure(project(BASE), code, tests=tests)
    assert {
        one["id"].partition("::")[2]: (one["kind"], one["outcome"], one["right_reason"]) for one in facts["tests"]
    } == {
        "test_total": ("target", "failed", True),
        "test_total_of_nothing": ("target", "failed", True),
        "test_add_keeps_items": ("guard", "passed", True),
    }
    assert (
        facts["all_tests_fail"] and facts["guards_pass"] and facts["right_reason"] and facts["no_implementation_exists"]
    )
    assert (facts["stub_survivors"], facts["stubs_run"], facts["declared_missing"], facts["undeclared"]) == (
        [],
        5,
        [],
        [],
    )
    assert facts["controls"]["held"] and facts["controls"]["stubs"]
    assert set(facts["frozen"]) == {f"{PATH}::{name}" for name in tests} and list(facts["frozen_files"]) == [PATH]
    assert evidence["stubs"]["empty"] == [f"{PATH}::test_total_of_nothing"]  # the guards have nothing to show there


def test_tests_of_a_module_that_does_not_exist_yet_are_known_by_id(project):
    code = "from shop.text import slugify\nimport pytest\n@pytest.mark.parametrize('a,b', [('A b', 'a-b'), ('X', 'x')])\ndef test_slug(a, b): assert slugify(a) == b\n"
    facts, _ = _measure(project(BASE), code, tests={"test_slug": "target"}, symbols=(SLUG,))
    assert [one["id"] for one in facts["tests"]] == [f"{PATH}::test_slug[A b-a-b]", f"{PATH}::test_slug[X-x]"]
    assert all(one["right_reason"] and one["outcome"] == "error" for one in facts["tests"])
    assert (
        facts["all_tests_fail"]
        and facts["right_reason"]
        and facts["stub_survivors"] == []
        and facts["controls"]["stubs"]
    )
    assert facts["collection_errors"][0]["reason"] == "ModuleNotFoundError about slugify, which is declared new"


def test_vacuous_tests_survive_a_stub_and_are_named(project):
    code = """
from shop.text import slugify
def test_type(): assert isinstance(slugify("a"), str)
def test_calls(): slugify("a")
def test_swallows():
    try: assert slugify("A") == "a"
    except Exception: pass
def test_real(): assert slugify("A b") == "a-b"
"""
    names = ("test_type", "test_calls", "test_swallows", "test_real")
    facts, _ = _measure(project(BASE), code, tests=dict.fromkeys(names, "target"), symbols=(SLUG,))
    survived = {one["id"].partition("::")[2] for one in facts["stub_survivors"]}
    assert survived == {"test_calls", "test_swallows"}
    noticed = {one["id"].partition("::")[2] for one in facts["stubs_noticed"]}
    assert noticed == {"test_type"}  # it asserts little, and another test refuses each stub that it accepts
    alone, _ = _measure(
        project(BASE), code.partition("def test_calls")[0], tests={"test_type": "target"}, symbols=(SLUG,)
    )
    assert {one["id"].partition("::")[2] for one in alone["stub_survivors"]} == {"test_type"}


def test_a_test_of_arguments_that_stay_is_seen_to_fail_where_they_are_changed(project):
    code = """
from shop.text import ordered
ROWS = [{"due": 2}, {"due": 1}]
class Box:
    def __init__(self): self.rows = [2, 1]
def test_order(): assert ordered(ROWS) == [{"due": 1}, {"due": 2}]
def test_rows_stay():
    before = [dict(row) for row in ROWS]
    ordered(ROWS)
    assert ROWS == before
def test_nothing_is_written(tmp_path):
    ordered(tmp_path / "rows.txt")
    assert list(tmp_path.iterdir()) == []
def test_box_stays():
    box = Box()
    ordered(box)
    assert box.rows == [2, 1]
def test_calls(): ordered([2, 1])
"""
    symbol = {**SLUG, "name": "ordered", "signature": "def ordered(rows: list) -> list"}
    names = ("test_order", "test_rows_stay", "test_box_stays", "test_calls", "test_nothing_is_written")
    facts, _ = _measure(project(BASE), code, tests=dict.fromkeys(names, "target"), symbols=(symbol,))
    assert {one["id"].partition("::")[2] for one in facts["stub_survivors"]} == {"test_calls"}
    assert {one["id"].partition("::")[2] for one in facts["stubs_noticed"]} == {
        "test_rows_stay", "test_box_stays", "test_nothing_is_written",
    }  # fmt: skip
    lines = [line for line in code.splitlines() if "test_order" not in line and "test_calls" not in line]
    alone, _ = _measure(project(BASE), "\n".join(lines), tests=dict.fromkeys(names[1:3], "target"), symbols=(symbol,))
    assert {one["id"].partition("::")[2] for one in alone["stub_survivors"]} >= set(names[1:3])


def test_what_a_test_waits_for_in_vain_from_a_stub_is_no_mistake_of_the_test(project):
    code = """
import asyncio
from shop.text import work
def test_handler_is_called_and_what_it_raises_goes_on():
    async def scenario():
        started = asyncio.Event()
        async def handler():
            started.set()
            raise ValueError
        running = asyncio.create_task(work(handler))
        await started.wait()
        return await asyncio.gather(running, return_exceptions=True)
    assert [type(one) for one in asyncio.run(scenario())] == [ValueError]
"""
    symbol = {**SLUG, "name": "work", "signature": "async def work(handler)", "change": "changed"}
    texts = {
        **BASE,
        "shop/text.py": "async def work(handler):\n    try:\n        await handler()\n    except ValueError:\n        pass\n",
    }
    made = project(texts)
    name = "test_handler_is_called_and_what_it_raises_goes_on"
    facts, _ = _measure(made, code, tests={name: "target"}, symbols=(symbol,), limit=1.0)
    assert facts["right_reason"] and facts["stub_survivors"] == [], facts["tests"]


def test_a_constant_that_satisfies_every_target_is_a_survivor(project):
    even = {
        "name": "is_even",
        "file": "shop/text.py",
        "kind": "function",
        "signature": "def is_even(n: int) -> bool",
        "change": "new",
    }
    code = "from shop.text import is_even\ndef test_even(): assert is_even(2)\n"
    facts, _ = _measure(project(BASE), code, tests={"test_even": "target"}, symbols=(even,))
    assert facts["stub_survivors"] == [{"stub": "other", "id": f"{PATH}::test_even"}]


def test_broken_tests_are_not_red_and_the_sentence_says_what_to_do(project):
    code = """
from shop.cart import Cart
def test_passes(): assert Cart().items == []
def test_name(): assert Cart().total() == totl
def test_typo():
    from shop.text import slugfy
def test_fixture(nofixture): assert Cart().total() == 0
def test_key(): assert {}["x"] == Cart().total()
def test_attribute(): assert Cart().totals() == 0
def test_twice(): assert Cart().total() == 1
def test_twice(): assert Cart().total() == 2
"""
    names = (
        "test_passes",
        "test_name",
        "test_typo",
        "test_fixture",
        "test_key",
        "test_attribute",
        "test_twice",
        "test_gone",
    )
    extra = {"shop/other.py": "x = 1\n", "tests/helper.py": "x = 1\n"}
    facts, _ = _measure(project(BASE), code, tests=dict.fromkeys(names, "target"), symbols=(TOTAL, SLUG), extra=extra)
    reasons = {one["id"].partition("::")[2]: one["reason"] for one in facts["tests"] if not one["right_reason"]}
    assert facts["turned_guard"] == ["tests/test_new.py::test_passes"]
    assert set(reasons) == {"test_typo", "test_fixture", "test_key", "test_attribute"}
    assert "does not declare" in reasons["test_typo"]
    assert reasons["test_fixture"].startswith("asks for a fixture that does not exist")
    assert reasons["test_key"].startswith("fails with KeyError at tests/test_new.py:8")
    assert reasons["test_attribute"].endswith("did you mean total?")
    assert not facts["right_reason"] and not facts["no_implementation_exists"]
    assert facts["declared_missing"] == [f"{PATH}::test_gone"]
    assert facts["duplicates"] == [f"{PATH}::test_twice"]
    assert facts["product_changed"] == ["shop/other.py"]


def test_an_undeclared_test_file_beside_a_declared_one_is_no_product(project):
    """Go keeps tests beside the product: a row of a table in another test file may change without a test that is declared."""
    suite = Suite(tests=[{"path": "kit/sql_test.go", "name": "TestScan"}])
    own = ("kit/sql_test.go", "kit/json_test.go", "kit/sql.go", "other/json_test.go")
    assert [is_tests_own(path, suite) for path in own] == [True, True, False, False]
    assert is_tests_own("other/test_old.py", Suite(tests=suite.tests, superseded=("other/test_old.py::test_a",)))


def test_a_file_that_cannot_be_parsed_or_imports_a_typo_is_refused(project):
    facts, _ = _measure(
        project(BASE), "from shop.cart import Crat\ndef test_a(): assert 0\n", tests={"test_a": "target"}
    )
    assert not facts["all_tests_fail"] and facts["declared_missing"] == [f"{PATH}::test_a"]
    assert (
        "needs 'Crat' at tests/test_new.py:1, which the specification does not declare"
        in facts["collection_errors"][0]["reason"]
    )


def test_mistakes_that_the_missing_symbol_hides_come_to_light_under_the_stubs(project):
    code = "def test_typo():\n    from shop.text import slugfy\ndef test_name():\n    from shop.text import slugify\n    assert slugify('A') == exepcted\n"
    facts, _ = _measure(project(BASE), code, tests={"test_typo": "target", "test_name": "target"}, symbols=(SLUG,))
    reasons = [one["reason"] for one in facts["tests"] if not one["right_reason"]]
    assert reasons[0].startswith("uses the undefined name 'exepcted'")
    assert "'slugfy'" in reasons[1] and reasons[1].endswith("did you mean slugify?")


@pytest.mark.parametrize("action", ["create", "fix", "modify"])
def test_a_crash_in_the_file_to_be_changed_is_the_right_reason(project, action):
    code = "from shop.cart import Cart\ndef test_add_text():\n    cart = Cart(); cart.items = None\n    cart.add('1')\n    assert cart.items\n"
    crash = {"name": "Cart.add", "file": "shop/cart.py", "kind": "method", "signature": "", "change": "changed"}
    made = project(BASE)
    facts, _ = _measure(
        made, code, tests={"test_add_text": "target"}, symbols=(crash,), action=action, modified=("shop/cart.py",)
    )
    assert facts["right_reason"] and facts["all_tests_fail"]


def test_guards_alone_are_enough_for_a_refactoring(project):
    code = "from shop.cart import Cart\ndef test_add():\n    cart = Cart(); cart.add(1)\n    assert cart.items == [1]\n"
    facts, _ = _measure(project(BASE), code, tests={"test_add": "guard"}, symbols=(), action="refactor")
    assert facts["guards_pass"] and facts["right_reason"] and facts["all_tests_fail"]
    assert facts["stub_note"].endswith("no stub controls")


def test_guards_of_a_changed_symbol_need_no_stub_controls(project):
    code = "from shop.cart import Cart\ndef test_add():\n    cart = Cart(); cart.add(1)\n    assert cart.items == [1]\n"
    moved = {"name": "Cart.add", "file": "shop/cart.py", "kind": "method", "change": "changed"}
    facts, _ = _measure(project(BASE), code, tests={"test_add": "guard"}, symbols=(moved,), action="refactor")
    assert facts["guards_pass"] and facts["right_reason"] and facts["controls"]["stubs"] == "not needed"


def test_a_symbol_that_exists_already_is_said(project):
    there = {"name": "Cart.add", "file": "shop/cart.py", "kind": "method", "change": "new"}
    facts, _ = _measure(
        project(BASE), "def test_a(): assert 0\n", tests={"test_a": "target"}, symbols=(there,), with_stubs=False
    )
    assert facts["already_there"] == ["Cart.add"] and not facts["no_implementation_exists"]


def test_an_assertion_of_the_projects_own_test_support_is_an_assertion_of_the_test(project):
    support = "import unittest\nclass Case(unittest.TestCase):\n    def check(self, a, b): self.assertEqual(a, b)\n"
    code = """
from shop.cart import Cart
from shop.test_tools import Case
class TestCart(Case):
    def test_len(self):
        cart = Cart(); cart.add(3)
        self.check(len(cart.items), 2)
"""
    made = project({**BASE, "shop/test_tools.py": support})
    facts, _ = _measure(made, code, tests={"TestCart::test_len": "target"}, symbols=(), action="modify")
    assert [one["right_reason"] for one in facts["tests"]] == [True]


def test_existing_tests_of_a_file_that_red_adds_to_are_neither_targets_nor_in_the_way(project):
    old = "def test_old(): assert 1 + 1 == 2\ndef test_known_bad(): assert 1 + 1 == 3\n"
    code = old + (
        "def test_total():\n    from shop.cart import Cart\n"
        "    cart = Cart(); cart.add(3); cart.add(4)\n    assert cart.total() == 7\n"
    )
    facts, _ = _measure(project({**BASE, PATH: old}), code, tests={"test_total": "target"})
    assert [one["id"].partition("::")[2] for one in facts["tests"]] == ["test_total"]
    assert facts["all_tests_fail"] and facts["right_reason"] and facts["guards_pass"]


def test_a_stub_that_loops_for_ever_is_stopped_soon_and_satisfies_nothing(project):
    base = {"shop/__init__.py": "", "shop/q.py": "def step(queue):\n    queue.pop()\n\n\ndef drain(queue):\n    while queue:\n        step(queue)\n    return 0\n"}  # fmt: skip
    code = "from shop.q import drain\ndef test_count(): assert drain([1, 2]) == 2\n"
    symbol = {"name": "step", "file": "shop/q.py", "kind": "function", "signature": "step(queue)", "change": "changed"}
    made = project(base)
    first, red = made.tree(), made.tree({PATH: code})
    suite = Suite(tests=[{"path": PATH, "name": "test_count", "kind": "target"}], symbols=[symbol], action="modify")
    facts, _ = measure_red(made.rig(test_limit_s=0.5), suite, base_tree=first, red_tree=red)
    assert facts["controls"]["stubs"] is True and facts["stub_survivors"] == []


ROWS = "import pytest\nfrom shop.cart import Cart\n\n\n@pytest.mark.parametrize('price', [1, 2])\ndef test_add(price):\n    cart = Cart()\n    cart.add(price)\n    assert sum(cart.items) == price\n\n\ndef test_empty():\n    assert Cart().items == []\n"


def test_an_existing_test_that_is_changed_or_gone_is_named_at_once_and_more_rows_are_no_change(project):
    made = project({**BASE, PATH: ROWS})
    more = ROWS.replace("[1, 2]", "[1, 2, '3']").replace("assert Cart().items", "assert list(Cart().items)")
    suite = [{"path": PATH, "name": "test_add[3]", "kind": "target"}]
    base, red = made.tree(), made.tree({PATH: more})
    changed = {"name": "Cart.add", "file": "shop/cart.py", "kind": "method", "change": "changed"}
    given = Suite(tests=suite, symbols=[changed], action="modify", modified=["shop/cart.py"])
    facts, _ = measure_red(made.rig(), given, base_tree=base, red_tree=red, with_stubs=False)
    assert facts["existing_changed"] == [{"id": f"{PATH}::test_empty", "text": "was changed"}]
    kinds = {one["id"].partition("::")[2]: one["kind"] for one in facts["tests"]}
    assert kinds == {"test_add[1]": "guard", "test_add[2]": "guard", "test_add[3]": "target", "test_empty": "guard"}
    assert facts["declared_missing"] == []
    ended = Suite(tests=suite, symbols=[changed], action="modify", superseded=[f"{PATH}::test_empty"])
    facts, _ = measure_red(made.rig(), ended, base_tree=base, red_tree=red, with_stubs=False)
    assert facts["existing_changed"] == []


def test_a_new_method_of_a_changed_class_has_a_stub_too(project):
    code = "from shop.cart import Cart\ndef test_type(): assert isinstance(Cart().total(), int)\ndef test_total(): assert Cart().total() == 7\n"
    changed = {"name": "Cart", "file": "shop/cart.py", "kind": "class", "signature": "class Cart", "change": "changed"}
    total = {**TOTAL, "name": "Cart.total"}
    tests = {"test_type": "target", "test_total": "target"}
    facts, _ = _measure(project(BASE), code, tests=tests, symbols=(changed, total))
    assert {one["id"].partition("::")[2] for one in facts["stubs_noticed"]} == {"test_type"}
