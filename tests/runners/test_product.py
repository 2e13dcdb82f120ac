"""Proves runners/product.py: a name makes no test of what the product imports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.verification.stages.product_files import imported_among, product_files

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.testing.prices import total\n",
    "shop/late.py": "import importlib\n\n\ndef load():\n    return importlib.import_module('shop.testing.late_one')\n",
    "shop/testing/__init__.py": "",
    "shop/testing/prices.py": "from .rounding import cents\n\n\ndef total(a):\n    return cents(a)\n",
    "shop/testing/rounding.py": "def cents(a):\n    return a\n",
    "shop/testing/late_one.py": "",
    "shop/testing/only_for_tests.py": "",
    "tests/helpers.py": "from shop.testing import only_for_tests\n",
    "tests/test_cart.py": "from tests.helpers import only_for_tests\nfrom shop.cart import total\n",
    "tests/conftest.py": "",
    "web/app.js": "import { total } from './testing/prices'\nconst late = require('./spec');\n",
    "web/testing/prices.ts": "",
    "web/spec/index.js": "",
    "web/testing/fake.js": "",
    "web/app.test.js": "import './testing/fake.js'\n",
    "pkg/use.go": 'package pkg\n\nimport "example.org/shop/pkg/testing"\n',
    "pkg/testing/sum.go": "package testing\n",
    "pkg/testing/sum_test.go": "package testing\n",
    "pkg/tests/help.go": "package tests\n",
}


def _is_imported(path: str) -> bool:
    found = imported_among(
        [path],
        present=FILES,
        roots=(".",),
        read=lambda one: FILES[one].encode() if one in FILES else None,
        mentions=lambda words: [one for one, text in FILES.items() if any(word in text for word in words)],
    )
    return bool(found)


@pytest.mark.parametrize(
    "path",
    [
        "shop/testing/prices.py",
        "shop/testing/rounding.py",
        "shop/testing/late_one.py",
        "web/testing/prices.ts",
        "web/spec/index.js",
        "pkg/testing/sum.go",
    ],
)
def test_what_the_product_imports_is_the_product(path: str) -> None:
    assert _is_imported(path)


@pytest.mark.parametrize(
    "path",
    [
        "shop/testing/only_for_tests.py",
        "tests/helpers.py",
        "tests/test_cart.py",
        "web/testing/fake.js",
        "web/app.test.js",
        "pkg/tests/help.go",
    ],
)
def test_what_only_tests_import_is_a_test(path: str) -> None:
    assert not _is_imported(path)


def test_changed_files_of_a_tree_are_told_apart(project: Callable[..., Any]) -> None:
    made = project({"kit.py": "", **{path: text for path, text in FILES.items() if path.endswith(".py")}})
    git = made.rig().git
    tree = made.tree({})
    changed = ["tests/test_cart.py", "shop/testing/rounding.py", "kit.py", "tests/conftest.py", "gone/testing/a.py"]
    assert product_files(git, tree, changed, roots=(".",)) == ("shop/testing/rounding.py", "kit.py")
