"""Proves workspace/pointers.py."""

from __future__ import annotations

import pytest

from agentforge.workspace.files.pointers import pointers_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("`click.edit(filename=...)` opens nothing", ("click", "edit")),
        ("item() should not raise", ("item",)),
        ("VersionRange.intersection is slow", ("VersionRange", "intersection")),
        ("`Parser::next_token` loses a token", ("Parser", "next_token")),
        ("Array#flat is missing", ("Array", "flat")),
        ("the option --dry-run is ignored", ("dry_run",)),
        ("`area` of a circle", ("area",)),
        ('  File "a/b.py", line 3, in go_on\n', ("go_on",)),
    ],
)
def test_names_are_read_as_they_are_spelled(text: str, name: tuple[str, ...]) -> None:
    assert name in pointers_of(text).names


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("see src/a.py:120 for it", ("src/a.py", 120)),
        ("lib/x.ts#L14 is wrong", ("lib/x.ts", 14)),
        ("at run (/home/ann/kit/lib/run.js:7:12)", ("/home/ann/kit/lib/run.js", 7)),
        ('  File "/usr/lib/kit/text.py", line 9, in shout', ("/usr/lib/kit/text.py", 9)),
        ("rename utils.go", ("utils.go", 0)),
    ],
)
def test_files_are_read_with_their_lines(text: str, file: tuple[str, int]) -> None:
    assert file in pointers_of(text).files


def test_messages_are_read_without_what_a_program_puts_in() -> None:
    found = pointers_of(
        "ValueError: unknown unit 'parsec' in table 7\nand \"no such option: --foo\" is printed"
    ).phrases
    assert "unknown unit" in found
    assert "no such option: --foo" in found


def test_words_of_english_are_no_pointers() -> None:
    found = pointers_of("Please make it faster, e.g. for long lists.")
    assert not found.files
    assert not found.phrases
