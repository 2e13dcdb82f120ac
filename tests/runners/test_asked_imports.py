"""Which tests only import what the request wants to be importable, and what they count for."""

from __future__ import annotations

from textwrap import indent

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.counterexamples.stub_runs import noticed_by_targets
from agentforge.verification.stages.test_imports import importing_tests

TOLD = "Many programs have `import checks` or `from checks import Checker` in them. `import checks.more` is no business of ours."
SYMBOLS = [
    Symbol(name="Checker", file="src/checks.py", kind="class"),
    Symbol(name="other", file="kit.py", kind="function"),
]


@pytest.mark.parametrize(
    ("body", "only"),
    [
        ("import checks", True),
        ("from  checks  import  Checker", True),
        ("assert run('from checks import Checker') == 0", True),
        ("import os\nimport checks\nassert os.name", True),
        ("import checks\nchecks.Checker()", False),
        ("from checks import Checker\nassert Checker", False),
        ("from checks import Other", False),
        ("from kit import other", False),
        ("import check", False),
        ("assert run('import checks, kit') == 0", False),
        ("pass", False),
    ],
)
def test_a_test_that_does_nothing_but_import_what_is_asked_for_is_known(body: str, only: bool) -> None:
    source = f"class TestOld:\n    def test_a(self):\n{indent(body, ' ' * 8)}\n"
    found = importing_tests(
        ["test_a.py", "gone.py"], read={"test_a.py": source.encode()}.get, symbols=SYMBOLS, told=TOLD
    )
    assert list(found) == (["test_a.py::TestOld::test_a"] if only else [])


class _Run:
    def __init__(self, *failing: str) -> None:
        self.failing_ids = failing


def test_it_is_excused_only_where_another_target_refuses_the_same_stub() -> None:
    entries = [{"id": "t.py::test_a", "kind": "target"}, {"id": "t.py::test_b[1]", "kind": "target"}]
    living = [("wrong", "t.py::test_a"), ("any value", "t.py::test_a")]
    runs = {"raises": _Run("t.py::test_b[1]"), "wrong": _Run("t.py::test_b[1]"), "empty": _Run(), "other": _Run()}
    given = {"runs": runs, "importing": {"t.py::test_a"}}
    assert noticed_by_targets(living, entries, **given) == {("wrong", "t.py::test_a")}  # type: ignore[arg-type]
    assert noticed_by_targets(living, entries, runs=runs) == frozenset()  # type: ignore[arg-type]
