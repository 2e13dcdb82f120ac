"""Views of real files: what was named is wanted whole, with its surroundings, before everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.context.packer import fill
from agentforge.context.sections import Level, View
from agentforge.pipeline.context.excerpts import code_view, head_of

LICENCE = "".join(f"# Redistribution clause number {number} of this licence applies.\n" for number in range(40))
BODY = "".join(f"    value_{number} = compute(value_{number - 1}, {number})\n" for number in range(1, 200))
OVERLOADS = "".join(f"@overload\ndef find(key: {kind}) -> {kind}: ...\n" for kind in ("int", "str"))
LONG = (
    f'{LICENCE}\n"""A module."""\n\nimport os\nLIMIT = 3\n\n\ndef walk(value_0):\n{BODY}    return value_199\n\n\n'
    f"{OVERLOADS}def find(key):\n    return LIMIT + key\n\n\nclass Tree:\n    def grow(self):\n        return 1\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "long.py").write_text(LONG)
    (tmp_path / "guide.md").write_text("".join(f"line number {number} of the guide\n" for number in range(1, 400)))
    (tmp_path / "tests" / "test_other.py").write_text("def test_nothing():\n    pass\n")
    return tmp_path


def text_of(view: View | None, *, room: int, least: Level = Level.NAMED) -> str:
    assert view is not None
    return fill([view], room=room, least=least).text


def test_the_head_is_the_imports_and_not_the_licence(root: Path) -> None:
    text = text_of(code_view(root, "long.py", names=["find"]), room=3000)
    assert "import os" in text and "LIMIT = 3" in text
    assert "Redistribution" not in text


def test_an_overloaded_name_is_shown_with_its_implementation(root: Path) -> None:
    text = text_of(code_view(root, "long.py", names=["find"]), room=1000)
    assert "def find(key: int) -> int: ..." in text
    assert "return LIMIT + key" in text


def test_a_long_symbol_is_shown_around_the_line_that_matters(root: Path) -> None:
    line = LONG.split("\n").index("    value_100 = compute(value_99, 100)") + 1
    text = text_of(code_view(root, "long.py", names=["walk"], lines=[line]), room=900)
    assert "def walk(value_0):" in text
    assert f"{line}     value_100 = compute(value_99, 100)" in text


def test_a_member_is_shown_with_the_line_of_its_class(root: Path) -> None:
    text = text_of(code_view(root, "long.py", names=["Tree.grow"]), room=400)
    assert "class Tree:" in text and "return 1" in text


def test_a_new_method_does_not_bring_the_methods_of_other_classes_that_bear_its_name(root: Path) -> None:
    classes = "".join(
        f"class Kind{number}:\n    def canonical(self):\n        return {number}\n\n\n" for number in range(90)
    )
    (root / "kinds.py").write_text(f"{classes}def parse(text):\n    return text\n")
    text = text_of(code_view(root, "kinds.py", names=["Matching.canonical", "kinds.parse"]), room=600)
    assert "def parse(text):" in text and "canonical" not in text


def test_a_document_is_shown_around_the_line_that_matters(root: Path) -> None:
    text = text_of(code_view(root, "guide.md", lines=[200]), room=400)
    assert "line number 200 of the guide" in text
    assert "line number 300 of the guide" not in text


@pytest.mark.parametrize("name", ["guide.md", "guide.rst"])
def test_a_document_is_shown_by_its_section(root: Path, name: str) -> None:
    heads = (
        ("## {}\n", "```\n# no heading\n```\n")
        if name.endswith("md")
        else ("{}\n--------\n", "::\n\n    no heading\n\n")
    )
    parts = [
        heads[0].format(f"Part {n}") + "".join(f"{n}-{k} of the guide\n" for k in range(40)) + heads[1]
        for n in range(9)
    ]
    text = "".join(parts)
    (root / name).write_text(text)
    line = text.split("\n").index("4-20 of the guide") + 1
    shown = text_of(code_view(root, name, lines=[line]), room=1500)
    assert "Part 4" in shown and "4-0 of" in shown and "4-39 of" in shown and "no heading" in shown
    assert "3-39" not in shown and "Part 5" not in shown


def test_a_document_is_shown_around_a_word_that_names_a_place(root: Path) -> None:
    text = text_of(code_view(root, "guide.md", names=["number 321 of"]), room=400)
    assert "321 line number 321 of the guide" in text


def test_a_small_file_is_wanted_whole_and_of_a_large_one_what_the_named_places_speak_of(root: Path) -> None:
    small = code_view(root, "tests/test_other.py")
    assert "(whole)" in text_of(small, room=400)
    (root / "calls.py").write_text(
        f"{LONG}\n\ndef start():\n    return helper(2)\n\n\ndef idle():\n    pass\n\n\ndef helper(count):\n    return count\n"
    )
    text = text_of(code_view(root, "calls.py", names=["start"]), room=20_000)
    assert "return helper(2)" in text and "return count" in text
    assert "def idle" not in text and "value_150" not in text
    assert code_view(root, "missing.py") is None


def test_a_file_that_was_named_alone_is_shown_as_far_as_there_is_room(root: Path) -> None:
    assert "value_150" in text_of(code_view(root, "long.py"), room=20_000, least=Level.LIKELY)
    assert "line number 2 of the guide" in text_of(code_view(root, "guide.md"), room=900, least=Level.LIKELY)


def test_a_small_file_without_room_is_shown_around_the_line_that_matters(root: Path) -> None:
    (root / "small.py").write_text("".join(f"def part_{number}():\n    return {number}\n\n\n" for number in range(40)))
    text = text_of(code_view(root, "small.py", names=["part_30"], lines=[122]), room=200)
    assert "def part_30():" in text and "return 30" in text
    assert "def part_0():" not in text


def test_the_lines_near_every_named_line_come_before_whole_functions(root: Path) -> None:
    rows = LONG.split("\n")
    lines = [rows.index(f"    value_{number} = compute(value_{number - 1}, {number})") + 1 for number in (20, 90, 160)]
    text = text_of(code_view(root, "long.py", names=["walk"], lines=lines), room=1400)
    assert all(f"{line + away} " in text for line in lines for away in (-8, 8))


def test_a_binary_file_is_not_shown(root: Path) -> None:
    (root / "tests" / "package.zip").write_bytes(b"PK\x03\x04\0\0find long")
    assert code_view(root, "tests/package.zip") is None


def test_what_a_module_passes_on_stands_among_its_imports() -> None:
    source = "//! Words.\n\npub use self::walk::Walk;\npub mod seek;\nuse std::fmt;\n\npub struct Kit;\n"
    assert head_of(source) == (3, 6)
    assert head_of("export * from './walk.js';\nimport { a } from './a.js';\n\nexport const b = a;\n") == (1, 3)
