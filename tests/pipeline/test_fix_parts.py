"""The pure parts of a fix: what it may write, and how the code at a place is made to fail."""

from __future__ import annotations

import pytest

from agentforge.conformance.engine.finding import Finding
from agentforge.pipeline.workflows.fix.measurement import broken_at, repair_scope

FILES = {
    "src/shop/cart.py": b"import shop.money\nfrom .tax import rate\nfrom . import stock\nimport json\n",
    "src/shop/money.py": b"",
    "src/shop/tax.py": b"",
    "src/shop/stock/__init__.py": b"",
    "top.py": b"",
}


def scope(check: str, path: str) -> tuple[str, ...]:
    finding = Finding(check=check, rule_id="r", level="error", message="", path=path, line=1)
    return repair_scope([finding], read=FILES.get, present=FILES)


def test_a_lint_finding_opens_its_file_alone() -> None:
    assert scope("ruff", "src/shop/cart.py") == ("src/shop/cart.py",)


def test_a_type_finding_opens_the_projects_modules_that_the_file_imports() -> None:
    assert scope("mypy", "src/shop/cart.py") == (
        "src/shop/cart.py",
        "src/shop/money.py",
        "src/shop/tax.py",
        "src/shop/stock/__init__.py",
    )


def test_a_finding_about_room_opens_the_folder() -> None:
    assert scope("size", "src/shop/cart.py") == ("src/shop/cart.py", "src/shop/*.py")
    assert scope("size", "top.py") == ("top.py", "/*.py")


SOURCE = '''"""Module."""

from __future__ import annotations

import os


class A:
    def f(self):
        """Doc."""
        x = 1
        return x


def g(): return 2
'''


@pytest.mark.parametrize(("line", "name", "before"), [(11, "f", "        x = 1\n"), (5, "", "import os\n")])
def test_the_innermost_function_around_a_line_is_made_to_fail_else_the_module(
    line: int, name: str, before: str
) -> None:
    found = broken_at(SOURCE.encode(), line)
    assert found is not None
    assert found[0] == name
    text = found[1].decode()
    compile(text, "a.py", "exec")
    place = text.index(before)
    assert text[:place].rstrip().endswith('which test notices")')


def test_what_cannot_be_made_to_fail_is_not_asked() -> None:
    assert broken_at(SOURCE.encode(), 15) is None
    assert broken_at(b"def f(:\n", 1) is None
    assert broken_at(b"", 1) is None
