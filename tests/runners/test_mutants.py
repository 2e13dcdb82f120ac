"""The mutation score of real changes in real projects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentforge.suite.test_environment import run_tree
from agentforge.testing.coverage import traced_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.counterexamples.mutants import measure_mutants

Make = Callable[..., Any]
_CHANGES = Path(__file__).with_name("strength")
_FEW = ("discount", "pages", "stock")
_ALL = sorted(path.name for path in _CHANGES.iterdir() if path.is_dir())
EVERY_LINE = (1 << 200) - 1


def measured(project: Any, *, tests: str, product: str, most: int = 20, lines: int = EVERY_LINE) -> dict[str, Any]:
    """Run the mutants of product.py against one test file."""
    tree = project.tree({"product.py": product, "tests/test_product.py": tests})
    rig = project.rig()
    run = run_tree(rig, tree, trace=True)
    assert run.complete and run.outcomes and not run.failing_ids, run.output_tail
    return measure_mutants(
        rig,
        tree,
        changed={"product.py": lines},
        traced=traced_of(run),
        passing=run.passed_ids,
        bounds=MutationBounds(most=most),
    )


@pytest.mark.parametrize(
    "name", [name if name in _FEW else pytest.param(name, marks=pytest.mark.chaos) for name in _ALL]
)
def test_the_score_separates_a_strong_suite_from_a_weak_one(project: Make, name: str) -> None:
    folder = _CHANGES / name
    most = 12 if name in _FEW else 20
    product = (folder / "after.py").read_text("utf-8")
    made = project(
        {"product.py": (folder / "before.py").read_text("utf-8"), "tests/test_product.py": "import pytest\n"}
    )
    strong = measured(made, tests=(folder / "strong.py").read_text("utf-8"), product=product, most=most)
    weak = measured(made, tests=(folder / "weak.py").read_text("utf-8"), product=product, most=most)
    assert strong["measured"] and weak["measured"]
    assert strong["score"] >= 0.8 > weak["score"], (strong["score"], weak["score"], strong["survivors"])


def test_of_hundreds_of_tests_that_run_a_line_those_that_stand_first_are_asked(project: Make) -> None:
    product = "def half(number):\n    return number // 2\n"
    weak = "import pytest\nfrom product import half\n\n\n@pytest.mark.parametrize('number', range(230))\ndef test_a(number):\n    half(number)\n"
    made = project({"product.py": product, "tests/test_product.py": "import pytest\n"})
    strong = f"{weak}\n\ndef test_z():\n    assert half(9) == 4\n"
    tree = made.tree({"product.py": product, "tests/test_product.py": strong})
    rig = made.rig()
    run = run_tree(rig, tree, trace=True)
    passing = sorted(run.passed_ids, key=lambda name: "test_z" not in name)
    told = measure_mutants(
        rig,
        tree,
        changed={"product.py": EVERY_LINE},
        traced=traced_of(run),
        passing=passing,
        bounds=MutationBounds(most=3),
    )
    assert told["run"] > 0 and told["killed"] == told["run"], told


def test_there_are_ten_changes() -> None:
    assert len(_ALL) == 10
