"""Changed functions that only loading a file calls: which tests of a requirement are tied to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentforge.testing.coverage import bits_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength

LINKS = """import re


def build_url_re():
    return re.compile(r"[a-z]+://\\S+{}")


URL_RE = build_url_re()


def links(text):
    return URL_RE.findall(text)


def other(text):
    return text
"""
TABLE = """def rows():
    return {{"a": 1{}}}


class Table:
    ROWS = rows()

    def get(self, name, rows=rows()):
        return rows.get(name)
"""
USER = "import kit\n\n\ndef links(text):\n    return kit.URL_RE.findall(text)\n"
FAR = "import app\n\n\ndef told(text):\n    return app.links(text)\n"
HEAD = "from pathlib import Path\n\nimport kit\n\n\n"
CALLS = "def test_new():\n    assert kit.links('see ftp://a.b.') == ['ftp://a.b']\n"
SOURCE = "Path(kit.__file__).read_text()"
Touched = Callable[..., bool]


@pytest.fixture(scope="module")
def touched(project: Callable[..., Any]) -> Touched:
    """Whether a test is tied to the change of the lines `changed` of kit.py, a file with a gap where the new version says more."""

    def measured(
        kit: str, test: str, changed: str, *, more: str = "(?<!\\.)", files: Mapping[str, str] | None = None,
        outcome: str = "failed", kind: str = "target", named: str = "",
    ) -> bool:  # fmt: skip
        made = project({"kit.py": kit.format(""), **(files or {})})
        base = made.tree({})
        tree = made.tree({"kit.py": kit.format(more), "tests/test_new.py": test})
        name = "tests/test_new.py::test_new"
        change = Change(
            lines={"kit.py": bits_of(changed.split(","))},
            tests=[{"id": name, "kind": kind, "outcome": outcome}],
            requirements={"REQ-001": [name]},
            named={"REQ-001": [("kit.py", named)]} if named else {},
            frozen=("tests/test_new.py",),
        )
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
        )
        (row,) = facts["coverage"]["requirements"]
        return bool(row["touches"])

    return measured


@pytest.mark.parametrize("named", ["", "build_url_re", "links"])
def test_what_builds_a_constant_counts_for_a_test_that_failed_without_it(touched: Touched, named: str) -> None:
    assert touched(LINKS, HEAD + CALLS, "5", named=named)


@pytest.mark.parametrize("asked", ["kit.Table().get('b')", "kit.Table().get('b', kit.Table.ROWS)"])
def test_what_builds_a_class_body_or_a_default_counts_too(touched: Touched, asked: str) -> None:
    assert touched(TABLE, HEAD + f"def test_new():\n    assert {asked} == 2\n", "2", more=', "b": 2')


@pytest.mark.parametrize("through", ["app.links", "far.told"])
def test_so_it_does_when_the_test_runs_a_module_that_imports_the_changed_one(touched: Touched, through: str) -> None:
    test = f"import {through.partition('.')[0]}\n\n\n" + CALLS.replace("kit.links", through)
    assert touched(LINKS, test, "5", files={"app.py": USER, "far.py": FAR})


TRICKS = {
    "imports it and asserts something unrelated": "def test_new():\n    assert len('ab') == 2\n",
    "reads its source": f"def test_new():\n    assert '<!' in {SOURCE}\n",
    "imports a user of it and reads its source": f"def test_new():\n    import app\n    assert app and '<!' in {SOURCE}\n",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_loading_it_is_not_enough(touched: Touched, trick: str) -> None:
    assert not touched(LINKS, HEAD + TRICKS[trick], "5", files={"app.py": USER})


@pytest.mark.parametrize("outcome", ["passed", "error"])
def test_a_test_that_did_not_fail_without_it_shows_nothing(touched: Touched, outcome: str) -> None:
    assert not touched(LINKS, HEAD + "def test_new():\n    assert kit.other('a') == 'a'\n", "5", outcome=outcome)


def test_a_test_that_fails_still_shows_nothing(touched: Touched) -> None:
    assert not touched(LINKS, HEAD + CALLS.replace("==", "!="), "5")


def test_a_changed_function_that_loading_does_not_call_has_to_be_called_by_the_test(touched: Touched) -> None:
    reads = f"def test_new():\n    assert kit.links('') == [] and '+ 1' in {SOURCE}\n"
    kit = LINKS.replace("{}", "") + "\n\ndef never(a):\n    return a{}\n"
    assert not touched(kit, HEAD + reads, "20", more=" + 1")


def test_a_call_at_import_does_not_stand_for_the_function_that_a_requirement_names(touched: Touched) -> None:
    two = "def first(a):\n    return a{0}\n\n\ndef second(a):\n    return a{0}\n\n\nMADE = second(1)\n"
    test = HEAD + "def test_new():\n    assert kit.first(1) == 2\n"
    assert touched(two, test, "1-9", more=" + 1", named="first")
    assert not touched(two, test, "1-9", more=" + 1", named="second")


def test_a_test_of_the_constant_does_not_stand_for_another_changed_function(touched: Touched) -> None:
    kit = LINKS + "\n\ndef never(a):\n    return a\n"
    assert touched(kit, HEAD + CALLS, "5,20", named="build_url_re")
    assert not touched(kit, HEAD + CALLS, "5,20", named="never")


TEXT = '''def page(name):
    if not name:
        return ""
    return """<h1>
  title{}
</h1>"""
'''


@pytest.mark.parametrize(("asked", "told"), [("'a'", True), ("''", False)])
def test_a_changed_line_of_a_text_over_several_lines_is_run_with_its_statement(
    touched: Touched, asked: str, told: bool
) -> None:
    test = HEAD + f"def test_new():\n    assert kit.page({asked}) in ('', '<h1>\\n  title 2\\n</h1>')\n"
    assert touched(TEXT, test, "5", more=" 2") is told
