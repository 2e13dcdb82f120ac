"""Tests of the base that end with a name that the request removes or renames: measured, never believed."""

from __future__ import annotations

from agentforge.pipeline.model.scope import vanished_names
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.endings import doctests_of
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

SHOP = "def old(n):\n    return n + 1\n\n\ndef kept(n):\n    return n * 2\n"
RENAMED = SHOP.replace("old", "fresh")
TESTS = "from shop import kept, old\n\n\ndef test_old():\n    assert old(1) == 2\n\n\ndef test_kept():\n    assert kept(2) == 4\n"
OLD, NEW = "tests/test_shop.py", "tests/test_fresh.py"
SYMBOLS = [
    {"name": "old", "file": "shop.py", "kind": "function", "change": "removed"},
    {"name": "fresh", "file": "shop.py", "kind": "function", "signature": "def fresh(n)", "change": "new"},
]
FRESH = "from shop import fresh\n\n\ndef test_fresh():\n    assert fresh(1) == 2\n    assert fresh(4) == 5\n"
WITHOUT = "from shop import kept\n\n\ndef test_kept():\n    assert kept(2) == 4\n"


def _red(made, base, files, *, vanished=("old",)):
    tree = made.tree(files)
    tests = [{"path": NEW, "name": "test_fresh", "kind": "target"}]
    if files.get(OLD):
        tests.append({"path": OLD, "name": "test_kept", "kind": "guard"})
    suite = Suite(tests=tests, symbols=SYMBOLS, modified=("shop.py",), vanished=vanished)
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=tree)
    return tree, facts


def test_a_renamed_function_takes_its_old_test_with_it(project):
    made = project({"shop.py": SHOP, OLD: TESTS})
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    red_tree, red = _red(made, base, {NEW: FRESH, OLD: WITHOUT})
    assert red["right_reason"] and red["existing_changed"] == [] and red["collection_errors"][0]["id"] == NEW
    promise = Promise(red=red, baseline=baseline, scope=("shop.py",), repeats=1, vanished=("old",), gone=("old",))
    facts, _ = measure_green(
        made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"shop.py": RENAMED})
    )
    assert facts["all_tests_pass"] and facts["no_regressions"], facts
    assert facts["superseded"] == [f"{OLD}::test_old"] and facts["belongs_to"] == []


def test_a_test_that_loses_nothing_is_no_less_lost_for_it(project):
    made = project({"shop.py": SHOP, OLD: TESTS})
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    red_tree, red = _red(made, base, {NEW: FRESH, OLD: "import shop\n\n\ndef test_nothing():\n    assert shop\n"})
    assert [row["id"] for row in red["existing_changed"]] == [f"{OLD}::test_kept"]
    broken = RENAMED.replace("n * 2", "n * 3")
    promise = Promise(red=red, baseline=baseline, scope=("shop.py",), repeats=1, vanished=("old",), gone=("old",))
    facts, _ = measure_green(
        made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"shop.py": broken})
    )
    assert facts["missing"] == [f"{OLD}::test_kept"] and facts["superseded"] == [f"{OLD}::test_old"]


def test_red_hears_of_a_file_that_the_change_would_break(project):
    made = project({"shop.py": SHOP, OLD: TESTS})
    _, red = _red(made, made.tree(), {NEW: FRESH})
    stranded = [row for row in red["collection_errors"] if row["id"] == OLD]
    assert not red["right_reason"] and "imports old, which the specification removes" in stranded[0]["reason"]


def test_an_old_test_that_calls_what_is_gone_belongs_to_red(project):
    calls = "import shop\n\n\ndef test_old():\n    assert shop.old(1) == 2\n"
    made = project({"shop.py": SHOP, "tests/test_calls.py": calls})
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    red_tree, red = _red(made, base, {NEW: FRESH})
    assert red["right_reason"], red
    promise = Promise(red=red, baseline=baseline, scope=("shop.py",), repeats=1, vanished=("old",), gone=("old",))
    facts, _ = measure_green(
        made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"shop.py": RENAMED})
    )
    assert not facts["no_regressions"]
    assert [(row["stage"], row["path"]) for row in facts["belongs_to"]] == [("red", "tests/test_calls.py::test_old")]


def test_only_what_people_asked_to_remove_ends_anything():
    spec = {"symbols": SYMBOLS}
    assert vanished_names(spec, "Rename old to fresh.") == ("old",)
    assert vanished_names(spec, "Make it older and fresher.") == ()


_DOC = 'def {0}(n):\n    """Add one.\n\n    >>> {0}(1)\n    2\n    """\n    return n + 1\n\n\n'
_DOCTESTS = {"pytest.ini": "[pytest]\npython_files = *.py\naddopts = --doctest-modules\n"}


def test_the_doctest_of_a_name_goes_with_it_and_no_other_doctest_does(project):
    made = project(
        {**_DOCTESTS, "shop.py": _DOC.format("old") + _DOC.format("kept"), OLD: WITHOUT.replace("== 4", "== 3")}
    )
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    fresh = FRESH.replace("    assert fresh(4) == 5\n", "")
    red_tree, red = _red(made, base, {NEW: fresh}, vanished=("old",))
    promise = Promise(red=red, baseline=baseline, scope=("shop.py",), repeats=1, vanished=("old",), gone=("old",))
    for kept, missing in ((_DOC.format("kept"), []), ("def kept(n):\n    return n + 1\n", ["shop.py::shop.kept"])):
        tree = made.tree({"shop.py": _DOC.format("fresh") + kept})
        facts, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=tree)
        assert facts["superseded"] == ["shop.py::shop.old"] and facts["missing"] == missing, facts


def test_a_doctest_belongs_to_the_names_behind_its_module():
    ids = [
        "src/pkg/shop.py::pkg.shop.old",
        "src/pkg/__init__.py::pkg.A.old",
        "src/old.py::old.f",
        "tests/a.py::a.old",
        "old.py::old",
    ]
    assert doctests_of(ids, ["old"]) == set(ids[:2])
