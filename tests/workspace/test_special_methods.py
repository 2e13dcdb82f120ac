"""The methods that the code in a request runs, and the names that tell nothing of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.workspace.code.relevance import rank
from agentforge.workspace.code.special_methods import special_methods


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`del b['a.b']` should work", {"__delitem__"}),
        ("`b[4] = 2` and then `b[4]`", {"__setitem__", "__getitem__"}),
        ("    >>> len(x) == 2", {"__len__", "__eq__"}),
        ("```python\nwith lock:\n```", {"__enter__", "__exit__", "__aenter__", "__aexit__"}),
        ("`a += b`", {"__iadd__", "__add__"}),
        ("`x.y = 1`", {"__setattr__"}),
        ("`not python at all ->`", set()),
        ("del b[1] in prose is prose", set()),
    ],
)
def test_the_code_of_a_request_names_the_methods_that_it_runs(text: str, wanted: set[str]) -> None:
    assert special_methods(text) == wanted


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "box").mkdir()
    for number in range(6):
        (tmp_path / "box" / f"part{number}.py").write_text(
            f"from box.core import Box\n\n\ndef use{number}(b: Box):\n    return b\n"
        )
    (tmp_path / "box" / "errors.py").write_text(
        "class BoxKeyError(KeyError):\n    pass\n\n\nclass BoxTypeError(TypeError):\n    pass\n"
    )
    (tmp_path / "box" / "__init__.py").write_text("from box.core import Box\n\n__all__ = [\n    'Box',\n]\n")
    methods = "".join(
        f"    def {name}(self, *a):\n        return a\n\n" for name in ("keys", "__getitem__", "__delitem__", "get")
    )
    (tmp_path / "box" / "core.py").write_text(f"class Box(dict):\n{methods}")
    return tmp_path


def test_the_file_that_defines_a_spelled_name_comes_before_those_that_share_words_with_built_in_ones(
    project: Path,
) -> None:
    text = "With `b = Box()` the line `del b['a.b']` raises a TypeError and should not."
    first, *_ = rank(project, ["Box", "raises", "TypeError"], text=text)
    assert first.path == "box/core.py"
    assert "__delitem__" in [symbol.name for symbol in first.symbols][:2]


def test_a_line_that_exports_a_spelled_name_is_found(project: Path) -> None:
    text = "Export `Crate` like `Box`."
    (found,) = [one for one in rank(project, ["Box"], text=text) if one.path == "box/__init__.py"]
    assert found.mentions == (4,)
