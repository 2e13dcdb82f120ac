"""Proves that definitions go, move and change their parameters where the tree can tell, and that it says where it cannot."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest

from agentforge.pipeline.small_models.refactoring.request_words import wanted_of
from agentforge.python_refactoring.change import plan_of
from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.plan import RefactoringPlan
from agentforge.python_refactoring.project import PythonFile, PythonProject
from agentforge.verification.examples.plain_check import spellings
from agentforge.workspace.code.relevance import is_test_path

Files = Mapping[str, str]


def planned(request: str, files: Files, *, choice: str = "") -> RefactoringPlan:
    """The plan of a request over some files; every Python file of it parses."""
    names = {path: spellings(path, (".", "src")) for path in files if path.endswith(".py")}
    sources = {
        path: PythonFile(path=path, text=files[path], module=dotted[0], is_test=is_test_path(path))
        for path, dotted in names.items()
    }
    modules = {name: path for path, dotted in names.items() for name in dotted}
    plain = {path: text for path, text in files.items() if path not in names}
    wanted = wanted_of(request)
    assert wanted is not None, request
    plan = plan_of(PythonProject(sources=sources, modules=modules, plain=plain), wanted, choice=choice)
    assert plan is not None
    for text in plan.files.values():
        ast.parse(text or "")
    return plan


def changed(request: str, files: Files) -> dict[str, str | None]:
    """What a request makes of some files."""
    return dict(planned(request, files).files)


def refused(request: str, files: Files) -> str:
    """Why the tree does not make a change."""
    with pytest.raises(Unclear) as caught:
        planned(request, files)
    return str(caught.value)


@pytest.mark.parametrize(
    "request_text",
    [
        "Delete mumble. Add slugify(text) -> 'a'",
        "Remove the trailing newline from render",
        "Remove duplicates from the list returned by merge",
        "Add a parameter sep='-' to slugify that joins the words",
        "Add a parameter sep='-' to slugify: slugify('a b', sep='_') -> 'a_b'",
        "Rename a to b and rename c to d",
        "Add rename(a)",
        "Move shout to voice and make it louder",
        "Fix the parameter handling of parse",
    ],
)
def test_what_asks_for_more_than_one_mechanical_change_is_left_to_others(request_text: str) -> None:
    assert wanted_of(request_text) is None


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Please remove the unused function `mumble()` from kit.py, nobody needs it", ("delete", "mumble", "kit.py")),
        ("Drop class Cart and its tests", ("delete", "Cart", "")),
        ("Delete src/legacy.py", ("delete", "src/legacy.py", "")),
        ("Move the class Cart from shop.cart to shop/models.py", ("move", "Cart", "shop.cart")),
        ("Give parse a keyword-only parameter `strict: bool = False`", ("add", "parse", "")),
        ("Add an optional argument limit to items, defaulting to None", ("add", "items", "")),
        ("Rename shout's parameter text to words", ("rename", "shout", "")),
        ("Please rename the function `shout()` in textkit.py to `yell`.", ("rename", "shout", "textkit.py")),
        ("rename the method Cart.total to Cart_total", ("rename", "Cart.total", "")),
        ("Remove the unused loud parameter from Voice.shout and update all callers", ("drop", "Voice.shout", "")),
        ("Sort the keyword-only parameters of draw alphabetically", ("order", "draw", "")),
        (
            "Customers may not remove articles any more: delete the method remove of Cart in shop/cart.py.",
            ("delete", "Cart.remove", "shop/cart.py"),
        ),
        ("minutes and hours in clock.py are unused. Remove both; is_leap stays.", ("delete", "minutes", "clock.py")),
    ],
)
def test_a_mechanical_change_is_read_from_the_request(request_text: str, told: tuple[str, str, str]) -> None:
    wanted = wanted_of(request_text)
    assert wanted is not None
    assert (wanted.what, wanted.names[0], wanted.place) == told


KIT = '''"""Kit."""

import json
import re

__all__ = [
    "keep",
    "old",  # for a while
]
LIMIT = 3  # stays


# Says the old thing.
@staticmethod
async def old(text: str) -> str:
    return re.sub("old", "old", text) + str(await old(text))


def keep() -> str:
    """Not old."""
    return json.dumps(LIMIT)  # old
'''


def test_a_function_goes_with_its_comment_its_import_its_export_and_the_tests_of_it_alone() -> None:
    files = {
        "kit.py": KIT,
        "pkg/__init__.py": "from kit import (\n    keep,\n    old as older,\n)\n",
        "tests/test_kit.py": "from kit import keep, old\n\n\nclass TestOld:\n    def test_it(self):\n        assert old('')\n\n\ndef test_keep():\n    assert keep() == 'old'\n",
        "tests/test_old.py": "import kit\n\n\ndef test_old():\n    assert kit.old('a') == 'b'\n",
    }
    plan = planned("Delete the function old", files)
    expected = KIT.replace("import re\n", "").replace('    "old",  # for a while\n', "")
    start, end = expected.index("# Says"), expected.index("def keep")
    assert plan.files["kit.py"] == expected[:start] + expected[end:]
    assert plan.files["pkg/__init__.py"] == "from kit import (\n    keep,\n)\n"
    assert plan.files["tests/test_kit.py"] == "from kit import keep\n\n\ndef test_keep():\n    assert keep() == 'old'\n"
    assert plan.files["tests/test_old.py"] is None
    assert plan.ended == ("tests/test_kit.py::TestOld::test_it", "tests/test_old.py::test_old")


@pytest.mark.parametrize(
    "user",
    [
        "from kit import old as other\n\nprint(other)\n",
        "import kit as k\n\n\ndef f():\n    return k.old\n",
        "from kit import *\n\nprint(old)\n",
        "from pkg import old\n\n\nclass A:\n    x = old\n",
        "from kit import old\n\n\ndef f(x: 'list[old]') -> None: ...\n",
        "import kit\n\nprint(getattr(kit, 'old'))\n",
        "def f():\n    from kit import old\n    return old\n",
        "def patch(name): ...\n\n\npatch('kit.old')\n",
    ],
)
def test_what_is_still_used_stays_and_the_place_is_named(user: str) -> None:
    files = {"kit.py": KIT.replace("__all__", "_all"), "pkg/__init__.py": "from kit import old\n", "user.py": user}
    assert "still used: user.py:" in refused("Delete old from kit", files)


@pytest.mark.parametrize(
    "user",
    [
        "old = 3\nprint(old)\n",
        "from kit import keep\n\n\ndef f(old):\n    return [old for old in old], keep('old')\n",
        "class A:\n    old = 1\n\n    def f(self):\n        return self.old\n",
        "from typing import Literal\n\n\ndef f(x: Literal['old']): ...\n",
    ],
)
def test_what_only_looks_like_the_name_is_no_use(user: str) -> None:
    assert "user.py" not in changed("Delete the function old in kit.py", {"kit.py": KIT, "user.py": user})


def test_entry_points_and_conditional_definitions_keep_a_function() -> None:
    script = {"kit.py": KIT, "pyproject.toml": '[project.scripts]\nold = "kit:old"\n'}
    assert "still used: pyproject.toml:2" in refused("Delete the function old", script)
    twice = {"kit.py": "try:\n    from fast import old\nexcept ImportError:\n    def old():\n        return 1\n"}
    assert "under a condition" in refused("Delete the function old", twice)


def test_overloads_properties_and_the_last_member_of_a_class_go_as_one() -> None:
    source = "from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n\n\nclass A:\n    @property\n    def size(self):\n        return 1\n\n    @size.setter\n    def size(self, value):\n        pass\n"
    assert changed("Delete the function f", {"kit.py": source})["kit.py"] == source[source.index("class A") :]
    without = changed("Delete A.size", {"kit.py": source})["kit.py"]
    assert without is not None and without.endswith("class A:\n    pass\n")
    used = {"kit.py": source, "user.py": "def f(a):\n    a.size = 3\n"}
    assert "still used: user.py:2" in refused("Delete the method size of A", used)
    assert "Python itself" in refused(
        "Delete A.__eq__", {"kit.py": "class A:\n    def __eq__(self, other):\n        return True\n"}
    )


def test_tests_that_speak_of_other_things_and_helpers_of_tests_are_asked_about() -> None:
    both = "from kit import keep, old\n\n\ndef test_both():\n    assert old('') == keep()\n"
    assert "test_both" in refused("Delete old from kit", {"kit.py": KIT, "tests/test_kit.py": both})
    helper = "from kit import old\n\n\ndef make():\n    return old('')\n\n\ndef test_a():\n    assert make()\n"
    assert "outside of a test" in refused("Delete old from kit", {"kit.py": KIT, "tests/test_kit.py": helper})


def test_a_module_goes_when_nobody_imports_it() -> None:
    files = {"pkg/__init__.py": "", "pkg/legacy.py": "def f():\n    return 1\n", "pkg/a.py": "x = 1\n"}
    plan = planned("Delete the module pkg.legacy", files)
    assert dict(plan.files) == {"pkg/legacy.py": None}
    assert plan.symbols == (("f", "pkg/legacy.py", "function", "removed"),)
    for user in ("from pkg import legacy\n", "from .legacy import f\n", "import pkg.legacy as x\n"):
        assert "still used: pkg/a.py:1" in refused("Delete pkg/legacy.py", {**files, "pkg/a.py": user})
    assert "Makefile:2" in refused("Delete pkg/legacy.py", {**files, "Makefile": "run:\n\tpython -m pkg.legacy\n"})


SHOP = '''from __future__ import annotations

import re
from decimal import Decimal as D
from typing import TYPE_CHECKING

from .prices import rate

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 3


@property
def total(rows: Sequence[D]) -> D:
    """Add them up."""
    return sum(rows, D(0)) * rate(LIMIT)


def clean(text: str) -> str:
    return re.sub("a", "b", text)
'''
_PACKAGE = {"shop/__init__.py": "", "shop/prices.py": "def rate(x):\n    return x\n", "shop/cart.py": SHOP}


def test_a_function_moves_with_what_it_needs_to_a_new_module() -> None:
    files = changed("Move total from shop/cart.py to shop/sums.py", _PACKAGE)
    assert files["shop/sums.py"] == (
        "from __future__ import annotations\n\nfrom decimal import Decimal as D\nfrom typing import TYPE_CHECKING\n\n"
        "from .cart import LIMIT\nfrom .prices import rate\n\nif TYPE_CHECKING:\n    from collections.abc import Sequence\n\n\n"
        '@property\ndef total(rows: Sequence[D]) -> D:\n    """Add them up."""\n    return sum(rows, D(0)) * rate(LIMIT)\n'
    )
    assert files["shop/cart.py"] == (
        "from __future__ import annotations\n\nimport re\n\nLIMIT = 3\n\n\n"
        'def clean(text: str) -> str:\n    return re.sub("a", "b", text)\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from shop.cart import clean\n\nclean('')\n", "from shop.texts import clean\n\nclean('')\n"),
        (
            "from shop.cart import LIMIT, clean as wash\n\nwash(LIMIT)\n",
            "from shop.cart import LIMIT\nfrom shop.texts import clean as wash\n\nwash(LIMIT)\n",
        ),
        ("import shop.cart\n\nshop.cart.clean('')\n", "from shop.texts import clean\n\nclean('')\n"),
        (
            "from shop import cart\n\ncart.clean(cart.LIMIT)\n",
            "from shop import cart\nfrom shop.texts import clean\n\nclean(cart.LIMIT)\n",
        ),
        (
            "def f():\n    from shop.cart import clean\n    return clean\n",
            "def f():\n    from shop.texts import clean\n    return clean\n",
        ),
        (
            "from shop.cart import *\n\nclean('')\n",
            "from shop.cart import *\nfrom shop.texts import clean\n\nclean('')\n",
        ),
    ],
)
def test_everybody_who_imports_it_takes_it_from_the_new_place(before: str, after: str) -> None:
    files = changed("Move the function clean to shop/texts.py", {**_PACKAGE, "user.py": before})
    assert files["user.py"] == after
    assert files["shop/texts.py"] == (
        'from __future__ import annotations\n\nimport re\n\n\ndef clean(text: str) -> str:\n    return re.sub("a", "b", text)\n'
    )


def test_a_package_that_passes_it_on_does_so_from_the_new_place_and_its_users_stay() -> None:
    files = {
        **_PACKAGE,
        "shop/__init__.py": "from .cart import clean\n\n__all__ = ['clean']\n",
        "user.py": "from shop import clean\n\nclean('')\n",
    }
    after = changed("Move clean from shop.cart to a new module texts", files)
    assert after["shop/__init__.py"] == "from .texts import clean\n\n__all__ = ['clean']\n"
    assert "user.py" not in after and "shop/texts.py" in after


def test_a_module_goes_on_to_offer_it_only_when_that_is_asked() -> None:
    plain = changed("Move clean from shop/cart.py to shop/prices.py", _PACKAGE)
    assert plain["shop/cart.py"] is not None and "clean" not in plain["shop/cart.py"]
    kept = changed("Move rate from shop/prices.py to shop/rates.py, and keep it importable from shop.prices", _PACKAGE)
    assert kept["shop/prices.py"] == "from shop.rates import rate as rate\n"


def test_a_circle_of_imports_is_refused() -> None:
    files = {"a.py": "LIMIT = 3\n\n\ndef f():\n    return LIMIT\n\n\ndef g():\n    return f()\n", "b.py": "x = 1\n"}
    assert refused("Move f from a to b", files).endswith("import each other: b.py -> a.py -> b.py")
    both = changed("Move f and LIMIT from a to b", files)
    assert both["a.py"] == "from b import f\n\n\ndef g():\n    return f()\n"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.py": "def f(): return __name__\n", "b.py": ""}, "__name__"),
        ({"a.py": "n = 0\n\n\ndef f():\n    global n\n    n += 1\n", "b.py": ""}, "global"),
        ({"a.py": "def f(): return 1\n", "b.py": "def f(): return 2\n"}, "several places"),
        ({"a.py": "import re\n\n\ndef f(): return re\n", "b.py": "re = 1\n"}, "another re"),
        ({"a.py": "def f(): return 1\n", "b.py": "", "c.py": "def patch(x): ...\n\n\npatch('a.f')\n"}, "by its text"),
        (
            {"a.py": "try:\n    import re\nexcept ImportError:\n    re = None\n\n\ndef f(): return re\n", "b.py": ""},
            "several ways",
        ),
    ],
)
def test_a_move_that_would_mean_another_thing_is_refused(files: Files, why: str) -> None:
    assert why in refused("Move the function f to b.py", files)


CALLED = (
    "from kit import draw\nimport kit\n\n\ndef f(text):\n    return draw(1, width=2), kit.draw(1, (2), mode='text')\n"
)
DRAW = '''def draw(
    text,  # what
    width=(1 + 1),
    *,
    mode="text",
    align=None,
):
    """Draw.

    Args:
        text: the `text`.
        width: how wide.
    """
    inner = [text for text in text]
    return inner, (lambda text: text)(text), "text", mode
'''


def test_a_parameter_is_renamed_where_it_is_meant() -> None:
    after = changed(
        "Rename the parameter text of draw to words",
        {"kit.py": DRAW, "user.py": "from kit import draw\n\ndraw(text=3)\n"},
    )
    assert after["kit.py"] == (
        DRAW.replace("    text,  # what", "    words,  # what")
        .replace("text: the `text`", "words: the `words`")
        .replace("for text in text]", "for text in words]")
        .replace("text)(text)", "text)(words)")
    )
    assert after["user.py"] == "from kit import draw\n\ndraw(words=3)\n"


def test_an_unused_parameter_goes_with_its_arguments() -> None:
    after = changed("Remove the parameter width of draw", {"kit.py": DRAW, "user.py": CALLED})
    assert after["kit.py"] == DRAW.replace("    width=(1 + 1),\n", "")
    assert after["user.py"] == CALLED.replace("draw(1, width=2)", "draw(1)").replace("(1, (2), mode", "(1, mode")


def test_parameters_are_added_and_ordered_in_the_layout_that_is_there() -> None:
    added = changed("Add a keyword-only parameter `deep: bool = False` to draw", {"kit.py": DRAW})["kit.py"]
    assert added == DRAW.replace("    align=None,\n", "    align=None,\n    deep: bool = False,\n")
    plain = changed("Add a parameter deep=0 to f", {"kit.py": "def f(a, *, b=1, **kw): return a, kw\n"})["kit.py"]
    assert plain == "def f(a, *, b=1, deep=0, **kw): return a, kw\n"
    only = changed("Add a keyword-only parameter deep=0 to f", {"kit.py": "async def f(): return 1\n"})["kit.py"]
    assert only == "async def f(*, deep=0): return 1\n"
    ordered = changed("Sort the keyword-only parameters of draw alphabetically", {"kit.py": DRAW})["kit.py"]
    assert ordered == DRAW.replace('    mode="text",\n    align=None,\n', '    align=None,\n    mode="text",\n')


@pytest.mark.parametrize(
    ("request_text", "user", "why"),
    [
        ("Add a parameter deep to draw", "", "which default"),
        ("Add a parameter width=1 to draw", "", "has a parameter width already"),
        ("Add a parameter inner=1 to draw", "", "means something else"),
        ("Rename the parameter text of draw to inner", "", "means something else"),
        ("Rename the parameter tekst of draw to a", "", "has no parameter tekst"),
        ("Remove the parameter mode of draw", "", "mode is used in draw"),
        ("Remove the parameter width of draw", "from kit import draw\n\ndraw(1, next(x))\n", "no longer run"),
        ("Remove the parameter width of draw", "from kit import draw\n\ndraw(*x)\n", "*arguments"),
        ("Rename the parameter width of draw to w", "from kit import draw\n\ndraw(1, **x)\n", "**values"),
        ("Rename the parameter width of draw to w", "from kit import draw\n\nmap(draw, x)\n", "passed on"),
        ("Reorder the keyword-only parameters of draw: mode, width", "", "name each of them once"),
    ],
)
def test_a_signature_that_the_tree_cannot_follow_is_asked_about(request_text: str, user: str, why: str) -> None:
    assert why in refused(request_text, {"kit.py": DRAW, "user.py": user})


def test_methods_and_constructors_change_where_no_namesake_is() -> None:
    source = "class A:\n    def __init__(self, x, y=1):\n        self.x = x\n\n    def run(self, speed, *, old=None):\n        return speed\n"
    user = "from kit import A\n\nA(1, 2).run(3, old=4)\n"
    after = changed("Remove the parameter y of A", {"kit.py": source, "user.py": user})
    assert after["user.py"] == "from kit import A\n\nA(1).run(3, old=4)\n"
    after = changed("Remove the unused parameter old from A.run", {"kit.py": source, "user.py": user})
    assert after["kit.py"] == source.replace(", *, old=None", "") and after["user.py"] == user.replace(", old=4", "")
    other = {"kit.py": source, "b.py": "class B:\n    def run(self): ...\n"}
    assert "several classes" in refused("Rename the parameter speed of A.run to pace", other)
    hook = {"kit.py": "import click\n\n\n@click.command()\ndef run(speed): return speed\n"}
    assert "@click.command()" in refused("Rename the parameter speed of run to pace", hook)
