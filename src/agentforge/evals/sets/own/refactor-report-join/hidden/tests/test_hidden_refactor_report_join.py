import ast
from pathlib import Path

import stock


def test_it_returns_the_same():
    assert stock.report({"nut": 2, "bolt": 9}) == "bolt: 9\nnut: 2"
    assert stock.report({}) == ""


def test_nothing_is_appended():
    tree = ast.parse(Path(stock.__file__).read_text())
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "report"]
    assert not [node for node in ast.walk(found) if isinstance(node, ast.Attribute) and node.attr == "append"]
