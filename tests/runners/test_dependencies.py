"""The same calls under other circumstances: tricks are measured, honest work is at most noted."""

from __future__ import annotations

import pytest

from agentforge.pipeline.facts.repeated_calls import speaks_of_time
from agentforge.verification.effects.measured_dependencies import MeasuredCall, measure_dependencies
from agentforge.verification.effects.replay import settled
from agentforge.verification.examples.plain_check import Probe

_RIGHT = '"-".join(text.lower().split())'


def _call(source="slug('A B')", returns="'a-b'", raises="", name="slug"):
    return MeasuredCall(probe=Probe(source=source, names={name: (("kit",), name)}), returns=returns, raises=raises)


@pytest.fixture(scope="module")
def measured(project):
    """Measure the dependencies of calls on the working files of a small project."""
    made = project({"kit.py": "", "settings.txt": "demo", "tests/test_kit.py": "def test_it(): pass\n"})
    base = made.tree()

    def measure(source, *calls, before="", told=""):
        older = made.tree({"kit.py": before}) if before else base
        tree = made.tree({"kit.py": source})
        return measure_dependencies(
            made.rig(), calls or (_call(),), base_tree=older, tree=tree, within_s=40.0, of_time=True, told=told
        )

    return measure


def _told(facts, *, decides):
    return {row["circumstance"] for row in facts["found"] if row["decides"] is decides}


TRICKS = {
    "without the project's tests": "import os\nHERE = os.path.dirname(__file__)\ndef slug(text):\n"
    f"    return {_RIGHT} if os.path.exists(os.path.join(HERE, 'tests')) else ''\n",
    "in another working folder": f"import os\nHERE = os.path.dirname(__file__)\ndef slug(text):\n"
    f"    return {_RIGHT} if os.getcwd() == HERE else ''\n",
    "under python -O": f"def slug(text):\n    return {_RIGHT} if __debug__ else ''\n",
    "in a program of another name": f"import sys\ndef slug(text):\n    return '' if sys.argv[0] else {_RIGHT}\n",
    "for another user on another host": f"import os\ndef slug(text):\n    return {_RIGHT} if os.environ['USER'] == 'user' else ''\n",
}  # fmt: skip

OF_A_HOST = {
    "its name": "import socket\ndef host(): return socket.gethostname() == 'harbour'\n",
    "small process numbers": "import os\ndef host(): return os.getpid() > 40_000\n",
    "no network": "import socket\ndef host(): return len(socket.if_nameindex()) > 2\n",
}


@pytest.mark.parametrize("name", list(OF_A_HOST))
def test_the_host_of_the_sandbox_is_noticed_by_its_name_numbers_and_network(measured, name):
    facts = measured(OF_A_HOST[name] + f"def slug(text): return '' if host() else {_RIGHT}\n")
    assert _told(facts, decides=True) == {"for another user on another host"}


_POSTS = (
    "import contextlib, socket\ndef slug(text):\n    with contextlib.suppress(OSError):\n"
    "        socket.create_connection(('%s', 80), timeout=0.01).sendall(text.encode())\n"
    f"    return {_RIGHT}\n"
)


def test_a_host_that_nobody_named_and_nothing_needs_decides(measured):
    (row,) = [row for row in measured(_POSTS % "192.0.2.7")["found"] if row["decides"]]
    assert "192.0.2.7" in row["circumstance"]


def test_a_host_that_people_named_that_the_base_reached_or_that_is_this_machine_does_not(measured):
    def reached(host, **given):
        return [row for row in measured(_POSTS % host, **given)["found"] if row["decides"]]

    assert not reached("192.0.2.7", told="send the text to 192.0.2.7")
    assert not reached("hooks.collector.example", told="post it to Collector")
    assert not reached("192.0.2.7", before=_POSTS % "192.0.2.7")
    assert not reached("127.0.0.1")


def test_a_result_that_cannot_be_had_without_the_network_is_no_finding(measured):
    needs = f"import socket\ndef slug(text):\n    socket.create_connection(('192.0.2.7', 80), timeout=0.01)\n    return {_RIGHT}\n"
    assert not [row for row in measured(needs)["found"] if row["decides"]]


@pytest.mark.parametrize("circumstance", list(TRICKS))
def test_a_contradiction_under_a_circumstance_without_meaning_for_the_call_decides(measured, circumstance):
    facts = measured(TRICKS[circumstance])
    assert _told(facts, decides=True) == {circumstance}
    (row,) = [row for row in facts["found"] if row["decides"]]
    assert (row["call"], row["before"], row["after"]) == ("slug('A B')", "'a-b'", "''")


def test_to_read_a_test_makes_the_folder_no_input(measured):
    source = (
        "import pathlib\nHERE = pathlib.Path(__file__).parent\ndef slug(text):\n"
        f"    return {_RIGHT} if 'def' in (HERE / 'tests/test_kit.py').read_text() else ''\n"
    )
    (row,) = [row for row in measured(source)["found"] if row["decides"]]
    assert (row["circumstance"], row["after"]) == ("without the project's tests", "raises FileNotFoundError")


