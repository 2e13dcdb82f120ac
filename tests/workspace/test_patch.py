"""Patches as models write them, applied whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agentforge.workspace.files.patch import PatchResult, apply_patch, nearest_lines
from agentforge.workspace.files.patchformat import parse_patch
from agentforge.workspace.git.repository import Git

POEM = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "wörk tree"
    (folder / "src").mkdir(parents=True)
    (folder / "poem.txt").write_text(POEM)
    (folder / "src" / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    return folder


def free(path: str) -> str | None:
    return None


def apply(root: Path, text: str, **options: object) -> PatchResult:
    return apply_patch(root, text, may_write=free, **options)  # type: ignore[arg-type]


def state(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_clean_patch(root: Path) -> None:
    patch = "--- a/poem.txt\n+++ b/poem.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    assert apply(root, patch) == PatchResult(changed=("poem.txt",))
    assert (root / "poem.txt").read_text() == POEM.replace("two", "TWO")


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -90,1 +77,9 @@\n three\n-four\n+FOUR\n five\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ @@\n three\n-four\n+FOUR\n five\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@\n three\n-four\n+FOUR\n five\n",
        "--- poem.txt\n+++ poem.txt\n@@ -3,3 +3,3 @@ some function\n three\n-four\n+FOUR\n five\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -3,3 +3,3 @@\n three  \n-four\t\n+FOUR\n five\n",
        "--- a/poem.txt\r\n+++ b/poem.txt\r\n@@ -3,3 +3,3 @@\r\n three\r\n-four\r\n+FOUR\r\n five\r\n",
        "Here is the patch:\n\n```diff\ndiff --git a/poem.txt b/poem.txt\nindex 123..456 100644\n--- a/poem.txt\n+++ b/poem.txt\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n```\n",
        "--- a/poem.txt\t2026-01-01 00:00:00\n+++ b/poem.txt\t2026-01-01\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n\n\n",
    ],
    ids=[
        "wrong numbers",
        "no numbers",
        "bare header",
        "no prefix",
        "trailing space",
        "carriage returns",
        "prose",
        "stamps",
    ],
)
def test_a_patch_that_a_model_would_write(root: Path, patch: str) -> None:
    assert apply(root, patch).changed == ("poem.txt",)
    assert (root / "poem.txt").read_bytes() == POEM.replace("four", "FOUR").encode()


def test_line_ends_encoding_mark_and_mode_stay(root: Path) -> None:
    (root / "src" / "crlf.txt").chmod(0o755)
    (root / "latin.txt").write_bytes(b"caf\xe9\nx\n")
    (root / "mark.txt").write_bytes(b"\xef\xbb\xbffirst\n")
    patch = (
        "--- a/src/crlf.txt\n+++ b/src/crlf.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+and\n three\n"
        "--- a/latin.txt\n+++ b/latin.txt\n@@ -1,2 +1,2 @@\n café\n-x\n+ü\n"
        "--- a/mark.txt\n+++ b/mark.txt\n@@ -1 +1 @@\n-first\n+FIRST\n"
    )
    assert apply(root, patch).changed == ("latin.txt", "mark.txt", "src/crlf.txt")
    assert (root / "src" / "crlf.txt").read_bytes() == b"one\r\nTWO\r\nand\r\nthree\r\n"
    assert os.access(root / "src" / "crlf.txt", os.X_OK)
    assert (root / "latin.txt").read_bytes() == b"caf\xe9\n\xfc\n"
    assert (root / "mark.txt").read_bytes() == b"\xef\xbb\xbfFIRST\n"


@pytest.mark.parametrize("careful", [False, True], ids=["by git", "by context"])
def test_files_come_go_and_move(root: Path, careful: bool) -> None:
    wrong = "99" if careful else "1"
    (root / "old.txt").write_text("a\nb\n")
    (root / "gone.txt").write_text("bye\n")
    patch = (
        "diff --git a/new dir/nëw.txt b/new dir/nëw.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new dir/nëw.txt\n@@ -0,0 +1,2 @@\n+hello\n+there\n"
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
        "diff --git a/old.txt b/src/moved.txt\nsimilarity index 50%\nrename from old.txt\nrename to src/moved.txt\n--- a/old.txt\n+++ b/src/moved.txt\n"
        f"@@ -{wrong},2 +1,2 @@\n a{' ' if careful else ''}\n-b\n+B\n"
    )
    result = apply(root, patch)
    assert result == PatchResult(changed=("gone.txt", "new dir/nëw.txt", "old.txt", "src/moved.txt"))
    assert (root / "new dir" / "nëw.txt").read_text() == "hello\nthere\n"
    assert os.access(root / "new dir" / "nëw.txt", os.X_OK)
    assert (root / "src" / "moved.txt").read_text() == "a\nB\n"
    assert not (root / "gone.txt").exists()
    assert not (root / "old.txt").exists()


def test_a_missing_last_line_feed_is_kept_made_and_removed(root: Path) -> None:
    path = root / "end.txt"
    for number in ("1", "50"):  # by git, and by context
        path.write_text("a\nb")
        assert apply(
            root, f"--- a/end.txt\n+++ b/end.txt\n@@ -{number},2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"
        ).changed
        assert path.read_text() == "A\nb"
        assert apply(
            root, f"--- a/end.txt\n+++ b/end.txt\n@@ -{number},2 +1,2 @@\n A\n-b\n\\ No newline at end of file\n+b\n"
        ).changed
        assert path.read_text() == "A\nb\n"
        assert apply(
            root, f"--- a/end.txt\n+++ b/end.txt\n@@ -{number},2 +1,2 @@\n A\n-b\n+b\n\\ No newline at end of file\n"
        ).changed
        assert path.read_text() == "A\nb"


def test_several_hunks_find_their_places_in_order(root: Path) -> None:
    (root / "rep.txt").write_text("x\nend\n" * 4)
    patch = "--- a/rep.txt\n+++ b/rep.txt\n@@ -3,2 +3,3 @@\n x\n+new\n end \n@@ -7,2 +8,2 @@\n-x\n+y\n end\n"
    assert apply(root, patch).changed
    assert (root / "rep.txt").read_text() == "x\nend\nx\nnew\nend\nx\nend\ny\nend\n"


def test_a_place_that_nothing_tells_is_refused(root: Path) -> None:
    (root / "rep.txt").write_text("x\nend\n" * 3)
    result = apply(root, "--- a/rep.txt\n+++ b/rep.txt\n@@ @@\n-x\n+y\n end\n")
    assert result.rejected[0].reason == "hunk 1 fits at lines 1, 3, 5: give more context or line numbers"


def test_all_or_nothing_with_the_nearest_lines(root: Path) -> None:
    before = state(root)
    patch = (
        "--- a/src/crlf.txt\n+++ b/src/crlf.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -3,2 +3,2 @@\n three\n-fourr\n+4\n"
        "--- a/peom.txt\n+++ b/peom.txt\n@@ -1 +1 @@\n-one\n+1\n"
    )
    result = apply(root, patch)
    assert result.changed == ()
    assert [(reject.path, reject.reason) for reject in result.rejected] == [
        ("poem.txt", "hunk 1 fits nowhere: its old lines are not in the file"),
        ("peom.txt", "no such file; did you mean poem.txt?"),
    ]
    assert "   4: four" in result.rejected[0].nearest_lines
    assert state(root) == before


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../out.txt", "outside"),
        ("/etc/x", "outside"),
        (".git/hooks/x", "closed"),
        ("link/x", "outside"),
        ("frozen/t.py", "the tests are frozen"),
        ("to frozen", "the tests are frozen"),
    ],
)
def test_a_path_that_may_not_be_written_stops_the_whole_patch(
    root: Path, tmp_path: Path, path: str, words: str
) -> None:
    (root / "link").symlink_to(tmp_path)
    (root / "frozen").mkdir()
    (root / "frozen" / "real.py").write_text("x\n")
    (root / "to frozen").symlink_to("frozen/real.py")
    before = state(root)
    patch = (
        f"--- a/poem.txt\n+++ b/poem.txt\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n"
    )
    result = apply_patch(
        root, patch, may_write=lambda name: "the tests are frozen" if name.startswith("frozen/") else None
    )
    assert [reject.path for reject in result.rejected] == [path]
    assert words in result.rejected[0].reason
    assert state(root) == before


def test_a_rename_is_checked_at_both_ends(root: Path) -> None:
    patch = "diff --git a/poem.txt b/free.txt\nsimilarity index 100%\nrename from poem.txt\nrename to free.txt\n"
    result = apply_patch(root, patch, may_write=lambda name: "frozen" if name == "poem.txt" else None)
    assert [reject.path for reject in result.rejected] == ["poem.txt"]
    assert apply(root, patch).changed == ("free.txt", "poem.txt")
    assert (root / "free.txt").read_text() == POEM


def test_a_dry_run_tells_and_writes_nothing(root: Path) -> None:
    before = state(root)
    assert apply(root, "--- a/poem.txt\n+++ b/poem.txt\n@@ -1 +1 @@\n-one\n+1\n", dry_run=True).changed == ("poem.txt",)
    assert state(root) == before


def test_creating_what_exists_and_deleting_half_a_file_are_refused(root: Path) -> None:
    made = apply(root, "--- /dev/null\n+++ b/poem.txt\n@@ -0,0 +1 @@\n+x\n")
    assert made.rejected[0].reason == "the patch creates the file, but it exists"
    gone = apply(root, "--- a/poem.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")
    assert "does not list all of its lines" in gone.rejected[0].reason
    assert (root / "poem.txt").read_text() == POEM


def test_text_that_is_no_patch_says_what_is_missing(root: Path) -> None:
    assert "no file header" in apply(root, "please change poem.txt").rejected[0].reason


def test_every_patch_that_git_writes_can_be_applied(git: Git, repository: Path, tmp_path: Path) -> None:
    (repository / "a.txt").write_text("one\n2\nthree\n4")
    (repository / "src dir" / "ñ.py").unlink()
    (repository / "blob").write_bytes(bytes(range(256)) * 4)
    (repository / 'tab\tand "quote"').write_text("x\n")
    (repository / "empty").write_text("")
    (repository / "tracked.log").chmod(0o755)
    tree = git.dirty_snapshot(tmp_path / "index")
    patch = git.diff("HEAD", tree)
    git.add_worktree(tmp_path / "wt", "HEAD")
    result = apply(tmp_path / "wt", patch)
    assert result == PatchResult(changed=("a.txt", "blob", "empty", "src dir/ñ.py", 'tab\tand "quote"', "tracked.log"))
    assert git.snapshot(tmp_path / "wt", index=tmp_path / "i2") == tree


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  a", "+x", "-- y"]), max_size=12)


@given(old=LINES, new=LINES)
def test_context_matching_agrees_with_difflib(old: list[str], new: list[str]) -> None:
    import difflib

    from agentforge.workspace.files.patchformat import apply_hunks

    diff = list(difflib.unified_diff(old, new, "a/f", "b/f", lineterm=""))
    if not diff:
        return
    text = "\n".join([*old, ""]) if old else ""
    patches = parse_patch("\n".join([*diff, ""]))
    assert len(patches) == 1
    assert apply_hunks(text, patches[0].hunks, windows=False) == ("\n".join([*new, ""]) if new else "")


def test_nearest_lines_are_numbered_and_few() -> None:
    text = "def alpha():\n    return compute_total(items)\n\ndef beta():\n    return compute_totals(item)\n"
    assert nearest_lines(text, "  x\n  return compute_total(item)", count=1) in (
        ("   2:     return compute_total(items)",),
        ("   5:     return compute_totals(item)",),
    )
    assert len(nearest_lines(text, "return compute_total(item)")) <= 3
    assert nearest_lines(text, "") == ()
    assert nearest_lines("", "x") == ()


def test_a_new_file_without_a_prefix_lands_where_the_patch_says(root: Path) -> None:
    assert apply(root, "--- /dev/null\n+++ src/new.py\n@@ -0,0 +1 @@\n+x = 1\n").changed == ("src/new.py",)
    assert (root / "src" / "new.py").read_text() == "x = 1\n"
    assert not (root / "new.py").exists()
