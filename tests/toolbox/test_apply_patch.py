"""Proves toolbox/files/apply_patch.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentforge.tools.base import Observation
from agentforge.workspace.files.file_access import digest_file

Call = Callable[..., Observation]
CHANGE = """--- a/shapes/area.py
+++ b/shapes/area.py
@@ -4,3 +4,3 @@
 def area(width: int, height: int) -> int:
     \"\"\"Width times height.\"\"\"
-    return width * height
+    return abs(width * height)
"""
NEW = "--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x = 1\n"


def test_a_patch_over_two_files_is_applied(call: Call, project: Path) -> None:
    done = call("apply_patch", patch=CHANGE + NEW.format(name="shapes/new.py"), intent="absolute areas")
    assert done.changed == ("shapes/area.py", "shapes/new.py")
    assert "abs(width * height)" in (project / "shapes/area.py").read_text()
    assert (project / "shapes/new.py").read_text() == "x = 1\n"


def test_a_dry_run_writes_nothing(call: Call, project: Path) -> None:
    before = (project / "shapes/area.py").read_bytes()
    done = call("apply_patch", patch=CHANGE, dry_run=True)
    assert (done.summary, done.changed) == ("would change shapes/area.py", ())
    assert (project / "shapes/area.py").read_bytes() == before


def test_a_patch_that_does_not_fit_names_the_nearest_lines_and_writes_nothing(call: Call, project: Path) -> None:
    patch = NEW.format(name="new.py") + CHANGE.replace("-    return width * height", "-    return width + depth")
    done = call("apply_patch", patch=patch)
    assert done.error_type == "patch-rejected"
    assert "return width * height" in done.text
    assert not (project / "new.py").exists()


def test_prose_is_no_patch(call: Call) -> None:
    assert call("apply_patch", patch="please change it").error_type == "patch-rejected"


def test_one_frozen_file_denies_the_whole_patch(call: Call, project: Path) -> None:
    done = call("apply_patch", patch=CHANGE + NEW.format(name="frozen.py"))
    assert (done.status, done.error_type) == ("denied", "out-of-scope")
    assert "abs" not in (project / "shapes/area.py").read_text()


def test_a_file_that_changed_since_it_was_read_is_not_patched(call: Call, project: Path) -> None:
    seen = {"shapes/area.py": digest_file(project / "shapes/area.py")}
    with (project / "shapes/area.py").open("a") as file:
        file.write("# more\n")
    assert call("apply_patch", seen=seen, patch=CHANGE).error_type == "changed-since-read"


def test_broken_python_is_pointed_out(call: Call) -> None:
    done = call("apply_patch", patch=CHANGE.replace("abs(width * height)", "abs(width"))
    assert "does not parse as Python now" in done.text
