"""Every page against the rules of WCAG 2.2 AA that axe-core can check, in both colour schemes, at a desk and on a phone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from tests.support.scene import Served

_CACHE = (
    os.environ.get("AGENTFORGE_TEST_NODE_MODULES")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-tests"
)
_AXE = Path(_CACHE) / "axe-core" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that look at colours: the others see the same page in the dark as in the light."""
_SIZES = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
_PAGES = (
    "/",
    "/new",
    "/waiting",
    "/sessions",
    "/sessions?q=question&deep=1",
    "/sessions/11111111-hostile",
    "/measures",
    "/nowhere",
)
_OF_TASKS = (
    *(f"whole {tab}" for tab in ("", "artifacts", "changes", "verification", "steps", "steps/1", "trail", "trail/3")),
    "hostile ", "hostile trail", "changed ", "changed changes",
)  # fmt: skip


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core."""
    if not _AXE.is_file():
        pytest.skip("axe-core is not installed (bash scripts/javascript_runners.sh)")
    return _AXE.read_text("utf-8")


@pytest.mark.parametrize("size", sorted(_SIZES))
def test_axe_finds_nothing_in_the_light_and_in_the_dark(
    chromium: BrowserContext, served: Served, axe: str, size: str
) -> None:
    page = chromium.new_page()
    page.add_init_script(axe)
    page.set_viewport_size(_SIZES[size])  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(served.address)
    page.wait_for_selector("h1:has-text('Tasks')")
    found = []
    for path in (*_PAGES, *(served.task(*one.split(" ")) for one in _OF_TASKS)):
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        answer = page.goto(f"{served.base}{path}")
        assert answer is not None
        assert answer.status == (404 if path == "/nowhere" else 200), path
        page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
        result = page.evaluate("(tags) => axe.run(document, { runOnly: tags })", _RULES)
        assert len(result["passes"]) > 20, path
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        dark = page.evaluate("(rules) => axe.run(document, { runOnly: { type: 'rule', values: rules } })", _COLOURS)
        assert "color-contrast" in {rule["id"] for rule in dark["passes"]}, path
        found += [
            f"{path} ({scheme}): {rule['id']}: {rule['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
            for scheme, told in (("light", result), ("dark", dark))
            for rule in told["violations"]
            for node in rule["nodes"][:2]
        ]
    page.close()
    assert found == []
