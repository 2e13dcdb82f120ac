"""A run that SIGKILL ended is measured again: what the machine broke is nobody's fault, what kills itself always does."""

from __future__ import annotations

from dataclasses import replace

from agentforge.suite import test_environment as rigs
from agentforge.suite.test_environment import run_tree, sound
from agentforge.testing.cache import ResultCache

KILLS = "import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGKILL)\n"


def test_a_session_that_kills_itself_is_told_as_killed_and_kept_in_no_cache(project, tmp_path):
    made = project({"a.py": "", "tests/test_it.py": KILLS})
    cache = ResultCache(tmp_path / "results")
    rig, tree = made.rig(cache=cache), made.tree()
    run = run_tree(rig, tree)
    assert run.killed and not sound(run, rig.plan), run.problems
    assert not [one for one in (tmp_path / "results").rglob("*") if one.is_file()]


def test_one_that_the_machine_killed_once_is_measured_again(project, monkeypatch):
    made = project({"a.py": "", "tests/test_it.py": "def test_it(): assert 1\n"})
    rig, tree, real, seen = made.rig(), made.tree(), rigs.run_suite, []

    def killed_once(*given, **options):
        seen.append(real(*given, **options))
        return replace(seen[0], killed=True, complete=False) if len(seen) == 1 else seen[-1]

    monkeypatch.setattr(rigs, "run_suite", killed_once)
    run = run_tree(rig, tree)
    assert len(seen) == 2 and not run.killed and sound(run, rig.plan)
