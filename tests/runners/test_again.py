"""Assertions that pass only under the test runner, or only because an object lies, do not hold outside of it."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.rerun_assertions import assertions_of, repeat_assertions

TESTS = "from kit import slug\n\n\ndef test_words():\n    assert slug('A B') == 'a-b'\n\n\ndef test_nothing():\n    assert slug('') == ''\n"
RIGHT = '"-".join(text.lower().split())'


@pytest.fixture(scope="module")
def repeated(project):
    """Repeat the assertions of the suite on an implementation."""
    made = project({"kit.py": "", "tests/test_kit.py": TESTS})

    def repeat(source, **files):
        tree = made.tree({"kit.py": source, **files})
        rig = made.rig()
        return repeat_assertions(rig, tree, assertions_of(rig, tree, ["tests/test_kit.py"]), seed=1)

    return repeat


@pytest.mark.parametrize(
    "source",
    [
        f"def slug(text): return {RIGHT}\n",
        f"import enum\nclass Word(str, enum.Enum):\n    ONE = 'a-b'\n    TWO = ''\ndef slug(text): return Word({RIGHT})\n",
        f"class Text(str): pass\ndef slug(text): return Text({RIGHT})\n",
        f"class Text:\n    def __init__(self, text): self.text = text\n    def __eq__(self, other): return self.text == other\n"
        f"def slug(text): return Text({RIGHT})\n",
    ],
    ids=["plain", "enumeration", "subclass", "own equality"],
)
def test_honest_results_hold_outside_the_runner(repeated, source):
    assert repeated(source) == ()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "class Any:\n    def __eq__(self, other): return True\ndef slug(text): return Any()\n",
            "says it equals anything",
        ),
        (
            "class Any(str):\n    def __eq__(self, other): return True\ndef slug(text): return Any()\n",
            "is another value",
        ),
        (f"import sys\ndef slug(text): return {RIGHT} if '_pytest' in sys.modules else 'no'\n", "it is 'no'"),
        ("import sys\ndef slug(text): return sys._getframe(1).f_locals['want']\n", "it raises KeyError"),
        (
            "import random\nchance = random.random()\ndef slug(text): return str(chance) if text else ''\n",
            "is another value",
        ),
        ("import os\ndef slug(text): os._exit(0)\n", "the process ended"),
    ],
    ids=["always equal", "always equal str", "runner", "frame", "chance", "exit"],
)
def test_what_holds_only_under_the_runner_is_told(repeated, source, said):
    assert said in " ".join(repeated(source))
