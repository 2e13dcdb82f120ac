"""Proves that a definition gets another name wherever it is meant, nowhere else, and not where the tree cannot tell."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentforge.python_refactoring.change import plan_of
from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.plan import RefactoringPlan
from agentforge.python_refactoring.project_files import contents, diff_of, read_project
from agentforge.python_refactoring.request import RefactoringRequest, wanted_from

Files = Mapping[str, str]
KIT = '__all__ = ["shout"]\n\n\ndef shout(text):\n    """shout it."""\n    return text  # shout\n'


def planned(wanted: RefactoringRequest, files: Files) -> RefactoringPlan:
    """The plan of a change over some files."""
    project = read_project(files, lambda path: files[path].encode(), roots=(".", "src"))
    plan = plan_of(project, wanted)
    assert plan is not None
    return plan


def renamed(old: str, new: str, files: Files) -> Mapping[str, str | None]:
    """What a renaming makes of some files."""
    return planned(RefactoringRequest(what="rename", names=(old,), new=new), files).files


def test_names_change_and_texts_and_comments_do_not() -> None:
    assert renamed("shout", "yell", {"kit.py": KIT}) == {
        "kit.py": '__all__ = ["yell"]\n\n\ndef yell(text):\n    """shout it."""\n    return text  # shout\n'
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from kit import shout\nshout(1)\n", "from kit import yell\nyell(1)\n"),
        ("from kit import shout as loud\nloud(1)\n", "from kit import yell as loud\nloud(1)\n"),
        ("import kit\nkit.shout(kit.shout)\n", "import kit\nkit.yell(kit.yell)\n"),
        ("from kit import *\nshout(1)\n", "from kit import *\nyell(1)\n"),
        ("import kit\nkit.shout(1)\nother.shout(2)\n", "import kit\nkit.yell(1)\nother.shout(2)\n"),
        ('import kit\npatch("kit.shout")\n', 'import kit\npatch("kit.yell")\n'),
        (
            'from kit import shout\n\n\ndef f(a: "shout") -> None: ...\n',
            'from kit import yell\n\n\ndef f(a: "yell") -> None: ...\n',
        ),
        (
            "from kit import shout\n\n\ndef f(shout):\n    return shout\n",
            "from kit import yell\n\n\ndef f(shout):\n    return shout\n",
        ),
    ],
)
def test_every_way_to_mean_it_is_followed_and_a_namesake_is_not(before: str, after: str) -> None:
    assert renamed("shout", "yell", {"kit.py": KIT, "use.py": before})["use.py"] == after


def test_a_name_that_is_offered_on_is_followed_through_the_package() -> None:
    files = {
        "pkg/__init__.py": "from .kit import shout\n",
        "pkg/kit.py": KIT,
        "use.py": "from pkg import shout\nshout(1)\n",
    }
    changed = renamed("shout", "yell", files)
    assert changed["pkg/__init__.py"] == "from .kit import yell\n"
    assert changed["use.py"] == "from pkg import yell\nyell(1)\n"


def test_an_entry_point_names_it_too() -> None:
    files = {"kit.py": KIT, "pyproject.toml": '[project.scripts]\nkit = "kit:shout"\nother = "kit:shouting"\n'}
    assert (
        renamed("shout", "yell", files)["pyproject.toml"]
        == '[project.scripts]\nkit = "kit:yell"\nother = "kit:shouting"\n'
    )


def test_a_method_changes_where_it_is_called_and_a_constant_where_it_is_read() -> None:
    files = {
        "shop.py": "LIMIT = 3\n\n\nclass Cart:\n    def total(self):\n        return LIMIT\n\n    both = total\n",
        "use.py": "from shop import Cart\nprint(Cart().total())\n",
    }
    assert renamed("Cart.total", "amount", files) == {
        "shop.py": "LIMIT = 3\n\n\nclass Cart:\n    def amount(self):\n        return LIMIT\n\n    both = amount\n",
        "use.py": "from shop import Cart\nprint(Cart().amount())\n",
    }
    assert "return MOST" in str(renamed("LIMIT", "MOST", files)["shop.py"])


@pytest.mark.parametrize(
    ("old", "new", "files", "why"),
    [
        ("shout", "other", {"kit.py": f"{KIT}\n\ndef other(): ...\n"}, "kit.py has a other already"),
        ("shout", "str", {"kit.py": f"{KIT}\nstr(1)\n"}, "kit.py has a str already"),
        ("shout", "2nd", {"kit.py": KIT}, "no name"),
        ("shout", "class", {"kit.py": KIT}, "no name"),
        ("shout", "yell", {"kit.py": KIT, "use.py": 'import kit\ngetattr(kit, "shout")\n'}, "use.py:2"),
        ("shout", "yell", {"kit.py": KIT, "stub.pyi": "def shout() -> None: ...\n"}, "stub.pyi:1"),
        (
            "Cart.total",
            "amount",
            {"a.py": "class Cart:\n    def total(self): ...\nclass B:\n    total = 1\n"},
            "a.py:4",
        ),
        ("Cart.total", "amount", {"a.py": "class Cart:\n    def total(self): ...\nx.total = 1\n"}, "a.py:3"),
        (
            "Cart.total",
            "amount",
            {"a.py": "import math\nclass Cart:\n    def total(self): ...\nmath.total\n"},
            "a.py:4",
        ),
        ("Cart.index", "place", {"a.py": "class Cart:\n    def index(self): ...\n"}, "str has a index"),
        ("Cart.run", "go", {"a.py": "from x import Base\nclass Cart(Base):\n    def run(self): ...\n"}, "Base"),
        ("Cart.__len__", "size", {"a.py": "class Cart:\n    def __len__(self): ...\n"}, "by Python itself"),
    ],
)
def test_what_the_tree_cannot_tell_is_refused_and_the_place_is_named(
    old: str, new: str, files: Files, why: str
) -> None:
    with pytest.raises(Unclear) as caught:
        renamed(old, new, files)
    assert why in str(caught.value)


def test_line_ends_stay_and_the_diff_is_that_of_both_sides() -> None:
    files = {"kit.py": KIT.replace("\n", "\r\n")}
    plan = planned(RefactoringRequest(what="rename", names=("shout",), new="yell"), files)

    def read(path: str) -> bytes:
        return files[path].encode()

    assert (contents(plan, read)["kit.py"] or b"").count(b"\r\n") == KIT.count("\n")
    assert "-def shout(text):\n+def yell(text):" in diff_of(plan, read)


@pytest.mark.parametrize(
    "wanted",
    [
        RefactoringRequest(what="move", names=("a", "b"), target="c.py", fresh=True, reexport=True),
        RefactoringRequest(what="add", names=("f",), parameter="n", annotation="int", default="1", keyword_only=True),
        RefactoringRequest(what="order", names=("f",), order=("a", "b")),
    ],
)
def test_a_wish_comes_back_from_the_record_as_it_was(wanted: RefactoringRequest) -> None:
    assert wanted_from(wanted.value()) == wanted
    with pytest.raises(ValueError, match="no refactoring"):
        wanted_from({"what": "paint"})


def test_a_file_that_looks_like_tests_is_changed_where_it_is_named() -> None:
    files = {"kit.py": KIT, "testing/kit.py": KIT}
    wanted = RefactoringRequest(what="rename", names=("shout",), place="testing/kit.py", new="yell")
    assert list(planned(wanted, files).files) == ["testing/kit.py"]
