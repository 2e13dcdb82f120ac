"""The rules about a plan over several repositories: covered, acyclic, and contracts whose versions fit."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.contracts.rule import Case
from agentforge.contracts.rulebook.splitting import circle_in, in_order
from agentforge.contracts.rules import find_rule, judge

RULES = ("repositories-covered", "part-needs", "parts-acyclic", "provided-versions", "used-versions")
SCHEMA = {"artifact": "events", "version": "1.2.0"}
USE = {"repo": "data", "artifact": "events", "version": ">=1.2, <2"}


def broken(parts: dict[str, Any], *, present: str = "", more: tuple[dict[str, Any], ...] = ()) -> list[str]:
    """The rules that a plan over data and api breaks."""
    facts = {
        "repositories": [{"name": "data", "commit": "a"}, {"name": "api", "commit": "b"}],
        "contracts": [{"repo": "data", "artifact": "events", "version": present}] if present else [],
    }
    listed = [{"repo": name, "request": "do what is asked", **part} for name, part in parts.items()]
    case = Case(artifact={"parts": [*listed, *more]}, facts=facts)
    return [name for name in RULES if not judge(find_rule(name, source="test"), case).passed]


@pytest.mark.parametrize(
    ("parts", "present", "wrong"),
    [
        ({"data": {}, "api": {}}, "", []),
        ({"data": {}, "api": {"needs": [{"repo": "data"}]}}, "", []),
        ({"data": {}}, "", ["repositories-covered"]),
        ({"data": {}, "api": {}, "web": {}}, "", ["repositories-covered"]),
        ({"data": {}, "api": {"needs": [{"repo": "api"}]}}, "", ["part-needs", "parts-acyclic"]),
        ({"data": {}, "api": {"needs": [{"repo": "web"}]}}, "", ["part-needs"]),
        ({"data": {"needs": [{"repo": "api"}]}, "api": {"needs": [{"repo": "data"}]}}, "", ["parts-acyclic"]),
        ({"data": {"provides": [SCHEMA]}, "api": {"uses": [USE], "needs": [{"repo": "data"}]}}, "1.1.9", []),
        ({"data": {"provides": [SCHEMA]}, "api": {"uses": [USE]}}, "", ["used-versions"]),
        ({"data": {}, "api": {"uses": [USE]}}, "1.3", []),
        ({"data": {}, "api": {"uses": [USE]}}, "2.0", ["used-versions"]),
        ({"data": {}, "api": {"uses": [USE]}}, "", ["used-versions"]),
        ({"data": {}, "api": {"uses": [{**USE, "version": "newest"}]}}, "1.3", ["used-versions"]),
        ({"data": {"provides": [SCHEMA]}, "api": {}}, "1.2.0", ["provided-versions"]),
        ({"data": {"provides": [SCHEMA, SCHEMA]}, "api": {}}, "", ["provided-versions"]),
        ({"data": {"provides": [{**SCHEMA, "version": "next"}]}, "api": {}}, "1.0", ["provided-versions"]),
        ({"data": {"provides": [{**SCHEMA, "version": "next"}]}, "api": {}}, "", ["provided-versions"]),
    ],
)
def test_a_plan_is_judged_by_its_parts_and_what_the_repositories_hold(
    parts: dict[str, Any], present: str, wrong: list[str]
) -> None:
    assert broken(parts, present=present) == wrong


def test_a_repository_has_one_part_only() -> None:
    assert broken({"data": {}, "api": {}}, more=({"repo": "api", "request": "more"},)) == ["repositories-covered"]


def test_what_was_not_measured_does_not_hold() -> None:
    case = Case(artifact={"parts": []}, facts={})
    assert not judge(find_rule("repositories-covered", source="test"), case).passed


def test_parts_come_after_what_they_wait_for_and_a_circle_is_named() -> None:
    needs = {"app": ["api", "gone"], "api": ["data"], "data": []}
    assert in_order(needs) == ["data", "api", "app"]
    assert circle_in(needs) == []
    assert circle_in({"app": ["api"], "api": ["data"], "data": ["api"]}) == ["api", "data", "api"]
