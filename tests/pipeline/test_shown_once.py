"""What RED, GREEN and the examiner are shown stands there once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.context.packer import fill
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.material import gather
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.examination.public_names import interface
from agentforge.pipeline.ledger.entries import ledger_rows
from agentforge.pipeline.model.prompt_text import holds, specification_parts
from agentforge.pipeline.model.runtime import Runtime
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, inside

REQUEST = "Add slugify. It must hold:\n\n- slugify('A b') gives 'a-b'\n\nOne hyphen joins words."


def asked(stage: str, runtime: Runtime, *, examples: list[str], **spec: Any) -> RunState:
    intake = {**ARTIFACTS["intake"], "examples": examples, "asks": ledger_rows(REQUEST)}
    told = {**ARTIFACTS["spec"], "asks": {"1": ["REQ-001"], "2": ["REQ-001"], "3": ["REQ-002"]}, **spec}
    state = inside(stage, request=REQUEST)
    base = runtime.git.resolve("HEAD")
    work = {**state.work.artifacts, "intake": intake, "spec": told}
    return with_fields(state, artifacts=work, base_commit=base, trees={"baseline": runtime.git.tree_of(base)})


def shown(stage: str, state: RunState, runtime: Runtime) -> str:
    return fill(gather(stage, state, runtime), room=8000).text


def test_red_reads_an_example_once_and_one_that_stands_nowhere_else_too(runtime: Callable[..., Runtime]) -> None:
    made = runtime()
    examples = ["slugify('A b') gives 'a-b'", "slugify('X') gives 'x'"]
    text = shown("red", asked("red", made, examples=examples), made)
    assert [text.count(one) for one in examples] == [1, 1]


@pytest.mark.parametrize("stage", ["red", "green"])
def test_words_of_the_request_that_the_specification_has_are_not_repeated(
    stage: str, runtime: Callable[..., Runtime]
) -> None:
    made = runtime()
    requirements = [
        {"id": "REQ-001", "description": "slugify gives a slug", "acceptance_criteria": ["slugify('A b') gives 'a-b'"]},
        {"id": "REQ-002", "description": "One hyphen joins words.", "acceptance_criteria": ["'a b' gives 'a-b'"]},
    ]
    text = shown(stage, asked(stage, made, examples=[], requirements=requirements, title="Slugs"), made)
    assert text.count("One hyphen joins words.") == 1
    assert "- REQ-001: Add slugify." in text


@pytest.mark.parametrize(
    ("title", "description", "told"),
    [
        ("Slugs", "Words become slugs.", ["Slugs", "Words become slugs."]),
        ("Words become", "Words become slugs.", ["Words become slugs."]),
        ("One hyphen", "One hyphen joins words", []),
    ],
)
def test_title_and_description_stand_where_no_requirement_says_the_same(
    title: str, description: str, told: list[str]
) -> None:
    requirement = {"id": "REQ-001", "description": "One hyphen joins words.", "acceptance_criteria": ["f(1) is 2"]}
    spec = {"title": title, "description": description, "requirements": [requirement]}
    assert [whole for whole, _ in specification_parts(spec)][:-1] == told


def test_green_is_told_the_files_apart_only_where_the_lists_of_the_specification_lack_one(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    files = "files that you may write"
    assert files not in shown("green", asked("green", made, examples=[]), made)
    symbols = [{"name": "f", "file": "kit/other.py", "kind": "function", "change": "new"}]
    assert files in shown("green", asked("green", made, examples=[], symbols=symbols), made)


@pytest.mark.parametrize(
    ("above", "text", "there"),
    [
        ("- one\n  two", "one two", True),
        ("1. first thing", "- first\n  thing", True),
        ("one", "one two", False),
        ("`f(1)` gives 2, `g` too.", "f(1) gives 2", True),
        ("f(1) gives 2 where it is asked", "`f(1)` gives 2.", True),
        ("f(**a) is 1", "f(a) is 1", False),
        ("f(a) is 1", "f(`a`) is 1", False),
    ],
)
def test_lines_and_marks_of_lists_and_of_code_make_no_other_text(above: str, text: str, there: bool) -> None:
    assert holds(above, text) is there


def test_the_examiner_is_told_what_is_as_before_in_one_line_and_what_the_request_names_with_its_signature(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    rows = "".join(f"def old_{number}(a):\n    return a\n\n\n" for number in range(20))
    (made.worktree / "kit/text.py").write_text(
        f"{rows}def shout(text):\n    return text\n\n\ndef slugify(text):\n    return 1\n"
    )
    base = made.guard.tree()
    (made.worktree / "kit/text.py").write_text(
        f"{rows}def shout(text):\n    return text\n\n\ndef slugify(text):\n    return 2\n"
    )
    facts = {"changes": [{"path": "kit/text.py", "status": "modified"}], "test_files": []}
    state = inside("deliver", request="Change slugify, and let shout be.", facts={"green": facts},
                   trees={"baseline": base, "green": made.guard.tree()})  # fmt: skip
    lines = interface(state, made).split("\n")
    assert lines[1].startswith("- def slugify") and lines[2].startswith("- as before: def shout")
    assert lines[3].startswith("- as before, too: old_0, old_1") and lines[3].endswith("and 5 more")
    assert len(lines) == 4


def test_who_writes_tests_is_shown_what_was_named_and_who_implements_what_it_calls_too(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    called = "def _folded(text):\n    return text.casefold()\n"
    source = f"{called}\n\ndef slugify(text):\n    return _folded(text)\n" + "# more words\n" * 600
    (made.worktree / "slugs.py").write_text(source)
    symbols = [{"name": "slugify", "file": "slugs.py", "kind": "function", "change": "changed"}]
    texts = {}
    for stage in ("red", "green"):
        state = asked(stage, made, examples=[], symbols=symbols, files_to_modify=["slugs.py"])
        texts[stage] = shown(stage, state, made)
    assert all("return _folded(text)" in text for text in texts.values())
    assert "casefold" in texts["green"]
    assert "casefold" not in texts["red"]


@pytest.mark.parametrize(
    ("path", "before", "after", "made_by"),
    [
        (
            "kit/text.py",
            "class Pen:\n    def __init__(self, ink, width=1):\n        self.ink = ink\n\n    def draw(self):\n        return 1\n",
            ("return 1", "return 2"),
            "- makes Pen: def __init__(self, ink, width=1)",
        ),
        (
            "kit/text.py",
            "class Pen:\n    ink: str\n    width: int = 1\n\n    def draw(self):\n        return 1\n",
            ("return 1", "return 2"),
            "- makes Pen: ink: str, width: int = 1",
        ),
        (
            "kit/pen.ts",
            "export class Pen {\n  constructor(private ink: string) {}\n  draw(): number {\n    return 1\n  }\n}\n",
            ("return 1", "return 2"),
            "- makes Pen: constructor(private ink: string)",
        ),
        (
            "kit/pen.rs",
            "pub struct Pen {}\n\nimpl Pen {\n    pub fn new(ink: i32) -> Self {\n        Pen {}\n    }\n\n    pub fn draw(&self) -> i32 {\n        1\n    }\n}\n",
            ("        1\n", "        2\n"),
            "- makes Pen: pub fn new(ink: i32) -> Self",
        ),
    ],
)
def test_the_examiner_is_told_how_the_objects_are_made_whose_methods_changed(
    runtime: Callable[..., Runtime], path: str, before: str, after: tuple[str, str], made_by: str
) -> None:
    made = runtime()
    (made.worktree / path).write_text(before)
    base = made.guard.tree()
    (made.worktree / path).write_text(before.replace(*after))
    facts = {"changes": [{"path": path, "status": "modified"}], "test_files": []}
    trees = {"baseline": base, "green": made.guard.tree()}
    state = inside("deliver", request="Draw twice.", facts={"green": facts}, trees=trees)
    assert interface(state, made).split("\n").count(made_by) == 1


def test_green_is_shown_the_code_that_changes_before_the_rest_of_long_frozen_tests(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    body = "".join(f"    value_{number} = compute(other, {number})\n" for number in range(380))
    (made.worktree / "slugs.py").write_text(f"def slugify(text):\n{body}    return value_0\n")
    tests = "".join(
        f"def test_{number}():\n    assert slugify('a {number}') == 'a-{number}'\n\n\n" for number in range(150)
    )
    (made.worktree / "tests/test_slugs.py").write_text(f"from slugs import slugify\n\n\n{tests}")
    symbols = [{"name": "slugify", "file": "slugs.py", "kind": "function", "change": "changed"}]
    state = asked("green", made, examples=[], symbols=symbols, files_to_modify=["slugs.py"])
    names = [{"name": f"test_{number}"} for number in range(150)]
    red = {"test_files": [{"path": "tests/test_slugs.py", "tests": names}]}
    state = with_fields(state, artifacts={**state.work.artifacts, "red": red})
    text = agent_spec(state, made, gather("green", state, made)).context(state).messages[1].text
    assert "return value_0" in text and text.count("compute(other") == 380
    assert "def test_3():" in text
