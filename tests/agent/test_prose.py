"""Artifacts inside of prose."""

from __future__ import annotations

import pytest

from agentforge.agent.reply import artifact_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"goal": "x"}', {"goal": "x"}),
        ('{"artifact": {"goal": "x"}}', {"goal": "x"}),
        ('{"artifact": {"goal": "x"}, "note": 1}', {"artifact": {"goal": "x"}, "note": 1}),
        ('Here:\n```json\n{"goal": "x"}\n```\nDone.', {"goal": "x"}),
        ('```\n{"goal": "x"}\n```', {"goal": "x"}),
        ('```JSON\n{"goal": "x"}\n', {"goal": "x"}),
        ('```python\nprint()\n```\nand\n```json\n{"goal": "x"}\n```', {"goal": "x"}),
        ('```json\n{"code": "```py\\nx\\n```"}\n```', {"code": "```py\nx\n```"}),
        ('```json\n{"a": 1}\n```\n```json\n{"b": 1}\n```', None),
        ("I would write a function.", None),
        ("", None),
        ("{}", None),
        ("[1, 2]", None),
        ('{"goal": ', None),
        ("[" * 100_000, None),
    ],
)
def test_an_artifact_is_taken_from_prose_only_when_there_is_exactly_one(text: str, found: object) -> None:
    assert artifact_in(text) == found
