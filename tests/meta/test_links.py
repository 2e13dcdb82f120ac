"""Every link of the documentation that leads into this repository leads somewhere, to the right heading, and every page is in the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ {0,3}```.*?^ {0,3}```", re.MULTILINE | re.DOTALL)


def test_every_link_leads_somewhere(root: Path) -> None:
    wrong = []
    for page in _pages(root):
        text = _FENCE.sub("", page.read_text("utf-8"))
        for link in _LINK.findall(text):
            if "://" in link or link.startswith("mailto:"):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                wrong.append(f"{page.relative_to(root)}: {link}")
    assert wrong == []


def test_pages_of_the_site_link_only_to_pages_of_the_site(root: Path) -> None:
    docs = root / "docs"
    wrong = [
        f"{page.relative_to(root)}: {link}"
        for page in docs.rglob("*.md")
        for link in _LINK.findall(_FENCE.sub("", page.read_text("utf-8")))
        if "://" not in link and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(docs)
    ]
    assert wrong == []


def test_every_page_is_in_the_navigation_once(root: Path) -> None:
    named = list(_named(yaml.safe_load((root / "mkdocs.yml").read_text())["nav"]))
    there = sorted(
        path.relative_to(root / "docs").as_posix()
        for path in (root / "docs").rglob("*.md")
        if path.parent.name != "adr"
    )
    assert sorted(named) == there


def _pages(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")]


def _named(items: list[dict[str, object]]) -> Iterator[str]:
    for item in items:
        for value in item.values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                yield from _named(value)


def _anchors(page: Path) -> set[str]:
    """The headings of a page as renderers name them."""
    headings = re.findall(r"^#+ +(.+?) *#*$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
