"""Which links of documents lead somewhere, in two small trees given as tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentforge.verification.roads.references import Library, new_dangling

_GUIDE = "# Guide\n\n## Getting started\n\nText.\n\n## What's new? (2.0)\n"


def library(files: Mapping[str, str]) -> Library:
    return Library(lambda path: files[path].encode() if path in files else None, list(files))


def faults(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The places of links that a change broke, each with what is missing."""
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    found, _ = new_dangling(library(before), library(after), lambda path: path in changed)
    return [f"{one.reference.path}:{one.reference.line} {one.reference.target} {one.sort}" for one in found]


@pytest.mark.parametrize(
    "link",
    [
        "[guide](docs/guide.md)",
        "[guide](./docs/guide.md#getting-started)",
        "[guide](docs/guide.md#whats-new-20)",
        "[guide](docs/guide)",
        "[guide](docs/guide.html)",
        "[folder](docs)",
        "[folder](docs/)",
        '[titled](docs/guide.md "The guide")',
        "[spaced](<docs/guide.md>)",
        "[elsewhere](https://example.org/nothing)",
        "[absolute](/docs/nothing)",
        "[issues](../../issues/7)",
        "[here](#kit)",
        "[generated](docs/guide.md#kit.core.run)",
        "`[code](nothing.md)`",
        "```\n[fenced](nothing.md)\n```",
        "<!-- [remark](nothing.md) -->",
        "[code](kit.py#L3)",
        "[template]({{ site.url }}/nothing)",
        "![picture][shot]\n\n[shot]: docs/shot.png",
        '<img src="docs/shot.png">',
        "[parens](docs/a_(b).md)",
    ],
)
def test_a_link_that_leads_somewhere_or_is_none_of_ours_is_no_fault(link: str) -> None:
    files = {
        "docs/guide.md": _GUIDE,
        "docs/shot.png": "",
        "kit.py": "",
        "docs/a_(b).md": "# A\n",
        "README.md": "# Kit\n",
    }
    assert faults(files, {**files, "README.md": f"# Kit\n\n{link}\n"}) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("[gone](docs/gone.md)", "README.md:3 docs/gone.md file"),
        ("[gone](docs/guide.md#installing)", "README.md:3 docs/guide.md#installing heading"),
        ("[here](#nowhere)", "README.md:3 #nowhere heading"),
        ("![shot](docs/none.png)", "README.md:3 docs/none.png file"),
        ("[ref][one]\n\n[one]: docs/gone.md", "README.md:5 docs/gone.md file"),
        ('<a href="docs/gone.md">gone</a>', "README.md:3 docs/gone.md file"),
    ],
)
def test_a_new_link_that_leads_nowhere_is_told_with_its_line(link: str, told: str) -> None:
    files = {"docs/guide.md": _GUIDE, "README.md": "# Kit\n"}
    assert faults(files, {**files, "README.md": f"# Kit\n\n{link}\n"}) == [told]


def test_links_of_other_documents_to_what_is_moved_or_renamed_are_faults() -> None:
    before = {"README.md": "# Kit\n\n[a](docs/guide.md) [b](docs/guide.md#getting-started)\n", "docs/guide.md": _GUIDE}
    renamed = {**before, "docs/guide.md": _GUIDE.replace("Getting started", "First steps")}
    assert faults(before, renamed) == ["README.md:3 docs/guide.md#getting-started heading"]
    moved = {"README.md": before["README.md"], "docs/manual.md": _GUIDE}
    assert faults(before, moved) == ["README.md:3 docs/guide.md file", "README.md:3 docs/guide.md#getting-started file"]


def test_what_led_nowhere_before_is_the_base_s_business_and_makes_the_folder_s_other_links_notes() -> None:
    before = {"docs/a.md": "[api](api/generated.md)\n", "docs/b.md": "# B\n", "README.md": "# Kit\n"}
    after = {**before, "docs/b.md": "# B\n\n[more](api/other.md)\n", "README.md": "# Kit\n\n[gone](gone.md)\n"}
    changed = {"docs/b.md", "README.md"}
    wrong, usual = new_dangling(library(before), library(after), lambda path: path in changed)
    assert [one.reference.target for one in wrong] == ["gone.md"]
    assert [one.reference.target for one in usual] == ["api/other.md"]


def test_headings_that_a_program_adds_are_not_missed() -> None:
    before = {"README.md": "# Kit\n", "docs/api.md": "# Interface\n\n::: kit.core\n"}
    assert faults(before, {**before, "README.md": "# Kit\n\n[run](docs/api.md#run)\n"}) == []


def test_files_named_by_directives_of_restructuredtext_are_looked_for() -> None:
    before = {"docs/index.rst": "Kit\n===\n", "docs/shot.png": ""}
    text = "Kit\n===\n\n.. image:: shot.png\n\n.. literalinclude:: ../example.py\n\n`guide <guide.html>`_\n"
    assert faults(before, {**before, "docs/index.rst": text}) == [
        "docs/index.rst:6 ../example.py file",
        "docs/index.rst:8 guide.html file",
    ]


def test_a_heading_that_stands_twice_is_reached_by_its_number() -> None:
    before = {"README.md": "# Kit\n"}
    text = "# Kit\n\n## Added\n\n## Added\n\n[first](#added) [second](#added-1) [third](#added-2)\n"
    assert faults(before, {"README.md": text}) == ["README.md:7 #added-2 heading"]
