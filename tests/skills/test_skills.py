"""Skills: read by the specification, found root by root, matched conservatively."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.skills.catalogue import find_skills, matching
from agentforge.skills.skill import SkillInvalid, problems, read_body, read_skill


def write(root: Path, folder: str, head: str, body: str = "Do it.") -> Path:
    file = root / folder / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{head}\n---\n{body}\n")
    return file


def test_everything_of_the_front_matter_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "pdf-forms",
        "name: pdf-forms\ndescription: Fill PDF forms.\nlicense: MIT\ncompatibility: needs pdftk\nmetadata: {version: '1'}\n"
        "allowed-tools: Bash(pdftk:*, x) Read web_fetch\naliases: [acroform]\ndisplay_name: PDF Forms",
    )
    skill = read_skill(file)
    assert (skill.name, skill.license, skill.compatibility, skill.metadata) == (
        "pdf-forms", "MIT", "needs pdftk", {"version": "1"},
    )  # fmt: skip
    assert skill.allowed_tools == ("shell", "read_file", "web_fetch")
    assert (skill.aliases, skill.titles) == (("acroform",), ("PDF Forms",))
    assert read_body(file) == "Do it."
    assert problems(skill) == ()


def test_the_predecessor_s_spelling_of_tools_is_read(tmp_path: Path) -> None:
    skill = read_skill(write(tmp_path, "a", "description: x\nallowed_tools: [read_file, grep]"))
    assert (skill.name, skill.allowed_tools) == ("a", ("read_file", "grep"))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"no front matter", "front matter"),
        (b"---\nname: a\ndescription: b\n", "does not end"),
        (b"---\nname: a\n---\n", "description"),
        (b"---\n- a\n---\n", "no table"),
        (b"---\na: [\n---\n", "YAML"),
        (b"---\nname: \xff\n---\n", "UTF-8"),
        (b"---\nx: !!python/object/apply:os.system [ls]\n---\n", "YAML"),
        (b"", "front matter"),
    ],
)
def test_a_broken_skill_is_skipped_with_its_reason_and_hurts_no_other(
    tmp_path: Path, content: bytes, word: str
) -> None:
    broken = tmp_path / "broken" / "SKILL.md"
    broken.parent.mkdir()
    broken.write_bytes(content)
    write(tmp_path, "good", "description: good")
    found = find_skills([tmp_path])
    assert list(found.skills) == ["good"]
    assert [word in one.reason for one in found.skipped] == [True]
    with pytest.raises(SkillInvalid):
        read_skill(broken)


def test_the_first_root_wins_and_folders_of_dependencies_are_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path / "one", "deep/er/tdd", "description: first")
    write(tmp_path / "two", "tdd", "description: second")
    write(tmp_path / "one", "node_modules/evil", "description: evil")
    found = find_skills([tmp_path / "missing", tmp_path / "one", tmp_path / "two"])
    assert {name: skill.description for name, skill in found.skills.items()} == {"tdd": "first"}
    assert ["is taken by" in one.reason for one in found.skipped] == [True]


def test_what_the_specification_forbids_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, "other", f"name: Bad_Name\ndescription: {'x' * 1025}")
    assert len(problems(read_skill(file))) == 3


def catalogue(tmp_path: Path) -> list[object]:
    write(
        tmp_path, "frontend-design", "description: Create distinctive web interfaces with strong typography and layout."
    )
    write(tmp_path, "design", "description: Draw diagrams of software architecture.")
    write(tmp_path, "tdd", "description: Write failing tests before the implementation.\nalias: test-first")
    write(tmp_path, "debugging", "description: Find the cause of failing tests and crashes.\ncommand: /debug-it")
    return list(find_skills([tmp_path]).skills.values())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("use the frontend design skill", [("frontend-design", "name")]),
        ("please do this with TDD", [("tdd", "name")]),
        ("work test first", [("tdd", "alias")]),
        ("run debug it on this", [("debugging", "alias")]),
        ("Create a web interface with good layout and typography", [("frontend-design", "words")]),
        ("fix the tests", []),
        ("failing tests", []),
        ("", []),
        ("tdd and debugging", [("tdd", "name"), ("debugging", "name")]),
    ],
)
def test_matching_is_conservative(tmp_path: Path, message: str, expected: list[tuple[str, str]]) -> None:
    found = matching(message, catalogue(tmp_path))  # type: ignore[arg-type]
    assert sorted((one.skill.name, one.reason) for one in found) == sorted(expected)
