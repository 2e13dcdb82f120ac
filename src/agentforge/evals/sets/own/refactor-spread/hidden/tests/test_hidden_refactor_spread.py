import ast
from pathlib import Path

import stats


def test_it_returns_the_same():
    assert stats.spread([3, 9, 4]) == 6
    assert stats.spread([-1]) == 0
    assert stats.spread([2.5, -2.5]) == 5


def test_there_is_no_loop():
    tree = ast.parse(Path(stats.__file__).read_text())
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "spread"]
    assert not [node for node in ast.walk(found) if isinstance(node, (ast.For, ast.While))]
