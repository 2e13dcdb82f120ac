"""What a commit's own tests show: measured by the plan of its own tree, within the time that they take, with their data."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.config.settings import Settings, load
from agentforge.evals.history.commits import History, HistoryCommit, LeftOut
from agentforge.evals.history.evidence import HistoryEvidence, evidence_of
from agentforge.evals.trials.hidden import rig_of
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Sandbox
from tests.support.past import Past

_INI = "[pytest]\npythonpath = .\n"


@dataclass
class Recording:
    """A sandbox that writes down the limits of test runs."""

    sandbox: Sandbox
    limits: list[float] = field(default_factory=list)

    @property
    def kind(self) -> Any:
        return self.sandbox.kind

    @property
    def network(self) -> Any:
        return self.sandbox.network

    def run(self, argv: Any, *, box: Any, **bounds: Any) -> Completed:
        self.limits += [float(bounds["timeout_s"])] if str(argv[-1]).endswith("bootstrap.py") else []
        return self.sandbox.run(argv, box=box, **bounds)


def _settings(past: Past) -> Settings:
    return load(past.folder, {**os.environ, "HOME": str(past.folder.parent)}, flags={"test.python": sys.executable})


def _evidence(past: Past, scratch: Path, sha: str) -> tuple[HistoryEvidence, Recording]:
    history, settings = History(past.folder), _settings(past)
    rig = rig_of(past.folder, scratch, settings=settings, environ=os.environ)
    recording = Recording(rig.sandbox)
    (commit,) = history.read(shas=[sha])
    assert isinstance(commit, HistoryCommit), commit
    found = evidence_of(commit, history, replace(rig, sandbox=recording), settings=settings, environ=os.environ)
    return found, recording


def test_a_commit_is_measured_by_the_plan_of_its_own_tree(history: Past, tmp_path: Path) -> None:
    """The newest tree is written in another language."""
    history.commit("base", {"kit.py": "A = 1\n", "pytest.ini": _INI})
    test = "import kit\n\n\ndef test_kit():\n    assert kit.A == 2\n"
    fixed = history.commit("A is two", {"kit.py": "A = 2\n", "tests/test_kit.py": test})
    for name in ("kit.py", "pytest.ini", "tests/test_kit.py"):
        history.remove(name)
    history.commit(
        "rewritten", {"kit.js": "", "kit.test.js": "", "package.json": '{"scripts": {"test": "node --test"}}\n'}
    )
    found, _ = _evidence(history, tmp_path, fixed)
    assert (found.reason, found.targets) == ("", ("tests/test_kit.py::test_kit",))


def test_a_test_that_never_ends_before_the_commit_waits_for_seconds_and_lets_the_others_run(
    history: Past, tmp_path: Path
) -> None:
    history.commit("base", {"kit.py": "def ends(n):\n    return False\n\n\nB = 1\n", "pytest.ini": _INI})
    test = "import kit\n\n\ndef test_ends():\n    while not kit.ends(1):\n        pass\n\n\ndef test_b():\n    assert kit.B == 1\n"
    sha = history.commit("It ends", {"kit.py": "def ends(n):\n    return True\n\n\nB = 1\n", "tests/test_kit.py": test})
    found, recording = _evidence(history, tmp_path, sha)
    assert (found.targets, found.guards) == (("tests/test_kit.py::test_ends",), ("tests/test_kit.py::test_b",))
    at, before, _ = recording.limits
    assert before < at / 2, recording.limits


def test_a_commit_that_changes_data_of_the_tests_is_judged_by_the_test_files_that_read_it(
    history: Past, tmp_path: Path
) -> None:
    test = (
        "import json\nimport pathlib\n\nimport kit\n\nROWS = json.loads((pathlib.Path(__file__).parent / 'data' / 'rows.json')"
        ".read_text())\n\n\ndef test_rows():\n    assert [kit.double(a) for a, _ in ROWS] == [b for _, b in ROWS]\n"
    )
    other = "import kit\n\n\ndef test_other():\n    assert kit.double(0) == 0\n"
    history.commit("base", {
        "kit.py": "def double(n):\n    return n * 2 if n > 0 else 0\n", "pytest.ini": _INI, "tests/test_rows.py": test,
        "tests/test_other.py": other, "tests/data/rows.json": "[[1, 2]]\n",
    })  # fmt: skip
    sha = history.commit("Less than nothing", {
        "kit.py": "def double(n):\n    return n * 2\n", "tests/data/rows.json": "[[1, 2], [-1, -2]]\n",
    })  # fmt: skip
    found, _ = _evidence(history, tmp_path, sha)
    assert (found.run, found.targets) == (("tests/test_rows.py",), ("tests/test_rows.py::test_rows",))
    assert set(found.files) == {"tests/data/rows.json", "tests/test_rows.py"}


@pytest.mark.parametrize("name", ["tests.py", "kit/tests.py", "test.py"])
def test_files_that_run_only_when_they_are_named_judge_a_commit(history: Past, tmp_path: Path, name: str) -> None:
    base = {"kit/__init__.py": "A = 1\n", "pytest.ini": _INI, "tests/test_old.py": "def test_old():\n    pass\n"}
    history.commit("base", base)
    test = "import kit\n\n\ndef test_kit():\n    assert kit.A == 2\n"
    sha = history.commit("A is two", {"kit/__init__.py": "A = 2\n", name: test})
    found, _ = _evidence(history, tmp_path, sha)
    assert (found.reason, found.targets) == ("", (f"{name}::test_kit",))


def test_tests_inside_a_file_of_the_product_are_named_as_the_reason(history: Past) -> None:
    product = "pub fn two() -> u8 {{ {0} }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn two() {{ assert_eq!(super::two(), {0}); }}\n}}\n"
    manifest = '[package]\nname = "kit"\nversion = "0.1.0"\n'
    history.commit("base", {"src/lib.rs": product.format(1), "Cargo.toml": manifest})
    history.commit("two is two", {"src/lib.rs": product.format(2)})
    history.commit("a note", {"src/lib.rs": "// two\n" + product.format(2)})
    found = [one for one in History(history.folder).read() if isinstance(one, LeftOut)]
    assert [one.reason for one in found] == ["no-tests", "tests-inside", "root"]
