"""Proves that a value is changed where it stands in a YAML text, and that nothing else changes."""

from __future__ import annotations

import pytest
import yaml

from agentforge.config.edits import holds_key, with_yaml_values

TEXT = """# mine
model:   # the model
  provider: openai
  name: "gpt é"   # why
limits: {max_steps: 5, budget_usd: 2}
notes:
  - a
  - b
test:
  command:
    - x

# end
approval: auto
"""


@pytest.mark.parametrize(
    ("key", "value", "gone", "come"),
    [
        ("model.name", "b: c", ['  name: "gpt é"   # why'], ['  name: "b: c"   # why']),
        ("limits.max_steps", 7, ["limits: {max_steps: 5, budget_usd: 2}"], ["limits: {max_steps: 7, budget_usd: 2}"]),
        ("notes", ["q"], ["notes:", "  - a", "  - b"], ['notes: ["q"]']),
        ("test.command", "make", ["  command:", "    - x"], ['  command: "make"']),
        ("approval", None, ["approval: auto"], []),
        ("model.provider", None, ["  provider: openai"], []),
        ("test.command", None, ["test:", "  command:", "    - x"], []),
        ("limits.max_steps", None, ["limits: {max_steps: 5, budget_usd: 2}"], ['limits: {"budget_usd": 2}']),
    ],
)
def test_one_value_changes_and_every_other_line_stays(
    key: str, value: object, gone: list[str], come: list[str]
) -> None:
    before, after = TEXT.splitlines(), with_yaml_values(TEXT, {key: value}).splitlines()
    assert [line for line in before if line not in after] == gone
    assert [line for line in after if line not in before] == come
    plain = yaml.safe_load("\n".join(after))
    for part in key.split(".")[:-1]:
        plain = plain.get(part, {})
    assert plain.get(key.rpartition(".")[2]) == value


def test_a_key_that_does_not_stand_there_and_a_text_that_is_no_yaml_are_refused() -> None:
    assert holds_key(TEXT, "model") and holds_key(TEXT, "model.name") and not holds_key(TEXT, "model.url")
    assert not holds_key("a: [", "a")
    with pytest.raises(ValueError, match=r"model\.url"):
        with_yaml_values(TEXT, {"model.url": "x"})
    with pytest.raises(ValueError, match="no YAML"):
        with_yaml_values("a: [", {"a": 1})
