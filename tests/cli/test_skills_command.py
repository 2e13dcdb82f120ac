"""`agentforge skills`: what is known here, and whether a skill is written by the rules."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from agentforge.cli.commands.setup.skills import skills


def write(folder: Path, head: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\n{head}\n---\nDo it.\n")
    return folder


def test_a_valid_skill_is_valid_and_a_broken_one_says_why(tmp_path: Path) -> None:
    good = write(tmp_path / "tdd", "name: tdd\ndescription: Tests first.")
    run = CliRunner().invoke(skills, ["validate", str(good)], standalone_mode=False)
    assert (run.return_value, "is valid" in run.output) == (0, True)
    bad = write(tmp_path / "other", "name: Nope\ndescription: x")
    run = CliRunner().invoke(skills, ["validate", str(bad / "SKILL.md"), "--json"], standalone_mode=False)
    assert (run.return_value, '"ok": false' in run.output) == (4, True)
    run = CliRunner().invoke(skills, ["validate", str(tmp_path / "missing")], standalone_mode=False)
    assert (run.return_value, "cannot be read" in run.output) == (4, True)
