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
    command = [sys.executable, "-m", "bench.run", "--quick", "--json", "--no-peer"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == (39 if find_spec("textual") else 36)
    assert all(isinstance(row["values"]["AgentForge"], (int, float)) for row in rows)
    prompts = {row["figure"]: row["values"]["AgentForge"] for row in rows if "prompt" in row["figure"]}
    assert 500 < max(prompts.values()) < 128_000


def test_a_short_conversation_remembers_everything_through_its_compactions() -> None:
    command = [sys.executable, "-m", "bench.memory", "--turns", "20", "--only", "32K window", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert row["compactions"] >= 1
    assert row["recall"] == 100.0
    assert row["tokens_not_cached"] < row["tokens"] / 5


def test_what_we_remember_from_process_to_process_is_counted_as_with_the_peers() -> None:
    command = [sys.executable, "-m", "bench.peers_memory", "--turns", "5", "--only", "", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["turns"], row["recall"], row["output of a command, after 5"]) == (5, 100.0, 100)


def test_a_quick_benchmark_of_the_verifier_fills_its_table() -> None:
    command = [sys.executable, "-m", "bench.verifier", "--quick", "--json"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["tests"], row["outcome"]) == (40, "delivered")
    assert {"baseline", "impact", "red", "green", "refactor", "deliver"} <= set(row["measured_s"])
    assert all(row["measured_s"][name] > 0 for name in ("baseline", "impact", "red", "green"))
    assert row["next_task_s"] < row["all_s"]


def test_a_defect_of_the_older_harness_is_looked_for_with_us() -> None:
    command = [sys.executable, "-m", "bench.defects", "--no-peer", "--json", "--only", "8,23"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert {number: columns["AgentForge"][0] for number, columns in json.loads(done.stdout).items()} == {
        "8": False,
        "23": False,
    }


def test_a_quick_match_against_nobody_fills_our_own_column() -> None:
    command = [sys.executable, "-m", "bench.peers", "--quick", "--json", "--only", ""]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (column,) = json.loads(done.stdout).values()
    assert column["5 turns: 5 turns, finished"] == column["12 turns, finished"] == "yes"
    assert 500 < column["  largest request, tokens"] < 128_000  # half of the window: see bench/memory.py


def _repository_with_a_change(folder: Path) -> str:
    """A clone called ann/kit whose last commit changes one function and adds a test; gives that commit."""
    repository = folder / "ann" / "kit"
    (repository / "kit").mkdir(parents=True)
    (repository / "tests").mkdir()
    source, tests = repository / "kit" / "text.py", repository / "tests" / "test_text.py"
    filler = "".join(f"def other_{number}():\n    return {number}\n\n\n" for number in range(300))
    source.write_text(f"{filler}def slugify(text):\n    return text.lower()\n")
    tests.write_text("from kit.text import slugify\n\n\ndef test_lower():\n    assert slugify('A') == 'a'\n")

    def git(*arguments: str) -> str:
        command = [
            "git",
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=ann@example.org",
            "-c",
            "commit.gpgsign=false",
            *arguments,
        ]
        return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    source.write_text(source.read_text().replace("text.lower()", "'-'.join(text.lower().split())"))
    tests.write_text(f"{tests.read_text()}\n\ndef test_join():\n    assert slugify('A b') == 'a-b'\n")
    git("add", "-A")
    git("commit", "-q", "-m", "slugify joins the words of its text with hyphens (#12)")
    return git("rev-parse", "HEAD")


def test_context_recall_is_measured_and_goes_on_where_it_was(tmp_path: Path) -> None:
    sha = _repository_with_a_change(tmp_path)
    corpus, kept = tmp_path / "corpus.yaml", tmp_path / "kept.jsonl"
    corpus.write_text(f"projects:\n- {{project: ann/kit, language: Python, half: seen, commits: ['{sha}']}}\n")
    command = [sys.executable, "-m", "bench.recall", "--repos", str(tmp_path), "--corpus", str(corpus)]
    command += ["--out", str(kept), "--json"]
    for _ in range(2):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        (record,) = json.loads(done.stdout)
        assert len(kept.read_text().splitlines()) == 1
    assert record["request"] == "slugify joins the words of its text with hyphens"
    assert record["shares"]["analyze files"] == record["shares"]["analyze definitions"] == [1, 1]
    assert record["shares"]["intake whole"] == record["shares"]["red old tests"] == [1, 1]
    whole = {name: found == of for name, (found, of) in record["shares"].items()}
    assert all(whole.values()), whole
    assert all(1000 < tokens <= 8000 for tokens in record["tokens"].values())


def test_context_recall_of_a_set_of_tasks_says_why_a_body_is_not_shown(tmp_path: Path) -> None:
    sha = _repository_with_a_change(tmp_path)
    for name, request in (("spelled", "slugify joins words"), ("other", "Dates with a year are refused")):
        task = tmp_path / name / "kit" / f"{sha[:9]}-task" / "task.yaml"
        task.parent.mkdir(parents=True)
        task.write_text(f"request: {request}\nsource: {tmp_path}/ann/kit@{sha}^\n")
        command = [sys.executable, "-m", "bench.recall", "--tasks", str(tmp_path / name), "--misses"]
        done = subprocess.run(
            [*command, "--stages", "intake"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        assert ("slugify function: 2 of 2 lines not shown" in done.stdout) == (name == "other")


def test_a_quick_benchmark_of_the_dashboard_fills_its_table() -> None:
    command = [sys.executable, "-m", "bench.dashboard", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 14
    assert sum("0.2 |" in row for row in rows) == 6


def test_a_quick_fleet_delivers_every_task_once_and_goes_on_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    command = [sys.executable, "-m", "bench.fleet", "--quick", "--folder", str(folder)]
    stopped = subprocess.run(
        [*command, "--deadline", "0"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert (stopped.returncode, json.loads(stopped.stdout)["delivered"]) == (1, 0), stopped.stderr
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["tasks"], found["repositories"], found["delivered"], found["branches"]) == (6, 2, 6, 6)
    assert (found["delivered_twice"], found["worst_repeated"] <= 0) == (0, True)
    assert found["cpu_s"] > 0


def test_a_played_fleet_grows_with_its_workers_up_to_what_the_provider_allows() -> None:
    command = [sys.executable, "-m", "bench.scheduling", "--workers", "2", "4", "24", "--concurrency", "1"]
    command += ["--run", "40", "--seconds", "180", "--per-minute", "90"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    two, four, many = (json.loads(line) for line in done.stdout.splitlines())
    assert (
        1.3 * two["requests a minute"] < four["requests a minute"] < 85
    )  # which worker is when idle differs from run to run
    assert 85 < many["requests a minute"] < 95
    assert many["most requests in a minute"] <= 99  # a tenth of a minute may be saved up


def test_a_quick_large_repository_beside_a_small_one_fills_every_row() -> None:
    command = [sys.executable, "-m", "bench.large_repository", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert len(rows) == 16
    assert "6,0" in done.stdout.splitlines()[0]
    assert all(float(row[1]) >= 0 and float(row[2]) > 0 for row in rows)
