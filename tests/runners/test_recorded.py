"""Calls that tests were seen to make: how they are written down, repeated, and compared with the base."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.suite.test_environment import run_tree
from agentforge.testing.coverage import traced_of
from agentforge.verification.effects.measured_dependencies import measure_dependencies
from agentforge.verification.effects.recorded_calls import recorded_calls
from agentforge.verification.source.out_of_scope_changes import RequestedScope, out_of_scope_results

_CART = """\
class Cart:
    def __init__(self, prices):
        self.prices = prices

    def total(self, factor=1, *more, rounded=False, **names):
        return sum(self.prices) * factor
"""
_TESTS = """\
import pytest
from shop import Cart, listed, slug

class Own:
    pass

@pytest.fixture
def cart():
    return Cart([2, 3])

def test_total(cart):
    assert cart.total(2, 7, rounded=True, unit="EUR") == 10

def test_slug():
    for text in ("A B", "A B", "C"):
        assert slug(text).islower()

def test_listed():
    assert listed(Own()) and listed([1.5, {"a": b"x"}])
"""
_REST = "def slug(text):\n    return '-'.join(text.lower().split())\n\ndef listed(value):\n    return [value]\n"


@pytest.fixture(scope="module")
def shop(project):
    return project({"shop.py": _CART + _REST, "tests/test_shop.py": _TESTS})


def _recorded(made, tree):
    run = run_tree(made.rig(), tree, trace=True, traced_files=("shop.py",), calls=True)
    assert run.failing_ids == ()
    return traced_of(run).calls


def test_calls_of_functions_and_of_methods_whose_object_can_be_pickled_are_written_down_once(shop):
    rows = _recorded(shop, shop.tree({"shop.py": _CART + _REST}))
    told = {row["told"]: row["returns"] for row in rows}
    assert told == {
        "Cart.total(<Cart>, 2, 7, rounded=True, unit='EUR')": "10",
        "slug('A B')": "'a-b'",
        "slug('C')": "'c'",
        "listed([1.5, {'a': b'x'}])": "[[1.5, {'a': b'x'}]]",
    }


def test_a_run_that_records_every_file_writes_no_call_down(shop):
    assert traced_of(run_tree(shop.rig(), shop.tree(), trace=True)).calls == ()


def test_only_calls_of_new_and_changed_functions_are_repeated(shop):
    base = shop.tree({"shop.py": _CART + _REST})
    tree = shop.tree({"shop.py": _CART.replace("* factor", "* factor + 0") + _REST})
    calls = recorded_calls(shop.rig(), _recorded(shop, tree), base_tree=base, tree=tree)
    assert [(one.text, one.returns) for one in calls] == [("Cart.total(<Cart>, 2, 7, rounded=True, unit='EUR')", "10")]


_SNIFFS = {
    "a loaded runner": "'pytest' in sys.modules",
    "its variable": "'PYTEST_CURRENT_TEST' in os.environ",
    "the file that calls": "'test' in sys._getframe(2).f_code.co_filename + sys._getframe(3).f_code.co_filename",
}


def _measured(shop, source, *, before=""):
    base = shop.tree({"shop.py": before or _CART + _REST})
    tree = shop.tree({"shop.py": source})
    calls = recorded_calls(shop.rig(), _recorded(shop, tree), base_tree=base, tree=tree)
    return measure_dependencies(shop.rig(), calls, base_tree=base, tree=tree, within_s=40.0)


def _sniffing(condition):
    return (
        "import os, sys\ndef tested():\n    return " + condition + "\n"
        + _CART.replace("* factor", "* factor if tested() else 0") + _REST
    )  # fmt: skip


@pytest.mark.parametrize("name", list(_SNIFFS))
def test_a_method_that_is_right_under_a_test_runner_alone_is_refused(shop, name):
    facts = _measured(shop, _sniffing(_SNIFFS[name]))
    (row,) = [row for row in facts["found"] if row["decides"] and row["call"].startswith("Cart.total(<Cart>, 2")]
    assert (row["circumstance"], row["before"]) == ("where no test runner is loaded", "10")


def test_a_method_that_sniffed_at_the_base_already_is_not_refused(shop):
    before = _sniffing(_SNIFFS["a loaded runner"])
    facts = _measured(shop, before.replace("else 0", "else  0 + 0"), before=before)
    assert [row for row in facts["found"] if row["decides"]] == []


_HONEST = {
    "a name of the program": "import sys\ndef tested():\n    return sys.argv[0].endswith('pytest')\n",
    "the working folder": "import os\ndef tested():\n    return os.path.exists('tests')\n",
    "a variable that a fixture sets": "import os\ndef tested():\n    return 'HOME' in os.environ\n",
    "the host": "import socket\ndef tested():\n    return socket.gethostname() != 'harbour'\n",
}


@pytest.mark.parametrize("name", list(_HONEST))
def test_what_a_test_saw_is_no_expectation_where_the_circumstance_may_be_an_input(shop, name):
    facts = _measured(shop, _HONEST[name] + _CART.replace("* factor", "* (factor if tested() else 2)") + _REST)
    decisive = {row["circumstance"] for row in facts["found"] if row["decides"]}
    assert decisive <= {"without the project's tests"}


def test_what_wears_out_for_a_method_is_a_note(shop):
    source = "N = []\n" + _CART.replace("return", "N.append(1)\n        return 0 if len(N) > 9 else") + _REST
    found = _measured(shop, source)["found"]
    assert [
        (row["decides"], row["contradicts"]) for row in found if row["circumstance"] == "when it is called again"
    ] == [(False, True)]


def _unasked(shop, source, *, asked, told="", before=_CART + _REST):
    base, tree = shop.tree({"shop.py": before}), shop.tree({"shop.py": source})
    symbols = [Symbol(name=asked, file="shop.py", kind="function")]
    return out_of_scope_results(
        shop.rig(), _recorded(shop, tree), base_tree=base, tree=tree, changed=["shop.py"],
        asked=RequestedScope(symbols=symbols, told=told),
    )  # fmt: skip


_OTHER = _CART + _REST.replace("return [value]", "return [value, value]")


def test_a_function_that_nobody_asked_to_change_may_not_give_another_result(shop):
    (found,) = _unasked(shop, _OTHER, asked="slug")
    assert found == (
        "shop.py: listed([1.5, {'a': b'x'}]) gave [[1.5, {'a': b'x'}]] and gives "
        "[[1.5, {'a': b'x'}], [1.5, {'a': b'x'}]], and nobody spoke of it"
    )


def test_a_function_that_was_asked_for_may_give_another_result(shop):
    assert _unasked(shop, _OTHER, asked="listed") == ()
    assert _unasked(shop, _OTHER, asked="slug", told="listed() must double its value") == ()


def test_a_function_that_reads_what_was_asked_for_may_give_another_result(shop):
    source = _OTHER.replace("return [value, value]", "return [value, slug('X')]")
    assert _unasked(shop, source, asked="slug") == ()


def test_a_value_that_holds_for_a_moment_or_a_checkout_alone_is_no_result_that_changed(shop):
    """What the clock says, or a file that was just written, is the same twice in a row, too."""
    drawn = _CART + f"import os\nNOW = os.stat(__file__).st_mtime_ns\n{_REST}".replace(
        "return [value]", "return [value, NOW]"
    )
    assert _unasked(shop, drawn.replace("'-'.join", "'_'.join"), asked="slug", before=drawn) == ()
    alike = drawn.replace("os.stat(__file__).st_mtime_ns", "8")
    assert _unasked(shop, alike.replace("NOW = 8", "NOW = 9"), asked="slug", before=alike) != ()
