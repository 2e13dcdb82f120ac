"""Patches as files, blocks and lines, coloured and still only text."""

from __future__ import annotations

from agentforge.dashboard.diffs import coloured_lines, diff_files

PATCH = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,4 @@ def f():
 x = 1
-y = "<b>"
+y = "<i>"
+z = 2
 w = 3
@@ -40 +41 @@
-old
+new
\\ No newline at end of file
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+++ a line that begins with two plus signs
"""


def test_a_patch_becomes_blocks_with_the_numbers_of_both_sides() -> None:
    first, second = diff_files(PATCH)
    assert [(block.kind, len(block.old), len(block.new)) for block in first.blocks] == [
        ("hunk", 0, 0), ("same", 1, 1), ("change", 1, 2), ("same", 1, 1), ("hunk", 0, 0), ("change", 1, 1), ("note", 0, 0),
    ]  # fmt: skip
    change = first.blocks[2]
    assert ([line.number for line in change.old], [line.number for line in change.new]) == ([2], [2, 3])
    assert first.blocks[5].new[0].number == 41
    assert (first.name, first.added, first.removed, first.kind) == ("a.py", 3, 2, "")
    assert (second.name, second.added, second.removed, second.kind) == ("new.txt", 1, 0, "new")
    assert second.blocks[-1].new[0].text == "++ a line that begins with two plus signs"


def test_lines_are_escaped_with_and_without_a_language() -> None:
    first, second = diff_files(PATCH.replace("a line", "<script>\u202e"))
    assert "&lt;b&gt;" in first.blocks[2].old[0].html
    assert 'class="h-' in first.blocks[2].old[0].html
    assert "&lt;script&gt;\\u202e" in second.blocks[-1].new[0].html


def test_a_text_over_many_lines_keeps_its_colour_when_the_file_is_at_hand() -> None:
    text = 'x = """\nword\nother\n"""\n'
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-import os\n+word\n"
    whole = diff_files(patch, lambda _name, after: text if after else None)[0].blocks[-1].new[0].html
    alone = diff_files(patch)[0].blocks[-1].new[0].html
    assert whole != alone
    assert "h-s" in whole


def test_a_name_without_a_language_is_shown_without_colours() -> None:
    assert coloured_lines("a.unknown-kind", "x") == ()
    assert diff_files("")[:1] == []
