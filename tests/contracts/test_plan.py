"""The rules about a plan over several repositories: covered, acyclic, and contracts whose versions fit."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.contracts.rule import RuleCase
from agentforge.contracts.rulebook.plan import circle_in, earlier_parts, in_order
from agentforge.contracts.rules import find_rule, judge

RULES = (
    "repositories-have-parts",
    "parts-named",
    "part-needs",
    "parts-acyclic",
    "parts-in-line",
    "provided-versions",
    "used-versions",
)
SCHEMA = {"artifact": "events", "version": "1.2.0"}
USE = {"repo": "data", "artifact": "events", "version": ">=1.2, <2"}


def broken(parts: dict[str, Any], *, present: str = "", more: tuple[dict[str, Any], ...] = ()) -> list[str]:
    """The rules that a plan over data and api breaks."""
    facts = {
        "repositories": [{"name": "data", "commit": "a"}, {"name": "api", "commit": "b"}],
        "contracts": [{"repo": "data", "artifact": "events", "version": present}] if present else [],
    }
    listed = [{"repo": name, "request": "do what is asked", **part} for name, part in parts.items()]
    case = RuleCase(artifact={"parts": [*listed, *more]}, facts=facts)
    return [name for name in RULES if not judge(find_rule(name, source="test"), case).passed]


@pytest.mark.parametrize(
    ("parts", "present", "wrong"),
    [
        ({"data": {}, "api": {}}, "", []),
        ({"data": {}, "api": {"needs": [{"repo": "data"}]}}, "", []),
        ({"data": {}}, "", ["repositories-have-parts"]),
        ({"data": {}, "api": {}, "web": {}}, "", ["repositories-have-parts"]),
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


def part(name: str, *needs: str, repo: str = "data", stage: str = "", **more: Any) -> dict[str, Any]:
    """A part with a name that needs others of the same repository, or by `repo:part`."""
    rows = []
    for need in needs:
        place, _, other = need.rpartition(":")
        rows.append({"repo": place or repo, "part": other, **({"required_stage": stage} if stage else {})})
    return {"repo": repo, "name": name, "request": "do what is asked", "needs": rows, **more}


NEWER = {"artifact": "events", "version": "1.3.0"}


@pytest.mark.parametrize(
    ("parts", "wrong"),
    [
        ((part("one"), part("two", "one"), part("three", "two")), []),
        ((part("one"), part("two")), []),
        ((part("one"), part("one")), ["parts-named"]),
        ((part("one"), part("")), ["parts-named"]),
        ((part("one"), part("api")), ["parts-named"]),
        ((part("one"), part("data")), ["parts-named"]),
        ((part("one"), part("two", repo="data", needs=[{"repo": "data"}])), ["part-needs"]),
        ((part("one"), part("two", repo="data", needs=[{"repo": "api", "part": "one"}])), ["part-needs"]),
        ((part("one", "two"), part("two", "one")), ["parts-acyclic"]),
        ((part("one"), part("two"), part("three", "one", "two")), ["parts-in-line"]),
        ((part("one"), part("two", "one", stage="spec")), ["parts-in-line"]),
        ((part("one"), part("two", "one"), part("three", "one", "two")), []),
        ((part("one", provides=[SCHEMA]), part("two", "one", provides=[NEWER])), []),
        ((part("one", provides=[NEWER]), part("two", "one", provides=[SCHEMA])), ["provided-versions"]),
        ((part("one", provides=[SCHEMA]), part("two", provides=[NEWER])), ["provided-versions"]),
        ((part("one", provides=[SCHEMA]), part("two", "one", uses=[USE])), []),
        ((part("one", provides=[SCHEMA]), part("two", uses=[USE])), ["used-versions"]),
    ],
)
def test_several_parts_of_a_repository_have_names_and_stand_in_a_line(
    parts: tuple[dict[str, Any], ...], wrong: list[str]
) -> None:
    assert broken({"api": {}}, more=parts) == wrong


def test_what_a_part_starts_from_may_lie_behind_another_repository() -> None:
    plan = {"parts": [part("last", "api:serve"), part("serve", "data:first", repo="api"), part("first")]}
    assert earlier_parts(plan, "last") == ["first"]
    assert earlier_parts(plan, "serve") == []


def test_plans_of_before_had_one_part_for_each_repository() -> None:
    facts = {"repositories": [{"name": "api", "commit": "b"}]}
    two = RuleCase(artifact={"parts": [part("a", repo="api"), part("b", repo="api")]}, facts=facts)
    assert not judge(find_rule("every named repository has one part", source="test"), two).passed
    assert judge(find_rule("every named repository has a part", source="test"), two).passed


def test_what_was_not_measured_does_not_hold() -> None:
    case = RuleCase(artifact={"parts": []}, facts={})
    assert not judge(find_rule("repositories-have-parts", source="test"), case).passed


def test_parts_come_after_what_they_wait_for_and_a_circle_is_named() -> None:
    needs = {"app": ["api", "gone"], "api": ["data"], "data": []}
    assert in_order(needs) == ["data", "api", "app"]
    assert circle_in(needs) == []
    assert circle_in({"app": ["api"], "api": ["data"], "data": ["api"]}) == ["api", "data", "api"]
