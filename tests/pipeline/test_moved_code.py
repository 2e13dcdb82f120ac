"""A patch for reading: what moved is named, and only the lines that differ are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agentforge.pipeline.context.moved_code import with_moves
from agentforge.pipeline.model.runtime import Runtime

FUNCTIONS = "\n\n".join(f"def step_{number}(value):\n    return value * {number} + {number}\n" for number in range(12))
BLOCK = "def folded(text):\n    words = text.split()\n    kept = [one for one in words if one]\n    joined = '-'.join(kept)\n    return joined.casefold()\n"

Patch = Callable[[Mapping[str, str], Mapping[str, str | None]], str]


@pytest.fixture
def patch(runtime: Callable[..., Runtime]) -> Patch:
    made = runtime()

    def between(before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
        _write(made.worktree, before)
        base = made.guard.tree()
        _write(made.worktree, after)
        return made.diff(base, made.guard.tree())

    return between


def _write(root: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def test_a_file_at_another_path_is_a_move_with_the_lines_that_differ(patch: Patch) -> None:
    changed = FUNCTIONS.replace("value * 7", "value / 7")
    text = with_moves(patch({"kit/old.py": FUNCTIONS}, {"kit/old.py": None, "kit/deep/new.py": changed}))
    assert text.startswith("moved: kit/old.py -> kit/deep/new.py; these lines differ:\n@@ ")
    assert "-    return value * 7 + 7\n+    return value / 7 + 7\n" in text
    assert "step_3" not in text and "diff --git" not in text


def test_a_file_that_only_got_another_path_takes_one_line(patch: Patch) -> None:
    text = with_moves(patch({"kit/old.py": FUNCTIONS}, {"kit/old.py": None, "kit/new.py": FUNCTIONS}))
    assert text == "moved: kit/old.py -> kit/new.py, every line as it was\n"


def test_a_function_that_went_to_another_file_is_named_in_both(patch: Patch) -> None:
    before = {"kit/a.py": f"import os\n\n\n{BLOCK}\n\nLAST = 1\n", "kit/b.py": "FIRST = 1\n"}
    after = {"kit/a.py": "import os\n\nfrom kit.b import folded\n\nLAST = 1\n", "kit/b.py": f"FIRST = 1\n\n\n{BLOCK}"}
    text = with_moves(patch(before, after))
    assert "-... 5 lines moved to kit/b.py:4-8 ..." in text
    assert "+... 5 lines moved here from kit/a.py:4-8 ..." in text
    assert "+from kit.b import folded" in text
    assert "casefold" not in text


def test_lines_that_are_only_indented_deeper_say_so(patch: Patch) -> None:
    deeper = "".join(f"    {line}\n" for line in BLOCK.splitlines())
    text = with_moves(patch({"kit/a.py": BLOCK}, {"kit/a.py": f"if True:\n{deeper}"}))
    assert "+if True:" in text and "casefold" not in text
    assert "+... 5 lines moved here from kit/a.py:1-5, indented deeper by 4 ..." in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"kit/a.py": "A = 1\nB = 2\n"}, {"kit/a.py": None, "kit/b.py": "C = 1\nD = 2\n"}),
        ({"kit/a.py": "A = 1\n\nB = 2\n"}, {"kit/a.py": "B = 2\n\nA = 1\n"}),
        ({"kit/a.py": FUNCTIONS}, {"kit/a.py": FUNCTIONS.replace("value * 7", "value / 7")}),
        ({"kit/a.txt": "--- x\n+++ y\n@@ z\n"}, {"kit/a.txt": "--- x\n@@ -1 +1 @@ z\n"}),
        ({"kit/a.py": "A = 1"}, {"kit/a.py": "A = 2"}),
    ],
)
def test_what_did_not_move_is_shown_as_git_wrote_it(
    patch: Patch, before: Mapping[str, str], after: Mapping[str, str | None]
) -> None:
    text = patch(before, after)
    assert text and with_moves(text) == text
