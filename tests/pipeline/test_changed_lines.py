"""Changed line ranges of a unified diff."""

from __future__ import annotations

from agentforge.pipeline.facts import changed_lines

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
