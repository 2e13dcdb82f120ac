"""Rules about a plan that splits one request over repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import Case, NamedRule, RuleOutcome, broken, entries, held, judged, text
from agentforge.contracts.versions import satisfies
from agentforge.errors import UsageError


def repositories_covered(case: Case) -> RuleOutcome:
    """Each repository that was named has exactly one part, and no other has any."""
    named = [str(item.get("name")) for item in case.fact_records("repositories")]
    listed = [(path, text(item, "repo")) for path, item in entries(case.artifact, "parts")]
    count = Counter(name for _, name in listed)
    wrong = [(f"{path}.repo", f"{name!r} was not named") for path, name in listed if name not in named]
    wrong += [("parts", f"hold {count[name]} parts of {name}") for name in named if count[name] != 1]
    return judged(wrong, measured=len(named), fix=f"write one part for each of: {', '.join(named)}")


def needs_known(case: Case) -> RuleOutcome:
    """What a part waits for is another part of this plan."""
    parts = entries(case.artifact, "parts")
    known = {text(item, "repo") for _, item in parts}
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, item in parts:
        for place, need in entries(item, "needs"):
            count += 1
            other = text(need, "repo")
            if other == text(item, "repo"):
                wrong.append((f"{path}.{place}.repo", "is the part itself"))
            elif other not in known:
                wrong.append((f"{path}.{place}.repo", f"{other!r} has no part"))
    return judged(wrong, measured=count, fix="name the repository of another part, or drop it")


def no_circle(case: Case) -> RuleOutcome:
    """There is an order in which the parts can be delivered."""
    needs = needs_of(case.artifact)
    circle = circle_in(needs)
    if circle:
        return broken(f"parts wait for each other: {' -> '.join(circle)} - drop one", path="parts", measured=circle)
    return held(sum(len(others) for others in needs.values()))


def provided_new(case: Case) -> RuleOutcome:
    """What a part provides has a version, stands there once, and is newer than what the repository has."""
    present = _at_base(case)
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, part in entries(case.artifact, "parts"):
        seen: set[str] = set()
        for place, item in entries(part, "provides"):
            count += 1
            name, version = text(item, "artifact"), text(item, "version")
            problem = _problem_of(version, present.get((text(part, "repo"), name), ()))
            problem = f"{name} is provided twice" if name in seen else problem
            seen.add(name)
            if problem:
                wrong.append((f"{path}.{place}", problem))
    return judged(wrong, measured=count, fix="give a higher version: numbers with dots, like 1.3.0")


def used_fitting(case: Case) -> RuleOutcome:
    """What a part uses is provided by a part that it waits for, or stands in the repository already."""
    parts = entries(case.artifact, "parts")
    provided = {
        (text(part, "repo"), text(item, "artifact")): text(item, "version")
        for _, part in parts
        for _, item in entries(part, "provides")
    }
    present, needs = _at_base(case), needs_of(case.artifact)
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, part in parts:
        before = _all_before(text(part, "repo"), needs)
        for place, item in entries(part, "uses"):
            count += 1
            key = (text(item, "repo"), text(item, "artifact"))
            versions = present.get(key, ())
            problem = _misfit(key, text(item, "version"), new=provided.get(key), there=versions, before=before)
            if problem:
                wrong.append((f"{path}.{place}", problem))
    fix = "let the part wait for the one that provides it (needs), and let the versions agree"
    return judged(wrong, measured=count, fix=fix)


def needs_of(plan: Json) -> dict[str, list[str]]:
    """Which parts each part waits for, by repository."""
    return {
        text(part, "repo"): [text(need, "repo") for _, need in entries(part, "needs")]
        for _, part in entries(plan, "parts")
    }


def in_order(needs: Mapping[str, list[str]]) -> list[str]:
    """The parts so that each comes after those that it waits for; what waits in a circle is left out."""
    order: list[str] = []
    left = {name: [other for other in others if other in needs] for name, others in needs.items()}
    while ready := [name for name, others in left.items() if all(other in order for other in others)]:
        order += ready
        left = {name: others for name, others in left.items() if name not in ready}
    return order


def circle_in(needs: Mapping[str, list[str]]) -> list[str]:
    """A way from a part back to itself; [] when there is none."""
    stuck = [name for name in needs if name not in in_order(needs)]
    way = stuck[:1]
    while way:
        following = next(other for other in needs[way[-1]] if other in stuck)
        if following in way:
            return [*way[way.index(following) :], following]
        way.append(following)
    return []


def _all_before(repo: str, needs: Mapping[str, list[str]]) -> set[str]:
    """The parts that come before a part, directly or not."""
    found: set[str] = set()
    ahead = list(needs.get(repo, []))
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += needs.get(name, [])
    return found


def _at_base(case: Case) -> dict[tuple[str, str], list[str]]:
    """The measured versions of contracts by (repository, contract)."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in case.fact_records("contracts"):
        if _is_version(version := str(row.get("version"))):
            found.setdefault((str(row.get("repo")), str(row.get("artifact"))), []).append(version)
    return found


def _is_version(text: str) -> bool:
    try:
        return satisfies(text, ">=0")
    except UsageError:
        return False


def _problem_of(version: str, present: list[str] | tuple[()]) -> str:
    try:
        satisfies(version, ">=0")
    except UsageError as exc:
        return exc.message
    old = [there for there in present if not satisfies(version, f">{there}")]
    return f"version {version} is not newer than {old[0]}, which is there already" if old else ""


def _misfit(
    key: tuple[str, str], wanted: str, *, new: str | None, there: list[str] | tuple[()], before: set[str]
) -> str:
    """Why a use cannot be met, "" when it can."""
    repo, artifact = key
    try:
        fits_new = new is not None and satisfies(new, wanted)
        fits_there = any(satisfies(version, wanted) for version in there)
    except UsageError as exc:
        return exc.message
    if fits_new and repo in before:
        return ""
    if fits_new:
        return f"{artifact} {new} is provided by the part of {repo}, which this part does not wait for"
    if fits_there:
        return ""
    offered = [*([f"{new} (planned)"] if new else []), *there]
    return f"{repo} has no {artifact} {wanted}: {', '.join(offered) or 'no version of it at all'}"


RULES = (
    NamedRule(
        rule_id="repositories-covered", sentence="every named repository has one part", judge=repositories_covered
    ),
    NamedRule(rule_id="part-needs", sentence="every part waits for other parts only", judge=needs_known),
    NamedRule(rule_id="parts-acyclic", sentence="parts do not wait for each other in a circle", judge=no_circle),
    NamedRule(rule_id="provided-versions", sentence="provided contracts are new versions", judge=provided_new),
    NamedRule(rule_id="used-versions", sentence="used contracts are provided in a fitting version", judge=used_fitting),
)
