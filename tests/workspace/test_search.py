"""Proves workspace/search.py, and workspace/walk.py as its stand-in."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from agentforge.workspace.files import search, walk


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Sources with hidden, ignored, binary and oddly named files; a parent folder that ignores everything."""
    (tmp_path / ".gitignore").write_text("*\n")
    root = tmp_path / "ein baum ß"
    for name, content in {
        "src/a.py": b"needle = 1\nhay\nneedle_two = 2\n",
        "src/deep/b.txt": b"hay\nNEEDLE\r\n",
        ".github/ci.yml": b"needle: yes\n",
        ".gitignore": b"build/\n*.gen.py\n",
        "build/c.py": b"needle in build\n",
        "src/x.gen.py": b"needle generated\n",
        "data.bin": b"\0\0needle\0",
        "odd ä.txt": b"needle:7:8\n",
        "latin.txt": b"needle \xe9\n",
        ".agentforge/tasks/t/needle.txt": b"needle\n",
        "long.txt": b"needle " + b"x" * 1000 + b"\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


FILES = [".github/ci.yml", ".gitignore", "data.bin", "latin.txt", "long.txt", "odd ä.txt", "src/a.py", "src/deep/b.txt"]


def test_every_line_is_found_in_the_order_of_paths(tree: Path) -> None:
    result = search.grep(tree, "needle")
    assert result.engine == "ripgrep"
    assert result.stopped_at is None
    assert [(match.path, match.line) for match in result.matches] == [
        (".github/ci.yml", 1), ("latin.txt", 1), ("long.txt", 1), ("odd ä.txt", 1), ("src/a.py", 1), ("src/a.py", 3),
    ]  # fmt: skip
    assert result.matches[3].text == "needle:7:8"
    assert result.matches[2].text.endswith("x ... 607 more characters")


def test_case_context_and_literal_text(tree: Path) -> None:
    lower = search.grep(tree, "^needle", path="src", ignore_case=True)
    assert [(match.path, match.text) for match in lower.matches][-1] == ("src/deep/b.txt", "NEEDLE")
    near = search.grep(tree, "hay", path="src/a.py", context=1)
    assert [(match.line, match.is_context) for match in near.matches] == [(1, True), (2, False), (3, True)]
    assert search.grep(tree, ":7:", literal=True).matches[0].path == "odd ä.txt"


def test_a_search_that_stops_says_so(tree: Path) -> None:
    result = search.grep(tree, "needle", limit=2)
    assert (len(result.matches), result.stopped_at) == (2, 2)
    assert search.grep(tree, "needle", limit=6).stopped_at is None


def test_ignored_files_are_searched_only_when_they_are_named(tree: Path) -> None:
    assert [match.path for match in search.grep(tree, "build").matches] == [".gitignore"]
    assert search.grep(tree, "build", path="build").matches[0].path == "build/c.py"
    assert search.grep(tree, "generated", path="src").matches == ()
    assert search.grep(tree, "generated", path="src/x.gen.py").matches[0].line == 1


def test_a_pattern_that_is_none_is_an_error(tree: Path) -> None:
    with pytest.raises(search.PatternInvalid, match="unclosed group"):
        search.grep(tree, "a(")


def test_a_pattern_that_looks_like_an_option_is_a_pattern(tree: Path) -> None:
    assert search.grep(tree, "--files").matches == ()


def test_the_users_configuration_has_no_say(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--max-count=1\n--ignore-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert len(search.grep(tree, "needle", path="src/a.py").matches) == 2


def test_files_and_glob_list_what_is_not_ignored(tree: Path) -> None:
    assert search.files(tree) == FILES
    assert search.files(tree, path="src") == ["src/a.py", "src/deep/b.txt"]
    assert search.glob(tree, "**/*.txt") == ["latin.txt", "long.txt", "odd ä.txt", "src/deep/b.txt"]
    assert search.glob(tree, "deep/*", path="src") == ["src/deep/b.txt"]


def test_whole_words_and_identifiers(tree: Path) -> None:
    assert search.files_with_word(tree, "needle_two") == ["src/a.py"]
    assert "needle_two" in {identifier for path, identifier in search.identifiers(tree, ["need"]) if path == "src/a.py"}


def test_a_needle_in_the_last_of_thousands_of_files_is_found(tmp_path: Path) -> None:
    for folder in range(30):
        (tmp_path / f"d{folder:02}").mkdir()
        for number in range(100):
            (tmp_path / f"d{folder:02}" / f"f{number:02}.txt").touch()
    (tmp_path / "d29" / "f99.txt").write_text("the needle\n")
    result = search.grep(tmp_path, "needle")
    assert [match.path for match in result.matches] == ["d29/f99.txt"]
    assert result.stopped_at is None


def test_the_stand_in_finds_the_same(tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    assert walk.files(tree) == search.files(tree) == FILES
    assert walk.files(tree, path="src") == search.files(tree, path="src")
    rows = [(name, line) for name, line, _, _ in walk.lines(tree, re.compile("needle"), path=".", context=0)]
    assert rows == [(match.path, match.line) for match in search.grep(tree, "needle").matches]
    near = [(line, extra) for _, line, _, extra in walk.lines(tree, re.compile("hay"), path="src/a.py", context=1)]
    assert near == [(1, True), (2, False), (3, True)]
    assert walk.files_with(tree, re.compile(r"\bneedle_two\b")) == search.files_with_word(tree, "needle_two")
    assert set(walk.identifiers(tree, re.compile(r"\w*two\w*"), per_file=5)) == set(search.identifiers(tree, ["two"]))


def test_the_stand_in_needs_no_git(tree: Path) -> None:
    assert "src/a.py" in walk.files(tree)
    assert not any(name.startswith(".agentforge") for name in walk.files(tree))
