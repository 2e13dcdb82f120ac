"""Mutants where Python projects really live: src layouts, editable installations, unittest, slow suites."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.suite.detection import detect
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength

PRODUCT = "def clamp(number, top):\n    return top if number > top else number\n"
PYTEST = "from kit.core import clamp\n\n\ndef test_top():\n    assert clamp(5, 3) == 3\n"
BOTH = PYTEST + "\n\ndef test_below():\n    assert clamp(2, 3) == 2\n    assert clamp(3, 3) == 3\n"
UNITTEST = """import unittest
from kit.core import clamp


class Clamps(unittest.TestCase):
    def test_top(self):
        self.assertEqual(clamp(5, 3), 3)
"""
PROJECT = '[project]\nname = "kit"\nversion = "1"\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
SLOW = "import time\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef slowly():\n    time.sleep(0.3)\n"
NEVER_LOW = ("top if number > top else number", "(top)")


def mutated(made: Any, tests: str, text: str, *, product: str = "src/kit/core.py", seconds: float = 60.0) -> Any:
    """The mutants of the product file on a tree with the tests."""
    base = made.tree({product: "", str(Path(product).with_name("__init__.py")): ""})
    tree = made.tree({product: PRODUCT, tests: text})
    name = "Clamps::test_top" if "unittest" in text else "test_top"
    change = Change(lines={product: -1}, tests=[{"id": f"{tests}::{name}", "kind": "target"}], frozen=(tests,))
    facts, _ = measure_strength(
        made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(seconds=seconds)
    )
    return facts["mutation"]


def survived(mutation: Any) -> set[tuple[str, str]]:
    assert mutation["measured"] and mutation["note"] == "", mutation
    return {(one["before"], one["after"]) for one in mutation["survivors"]}


def editable(made: Any, folder: Path) -> Any:
    """The project with an environment of its own, in which it is installed by a path to its sources."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "__editable__.kit-1.pth").write_text(f"{made.path / 'src'}\n{sysconfig.get_paths()['purelib']}\n")
    settings = {"python": str(folder / "bin" / "python"), "env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}
    return replace(made, plan=detect(made.path, settings=settings))


@pytest.mark.parametrize("installed", [False, True])
def test_mutants_run_in_a_src_layout_installed_or_not(project: Any, tmp_path: Path, installed: bool) -> None:
    made = project(
        {"pyproject.toml": PROJECT, "src/kit/__init__.py": "", "tests/test_old.py": "def test_old(): pass\n"}
    )
    made = editable(made, tmp_path / "environment") if installed else made
    assert NEVER_LOW in survived(mutated(made, "tests/test_core.py", PYTEST))
    assert survived(mutated(made, "tests/test_core.py", BOTH)) <= {("number > top", "(number >= top)")}


def test_mutants_run_with_unittest_discovery_in_flat_and_src_layouts(project: Any) -> None:
    old = "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        pass\n"
    for root, command in (
        ("", "python -m unittest discover -s tests"),
        ("src/", "python -m unittest discover -s tests -t ."),
    ):
        files = {
            f"{root}kit/__init__.py": "",
            "tests/__init__.py": "",
            "tests/test_old.py": old,
            "pyproject.toml": PROJECT,
        }
        made = project(files, **({"command": command} if command else {}))
        assert made.plan.runner == "unittest", made.plan
        found = mutated(made, "tests/test_core.py", UNITTEST, product=f"{root}kit/core.py")
        assert NEVER_LOW in survived(found), root


def test_a_slow_suite_has_its_mutants_within_the_time(project: Any) -> None:
    made = project({"pyproject.toml": PROJECT, "src/kit/__init__.py": "", "tests/conftest.py": SLOW})
    found = mutated(made, "tests/test_core.py", PYTEST, seconds=5.0)
    assert found["measured"] and found["run"] >= 1, found
