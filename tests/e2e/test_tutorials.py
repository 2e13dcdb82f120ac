"""The tutorials, followed to the letter: each command of a page is run, and what the page shows of the output is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.config.paths import config_dir

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", sorted(one.name for one in (ROOT / "docs/tutorials").glob("*.md")))
def test_a_newcomer_who_types_what_stands_there_finishes(page: str, tmp_path: Path) -> None:
    fences = _FENCE.findall((ROOT / "docs/tutorials" / page).read_text("utf-8"))
    script = "set -e\n" + "".join(text for kind, text in fences if kind == "sh")
    name = {"NAME": "Ann", "EMAIL": "ann@example.org"}
    people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in name.items()}
    environ = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        **people,
    }
    settings = config_dir(environ) / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        '[test.env]\nPYTEST_DISABLE_PLUGIN_AUTOLOAD = "1"\n'
    )  # a newcomer has none of those that lie here
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = done.stdout + done.stderr
    shown = [line.strip() for kind, text in fences if kind == "text" for line in text.splitlines()]
    assert [line for line in shown if line not in said] == []
