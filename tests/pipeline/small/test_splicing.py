"""Proves that whole definitions are read out of what a model wrote, and put into their file by the syntax tree."""

from __future__ import annotations

import ast

import pytest

from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.pipeline.small_models.refactoring.splices import Unusable, answer_in, same_code, spliced

SOURCE = '''"""Small things."""

from __future__ import annotations

import re


def first(text: str) -> str:
    """Give the first word."""
    return text.split()[0]


class Stack:
    """Last in, first out."""

    def __init__(self) -> None:
        self.items: list[int] = []

    @property
    def size(self) -> int:
        """How many."""
        return 0


if __name__ == "__main__":
    first("a")
'''
FIRST = Unit(name="first", file="kit.py", module="kit")
SIZE = Unit(name="Stack.size", file="kit.py", kind="method", module="kit")


def put(sample: str, unit: Unit, source: str = SOURCE) -> str:
    return spliced(source, unit, answer_in(sample, unit))


def test_a_function_is_replaced_in_its_place_and_keeps_its_docstring() -> None:
    new = put("Sure!\n```python\ndef first(text: str) -> str:\n    return (text.split() or [''])[0]\n```\nDone.", FIRST)
    assert '    """Give the first word."""\n    return (text.split() or [\'\'])[0]\n' in new
    assert new.index("def first") < new.index("class Stack") < new.index("__main__")
    assert new.count("def first") == 1


def test_a_method_is_replaced_inside_its_class_with_its_decorators() -> None:
    new = put("def size(self) -> int:\n    return len(self.items)", SIZE)
    assert "    @property\n    def size(self) -> int:\n" in new
    assert '        """How many."""\n        return len(self.items)\n' in new


def test_a_method_is_taken_out_of_a_class_that_was_written_around_it() -> None:
    new = put("class Stack:\n    def size(self):\n        return len(self.items)\n", SIZE)
    assert "        return len(self.items)" in new
    assert new.count("class Stack") == 1


def test_new_things_stand_before_the_main_block_and_new_methods_in_their_class() -> None:
    new = put(
        "def last(text):\n    return text.split()[-1]", Unit(name="last", file="kit.py", change="new", module="kit")
    )
    assert new.index("class Stack") < new.index("def last") < new.index("__main__")
    unit = Unit(name="Stack.peek", file="kit.py", kind="method", change="new", module="kit")
    new = put("def peek(self):\n    return self.items[-1]", unit)
    assert "    def peek(self):\n        return self.items[-1]\n" in new
    assert new.index("def peek") < new.index("__main__")


def test_imports_are_added_once_and_tests_prints_and_own_imports_are_dropped() -> None:
    sample = (
        "from kit import first\nimport re\nimport math\nimport pytest\n\ndef floor_word(text):\n    return text[: math.floor(1)]\n\n"
        "def first(text):\n    return floor_word(text)\n\ndef test_first():\n    assert first('a') == 'a'\n\nprint(first('a'))\n"
    )
    new = put(sample, FIRST)
    tree = ast.parse(new)
    assert [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))] == [
        "from __future__ import annotations",
        "import re",
        "import math",
    ]
    assert "def floor_word" in new and "test_first" not in new and "print" not in new


def test_a_new_file_holds_the_definition_alone() -> None:
    assert (
        put("import math\n\ndef first(x):\n    return math.pi", FIRST, "")
        == "import math\n\n\ndef first(x):\n    return math.pi\n"
    )


def test_an_answer_that_was_cut_off_is_read_as_far_as_it_parses() -> None:
    new = put("def first(text):\n    return text\n\ndef other(a, b", FIRST)
    assert "    return text\n" in new


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        ("I cannot do that.", "no Python"),
        ("def second(text):\n    return text", "defines second"),
        ("def first(text):\n    pass", "no body"),
        ("first = 3", "defines nothing"),
        ("", "no Python|defines nothing"),
    ],
)
def test_what_defines_something_else_is_no_sample(sample: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        answer_in(sample, FIRST)


def test_layout_comments_and_docstrings_make_no_different_sample() -> None:
    one = same_code('def f(x):\n    """Doc."""\n    return x+1  # up\n')
    assert one == same_code("def f(x):\n    return x + 1\n")
    assert one != same_code("def f(x):\n    return x + 2\n")
