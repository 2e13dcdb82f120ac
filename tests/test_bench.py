"""The benchmark runs and fills its table; how fast things are is not judged by tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_quick_benchmark_fills_every_figure_of_ours() -> None:
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--quick", "--json", "--no-peer"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == (39 if find_spec("textual") else 36)
    assert all(isinstance(row["values"]["AgentForge"], (int, float)) for row in rows)
    prompts = {row["figure"]: row["values"]["AgentForge"] for row in rows if "prompt" in row["figure"]}
    assert 500 < max(prompts.values()) < 8000


def test_a_quick_benchmark_of_the_verifier_fills_its_table() -> None:
    command = [sys.executable, str(ROOT / "bench" / "verifier.py"), "--quick", "--json"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["tests"] == 40 and set(row["verdicts_s"]) == {"base line", "RED", "GREEN"}
    assert all(value > 0 for value in row["verdicts_s"].values())


def test_a_defect_of_the_older_harness_is_looked_for_with_us() -> None:
    command = [sys.executable, str(ROOT / "bench" / "defects.py"), "--no-peer", "--json", "--only", "8,23"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert {number: columns["AgentForge"][0] for number, columns in json.loads(done.stdout).items()} == {
        "8": False,
        "23": False,
    }


def test_a_quick_match_against_nobody_fills_our_own_column() -> None:
    command = [sys.executable, str(ROOT / "bench" / "peers.py"), "--quick", "--json", "--only", ""]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (column,) = json.loads(done.stdout).values()
    assert column["5 turns: 5 turns, finished"] == column["12 turns, finished"] == "yes"
    assert 500 < column["  largest request, tokens"] < 24_000
