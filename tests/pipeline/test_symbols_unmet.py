"""Declared symbols against the tree to be committed: what was to go is gone, what was to come is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agentforge.pipeline.facts.early_facts import symbols_unmet

TREE = {
    "shapes.py": b"def area(r):\n    return r\n\n\nclass Circle:\n    def edge(self):\n        return 1\n",
    "paths.js": b"p.swap = function (a) {}\nmodule.exports = { join: (a) => a, 'cut': 1, get }\n",
    "index.js": b"morgan.token('total-time', function getTotalTime() { return 1 })\n",
    "lib/edge.js": b"export default function (a) { return a; }\n",
    "bin/lint.js": b"function check() {\n  const problems = [];\n  return problems;\n}\nconst files = [];\n",
    "notes.txt": b"area is gone",
    "kit/__init__.py": b"from kit.round import Ball as Circle, edge\n",
    "made.go": b"package m\n\ntype Maker interface {\n\tMake(at int) error\n}\n\nfunc Other() {}\n",
    "broken.py": b"def area(:\n",
    "src/v.rs": b"struct V;\nmacro_rules! d { ($($t:tt)*) => { $($t)* } }\nd! { impl V { fn back(&self) -> u8 { 1 } } }\n",
}


def unmet(**symbol: Any) -> list[Any]:
    runtime: Any = SimpleNamespace(git=SimpleNamespace(show=lambda _tree, path: TREE.get(path)))
    found = symbols_unmet({"symbols": [{"kind": "function", **symbol}]}, "t", runtime)
    return [item["reason"] for item in found]


@pytest.mark.parametrize(
    ("change", "name", "file", "reasons"),
    [
        ("removed", "area", "shapes.py", ["is declared removed and is still there"]),
        ("removed", "edge", "shapes.py", []),
        ("removed", "Circle.edge", "shapes.py", ["is declared removed and is still there"]),
        ("removed", "area", "gone.py", []),
        ("removed", "area", "notes.txt", []),
        ("removed", "area", "broken.py", []),
        ("new", "area", "shapes.py", []),
        ("new", "Maker.Make", "made.go", []),
        ("new", "Maker.Break", "made.go", ["is declared new and is not there"]),
        ("new", "morgan.total-time", "index.js", []),
        ("new", "morgan.total", "index.js", ["is declared new and is not there"]),
        ("new", "edge", "lib/edge.js", []),
        ("new", "area", "lib/edge.js", ["is declared new and is not there"]),
        ("removed", "edge", "lib/edge.js", ["is declared removed and is still there"]),
        ("removed", "problems", "bin/lint.js", []),
        ("removed", "files", "bin/lint.js", ["is declared removed and is still there"]),
        ("new", "problems", "bin/lint.js", []),
        ("new", "edge", "shapes.py", []),
        ("new", "volume", "shapes.py", ["is declared new and is not there"]),
        ("new", "Circle", "kit/__init__.py", []),
        ("new", "edge", "kit/__init__.py", []),
        ("new", "Ball", "kit/__init__.py", ["is declared new and is not there"]),
        ("new", "volume", "gone.py", ["is declared new and is not there"]),
        ("new", "volume", "notes.txt", []),
        ("changed", "volume", "shapes.py", []),
        ("new", "V.back", "src/v.rs", []),
        ("new", "V.front", "src/v.rs", ["is declared new and is not there"]),
        ("new", "p.swap", "paths.js", []),
        ("new", "join", "paths.js", []),
        ("new", "cut", "paths.js", []),
        ("new", "get", "paths.js", []),
        ("new", "volume", "paths.js", ["is declared new and is not there"]),
    ],
)
def test_the_tree_bears_out_what_the_specification_declares(
    change: str, name: str, file: str, reasons: list[str]
) -> None:
    assert unmet(change=change, name=name, file=file) == [f"{name} {reason}" for reason in reasons]


def test_constants_are_not_looked_for() -> None:
    assert unmet(change="new", name="LIMIT", file="shapes.py", kind="constant") == []