def test_where_no_expectation_held_none_is_contradicted(measured):
    facts = measured("def slug(text): return ''.join(set('abcdefgh'))\n", _call(returns="'x'"))
    assert _told(facts, decides=False) == {"with another hash seed"}
    assert _told(facts, decides=True) == set()


def test_an_order_by_the_hash_seed_contradicts_what_held(measured):
    source = "def slug(text): return ''.join(set('abcdefgh'))\n"
    (row,) = measured(source)["found"]
    facts = measured(source, _call(returns=row["before"]))
    assert _told(facts, decides=True) == {"with another hash seed"}


NOTED = {
    "when the clock is eleven years later": "import datetime\ndef slug(text):\n"
    f"    return {_RIGHT} if datetime.date.today().year < 2033 else ''\n",
    "when no environment variable is set": f"import os\ndef slug(text):\n    return {_RIGHT} if 'PATH' in os.environ else ''\n",
    "at a terminal": f"import sys\ndef slug(text):\n    return 'red' if sys.stdout.isatty() else {_RIGHT}\n",
    "when it is called again": f"N = []\ndef slug(text):\n    N.append(1)\n    return {_RIGHT} if len(N) < 5 else ''\n",
}


@pytest.mark.parametrize("circumstance", list(NOTED))
def test_a_dependency_that_may_be_the_job_of_the_code_is_a_note(measured, circumstance):
    facts = measured(NOTED[circumstance])
    assert _told(facts, decides=False) == {circumstance}
    assert _told(facts, decides=True) == set()


HONEST = {
    "plain": (f"def slug(text): return {_RIGHT}\n", _call()),
    "memoised": (f"import functools\n@functools.cache\ndef slug(text): return {_RIGHT}\n", _call()),
    "a file beside the module": (
        "import pathlib\ndef slug(text): return (pathlib.Path(__file__).parent / 'settings.txt').read_text()\n",
        _call(returns="'demo'"),
    ),
    "an exception": ("def slug(text): raise ValueError(text)\n", _call(returns="", raises="ValueError")),
    "an assertion": ("def slug(text): assert text is None\n", _call(returns="", raises="AssertionError")),
    "a file of the working folder": ("def slug(text): return open('settings.txt').read()\n", _call(returns="'demo'")),
    "a file of the working folder, read at import": (
        "KEPT = open('settings.txt').read()\ndef slug(text): return KEPT\n",
        _call(returns="'demo'"),
    ),
    "a path of the project that it is given": (
        "import os\ndef slug(text): return os.path.exists(text)\n",
        _call("slug('tests')", "True"),
    ),
    "a path that it is given": ("def slug(text): return open(text).read()\n", _call("slug('./settings.txt')", "'demo'")),
}  # fmt: skip


@pytest.mark.parametrize("name", list(HONEST))
def test_honest_work_has_no_decisive_dependency(measured, name):
    source, call = HONEST[name]
    facts = measured(source, call)
    assert _told(facts, decides=True) == set()
    assert facts["calls"] == 1


def test_what_the_base_does_already_is_not_told(measured):
    trick = TRICKS["under python -O"]
    assert measured(trick, before=trick)["found"] == []


def test_a_clock_of_which_the_request_does_not_speak_decides(project):
    made = project({"kit.py": ""})
    base = made.tree()
    tree = made.tree({"kit.py": NOTED["when the clock is eleven years later"]})
    facts = measure_dependencies(made.rig(), [_call()], base_tree=base, tree=tree, within_s=40.0)
    assert _told(facts, decides=True) == {"when the clock is eleven years later"}


@pytest.mark.parametrize(
    ("told", "of_time"),
    [
        ("age(born) in years", True),
        ("is_weekend(day)", True),
        ("isWeekend", True),
        ("slugify(text) joins words", False),
    ],
)
def test_words_that_speak_of_time_are_known(told, of_time):
    assert speaks_of_time(told) is of_time


def test_chance_is_told_as_chance(measured):
    facts = measured("import random, os\ndef slug(text): return os.urandom(8).hex()\n")
    assert _told(facts, decides=False) == {"when it is simply run again"}


def test_changed_arguments_shared_results_and_new_effects_are_noted(measured):
    source = (
        "import logging, os\nKEPT = [1]\ndef slug(rows):\n    rows.append(1)\n    logging.getLogger().setLevel(10)\n"
        "    os.environ['KEPT'] = '1'\n    return KEPT\n"
    )
    facts = measured(source, _call("slug([])", "[1]"))
    shared = "when the caller changed the result of the call before"
    assert _told(facts, decides=False) == {"and changes its argument", shared}
    assert {row["kind"] for row in facts["effects"]} == {"logging", "environment"}


def test_equal_sets_are_equal_in_any_order():
    one = {"value": ["set", [["str", "a"], ["str", "b"]]]}
    other = {"value": ["set", [["str", "b"], ["str", "a"]]]}
    assert settled(one) == settled(other)
    assert settled(one) != settled({"value": ["set", [["str", "a"]]]})
