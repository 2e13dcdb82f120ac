"""Changed line ranges of a unified diff."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agentforge.pipeline.facts.early_facts import changed_lines

DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,4 +1,6 @@
 one
+two
+three
 four
-five
+FIVE
 six
@@ -20,2 +22,3 @@
 x
+y
 z
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
diff --git a/new.py b/new.py
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+a
+b
"""


def test_ranges_are_those_of_the_new_file() -> None:
    assert changed_lines(DIFF) == {"a.py": ["2-3", "5", "23"], "new.py": ["1-2"]}


def test_lines_that_look_like_headers_and_odd_line_ends_do_not_shift_the_count() -> None:
    diff = (
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,5 @@\n one\n+++ b/fake\n+with\x0cfeed\u2028here\n two\n+last\n"
        '\\ No newline at end of file\ndiff --git "a/\\303\\244.py" "b/\\303\\244.py"\n--- /dev/null\n+++ "b/\\303\\244.py"\n@@ -0,0 +1 @@\n+a\n'
    )
    assert changed_lines(diff) == {"a.txt": ["2-3", "5"], "ä.py": ["1"]}


def test_a_diff_of_git_itself(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("".join(f"{n}\n" for n in range(40)))
    (tmp_path / "new").write_text("".join(f"{n}\n" for n in range(40) if n not in (3, 4)).replace("20\n", "20\nx\ny\n"))
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-prefix", "old", "new"], cwd=tmp_path, capture_output=True, text=True
    )
    (ranges,) = changed_lines(done.stdout).values()
    lines = (tmp_path / "new").read_text().split("\n")
    first, last = map(int, ranges[0].split("-"))
    assert (ranges, lines[first - 1 : last]) == (["20-21"], ["x", "y"])


def test_nothing_changed_is_nothing() -> None:
    assert changed_lines("") == {}
    assert changed_lines("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n") == {}
