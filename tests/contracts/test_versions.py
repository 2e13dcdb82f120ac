"""Conditions on versions."""

from __future__ import annotations

import pytest

from agentforge.contracts.versions import satisfies
from agentforge.errors import UsageError


@pytest.mark.parametrize(
    ("version", "condition", "holds"),
    [
        ("1.2.0", ">=1.2.0", True),
        ("1.10.0", ">=1.2.0", True),
        ("1.1.9", ">=1.2.0", False),
        ("2.0", ">=1.2.0, <2", False),
        ("1.9", ">=1.2.0,<2", True),
        ("1.2", "==1.2.0", True),
        ("v1.2.0", "1.2", True),
        ("1.2.1", "!=1.2.1", False),
        ("1.9.9", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("1.2.9", "~=1.2.3", True),
        ("1.3.0", "~=1.2.3", False),
        ("0.1", "", True),
    ],
)
def test_a_version_meets_a_condition_or_not(version: str, condition: str, holds: bool) -> None:
    assert satisfies(version, condition) is holds


@pytest.mark.parametrize(("version", "condition"), [("one", ">=1"), ("1.0", ">=new"), ("1.0", "~>1"), ("1..2", "1")])
def test_what_is_no_version_is_refused(version: str, condition: str) -> None:
    with pytest.raises(UsageError, match="not a version"):
        satisfies(version, condition)
