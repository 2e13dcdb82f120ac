"""Text files keep how they are written, and paths stay inside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import agentforge
from agentforge.canonical import digest_bytes
from agentforge.workspace.files.file_access import (
    BinaryFile,
    OutsideWorkspace,
    TooLarge,
    Unencodable,
    digest_file,
    read_text,
    remove_tree,
    resolve_inside,
    write_text,
)

WAYS = [
    ("plain", b"a\nb\n", "utf-8", False, "\n", "a\nb\n"),
    ("empty", b"", "utf-8", False, "\n", ""),
    ("windows", b"a\r\nb\r\n", "utf-8", False, "\r\n", "a\nb\n"),
    ("mixed", b"a\r\nb\n", "utf-8", False, "mixed", "a\r\nb\n"),
    ("mark", b"\xef\xbb\xbfa\r\n", "utf-8", True, "\r\n", "a\n"),
    ("utf-16 le", b"\xff\xfe" + "é\r\n".encode("utf-16-le"), "utf-16-le", True, "\r\n", "é\n"),
    ("utf-16 be", b"\xfe\xff" + "é\n".encode("utf-16-be"), "utf-16-be", True, "\n", "é\n"),
    ("utf-32 le", b"\xff\xfe\x00\x00" + "é\n".encode("utf-32-le"), "utf-32-le", True, "\n", "é\n"),
    (
        "cookie",
        b"#!/bin/x\n# -*- coding: iso-8859-15 -*-\n# \xa4\n",
        "iso-8859-15",
        False,
        "\n",
        "#!/bin/x\n# -*- coding: iso-8859-15 -*-\n# €\n",
    ),
    ("wrong cookie", "# coding: rot13\nü\n".encode(), "utf-8", False, "\n", "# coding: rot13\nü\n"),
    ("latin-1", b"caf\xe9\n", "latin-1", False, "\n", "café\n"),
    ("old mac", b"a\rb\r", "utf-8", False, "\n", "a\rb\r"),
]


@pytest.mark.parametrize(
    ("data", "encoding", "bom", "newline", "text"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS]
)
def test_every_way_of_writing_is_known_and_kept(
    tmp_path: Path, data: bytes, encoding: str, bom: bool, newline: str, text: str
) -> None:
    path = tmp_path / "fïle"
    path.write_bytes(data)
    path.chmod(0o750)
    file = read_text(path)
    assert (file.text, file.encoding, file.bom, file.newline, file.mode) == (text, encoding, bom, newline, 0o750)
    assert file.digest == digest_bytes(data) == digest_file(path)
    assert write_text(path, file) == file.digest
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o750


@given(st.binary(max_size=60))
def test_any_bytes_come_back_or_are_called_binary(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any bytes"
    path.write_bytes(data)
    try:
        file = read_text(path)
    except BinaryFile:
        assert b"\0" in data
        return
    write_text(path, file)
    assert path.read_bytes() == data


def test_new_text_is_written_like_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfa\r\n")
    like = read_text(path)
    write_text(path, "x\ny\r\nz\n", like=like)
    assert path.read_bytes() == b"\xef\xbb\xbfx\r\ny\r\nz\r\n"


def test_a_new_file_is_plain_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "new"
    write_text(path, "ü\r\n")
    assert path.read_bytes() == "ü\r\n".encode()
    assert path.stat().st_mode & 0o111 == 0
    path.chmod(0o700)
    write_text(path, "other")
    assert path.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path).iterdir()] == ["new"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_what_the_encoding_cannot_hold_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(Unencodable, match=r"written in latin-1, which cannot hold '€' \(U\+20AC\) at line 2"):
        write_text(path, "a\n€\n", like=read_text(path))
    assert path.read_bytes() == b"caf\xe9\n"
    with pytest.raises(Unencodable, match="utf-8"):
        write_text(path, "\udcff")


def test_binary_huge_and_special_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"a\0b")
    with pytest.raises(BinaryFile, match="binary file of 3 bytes"):
        read_text(tmp_path / "b")
    with (tmp_path / "big").open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(TooLarge, match="50000000 bytes, the limit is 10000000"):
        read_text(tmp_path / "big")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BinaryFile, match="not a regular file"):
        read_text(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "none")


def test_a_full_disk_is_an_error_of_storage_and_keeps_the_old_file(tmp_path: Path) -> None:
    source = Path(agentforge.__file__).parent.parent
    code = (
        "import sys, resource, signal; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from agentforge.workspace.files.file_access import write_text; from agentforge.errors import StorageError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "path = Path(sys.argv[2]); write_text(path, 'old')\n"
        "try: write_text(path, 'x' * 5000)\n"
        "except StorageError as exc: print(exc.exit_code, path.read_text(), len(list(path.parent.iterdir())), exc)\n"
    )
    argv = [sys.executable, "-c", code, str(source), str(tmp_path / "f")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("7 old 1 ")
    assert "was not written" in done.stdout


class TestPaths:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = tmp_path / "root"
        for folder in ("src/.git", ".git", ".agentforge", "deep"):
            (root / folder).mkdir(parents=True)
        (root / "out").symlink_to(tmp_path)
        (root / "in").symlink_to("src")
        (root / "sneaky").symlink_to(".git")
        (root / "loop").symlink_to("loop")
        return root

    @pytest.mark.parametrize(
        ("asked", "real"),
        [
            ("a.py", "a.py"),
            (".", ""),
            ("src/../b", "b"),
            ("in/x", "src/x"),
            (".gitignore", ".gitignore"),
            ("./new/deep/f", "new/deep/f"),
            ("a b/ü", "a b/ü"),
        ],
    )
    def test_inside(self, root: Path, asked: str, real: str) -> None:
        assert resolve_inside(root, asked) == root / real

    def test_an_absolute_path_inside(self, root: Path) -> None:
        assert resolve_inside(root, str(root / "src" / "x")) == root / "src" / "x"

    @pytest.mark.parametrize(
        "asked",
        ["", "..", "../x", "src/../../x", "/etc/passwd", "out/x", "a\0b", ".git/hooks/pre-commit", "src/.git/config", ".GIT/config",
         ".agentforge/config.toml", "sneaky/config", "x/../.git/config", "loop/x", "n" * 300 + "/x"],
    )  # fmt: skip
    def test_outside(self, root: Path, asked: str) -> None:
        with pytest.raises(OutsideWorkspace):
            resolve_inside(root, asked)


def test_a_tree_is_removed_but_not_what_its_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "f").write_text("")
    tree = tmp_path / "tree"
    (tree / "locked" / "deep").mkdir(parents=True)
    (tree / "link").symlink_to(tmp_path / "keep")
    (tree / "locked").chmod(0)
    remove_tree(tree)
    remove_tree(tree)
    assert (tmp_path / "keep" / "f").exists()
    (tmp_path / "link").symlink_to("keep")
    remove_tree(tmp_path / "link")
    assert [path.name for path in (tmp_path).iterdir()] == ["keep"]
