"""The dashboard over a repository of hostile runs, and a real browser."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.events import kinds
from tests.support import scene
from tests.support.scene import Served

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_GOLDEN = Path(__file__).parents[1] / "golden" / "whole-run"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The dashboard over: a hostile run, one that was delivered, one that changed files, a damaged one; two conversations."""
    place = tmp_path_factory.mktemp("dashboard")
    repo = scene.make_repository(place / f"repo {scene.HOSTILE.replace('/', '-')}")
    scene.changed_run(repo, "changed")
    scene.tell(
        repo, "hostile", *scene.hostile_events(), request=scene.HOSTILE, branch=scene.HOSTILE, model=scene.HOSTILE
    )
    shutil.copytree(_GOLDEN, repo / ".agentforge" / "tasks" / "task-20260101-whole")
    damaged = scene.tell(repo, "damaged", kinds.StageSkipped(stage="clarify", reason="none")) / "events.jsonl"
    (damaged.parent / "views.json").unlink()  # else the list believes the views, as `status` does
    damaged.write_bytes(damaged.read_bytes().replace(b"damaged", b"altered"))
    (place / "home").mkdir()
    scene.tell_session(place / "home", "11111111-hostile", scene.HOSTILE, "and\nthen?")
    scene.tell_session(place / "home", "22222222-long", *(f"question {number}" for number in range(1, 46)))
    found = scene.serve(repo, place / "home")
    yield found
    out = scene.close(found)
    assert found.token not in out
    assert "Traceback" not in out, out


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A real Chromium with a profile of its own; it ends with its module, as it keeps an event loop in this process."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None or importlib.util.find_spec("playwright") is None:
        pytest.skip("chromium is not installed (apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        context = player.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=path, args=list(_FLAGS), headless=True
        )
        context.set_default_timeout(15_000)
        yield context
        context.close()
