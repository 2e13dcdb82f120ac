"""A guest behind the walls: what it can reach, what it is given, and that it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from agentforge.cancellation import Cancellation, under
from agentforge.errors import SandboxError, ToolchainError
from agentforge.guest.choice import GuestChoice
from agentforge.guest.conversation import Terms
from agentforge.guest.host import host_guest
from agentforge.guest.report import GuestReport
from agentforge.workspace.sandbox.box import Box, Unconfined, choose

AGENT = Path(__file__).parents[1] / "support" / "guest_agent.py"
needs_walls = pytest.mark.needs("bwrap")


def hosted(mode: str, folder: Path, **env: str) -> GuestReport:
    (folder / "tests").mkdir(exist_ok=True)
    argv = ("python3", str(AGENT), mode)
    choice = GuestChoice(name=f"acp:{mode}", argv=argv)
    box = Box(workspace=folder, mount_at=folder, env=env, read_only=(AGENT,))
    terms = Terms(cwd=str(folder), auth="", calls=100, permit=lambda _call: "")
    _, report = host_guest(choice, "do it", sandbox=choose("auto"), box=box, terms=terms, timeout_s=60)
    return report


@needs_walls
def test_a_guest_reaches_neither_the_network_nor_the_home_nor_foreign_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-seen")

    tries = json.loads(hosted("cheat", tmp_path).answer.splitlines()[-1])
    assert tries["network"].startswith("refused")
    assert not (Path.home() / "left.txt").exists()
    said = json.loads(hosted("spy", tmp_path, GUEST_KEY="given").answer.partition("}")[0] + "}")
    assert said == {"key": "given", "secret": None}
    assert (tmp_path / "textkit.py").read_text().count("def slugify") == 1


@needs_walls
def test_what_a_guest_complained_about_goes_into_the_error(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ToolchainError, match="something went wrong in here"):
        hosted("broken", tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@needs_walls
def test_a_stop_from_another_thread_ends_it_at_once(tmp_path: Path) -> None:
    sign = Cancellation()
    with under(sign), pytest.raises(KeyboardInterrupt):
        watch = Thread(target=lambda: (_until((tmp_path / "textkit.py").exists), sign.cancel()))
        watch.start()
        hosted("hang", tmp_path)
    watch.join()


def _until(there: Callable[[], bool]) -> None:
    while not there():
        time.sleep(0.02)


def test_without_walls_no_guest_is_let_in(tmp_path: Path) -> None:
    terms = Terms(cwd="/", auth="", calls=1, permit=lambda _call: "")
    box = Box(workspace=tmp_path, mount_at=tmp_path)
    with pytest.raises(SandboxError, match="only run in a sandbox"):
        host_guest(
            GuestChoice(name="acp:x", argv=("x",)),
            "",
            sandbox=Unconfined(environ={}),
            box=box,
            terms=terms,
            timeout_s=1,
        )
