"""The dashboard over a repository of hostile runs, and a real browser."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.events import kinds

if TYPE_CHECKING:
    from agentforge_scene import Served
    from playwright.sync_api import BrowserContext

_SPEC = importlib.util.spec_from_file_location("agentforge_scene", Path(__file__).parent / "scene.py")
assert _SPEC is not None and _SPEC.loader is not None
_SCENE = importlib.util.module_from_spec(_SPEC)
sys.modules["agentforge_scene"] = _SCENE
_SPEC.loader.exec_module(_SCENE)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_GOLDEN = Path(__file__).parents[1] / "golden" / "whole-run"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The dashboard over: a hostile run, one that was delivered, one that changed files, a damaged one; two conversations."""
    place = tmp_path_factory.mktemp("dashboard")
    repo = _SCENE.make_repository(place / f"repo {_SCENE.HOSTILE.replace('/', '-')}")
    _SCENE.changed_run(repo, "changed")
    _SCENE.tell(
        repo, "hostile", *_SCENE.hostile_events(), request=_SCENE.HOSTILE, branch=_SCENE.HOSTILE, model=_SCENE.HOSTILE
    )
    shutil.copytree(_GOLDEN, repo / ".agentforge" / "tasks" / "task-20260101-whole")
    damaged = _SCENE.tell(repo, "damaged", kinds.StageSkipped(stage="clarify", reason="none")) / "events.jsonl"
    (damaged.parent / "views.json").unlink()  # else the list believes the views, as `status` does
    damaged.write_bytes(damaged.read_bytes().replace(b"damaged", b"altered"))
    (place / "home").mkdir()
    _SCENE.tell_session(place / "home", "11111111-hostile", _SCENE.HOSTILE, "and\nthen?")
    _SCENE.tell_session(place / "home", "22222222-long", *(f"question {number}" for number in range(1, 46)))
    found = _SCENE.serve(repo, place / "home")
    yield found
    out = _SCENE.close(found)
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
