"""Rules about a plan that splits one request over repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import RuleCase, RuleOutcome, broken, entries, held, judged, named, text
from agentforge.contracts.versions import satisfies
from agentforge.errors import UsageError


def repositories_covered(case: RuleCase) -> RuleOutcome:
    """Each repository that was named has exactly one part, and no other has any; plans of before were judged by it."""
    named = [str(item.get("name")) for item in case.fact_records("repositories")]
    listed = [(path, text(item, "repo")) for path, item in entries(case.artifact, "parts")]
    count = Counter(name for _, name in listed)
    wrong = [(f"{path}.repo", f"{name!r} was not named") for path, name in listed if name not in named]
    wrong += [("parts", f"hold {count[name]} parts of {name}") for name in named if count[name] != 1]
    return judged(wrong, measured=len(named), fix=f"write one part for each of: {', '.join(named)}")


def repositories_have_parts(case: RuleCase) -> RuleOutcome:
    """Each repository that was named has a part, and no other has any."""
    named = [str(item.get("name")) for item in case.fact_records("repositories")]
    listed = [(path, text(item, "repo")) for path, item in entries(case.artifact, "parts")]
    wrong = [(f"{path}.repo", f"{name!r} was not named") for path, name in listed if name not in named]
    wrong += [("parts", f"hold none of {name}") for name in named if name not in [repo for _, repo in listed]]
    return judged(wrong, measured=len(named), fix=f"write at least one part for each of: {', '.join(named)}")


def parts_named(case: RuleCase) -> RuleOutcome:
    """Parts can be told apart: those of a repository with several have names, and no name stands twice."""
    parts = entries(case.artifact, "parts")
    count = Counter(key_of(item) for _, item in parts)
    repos = Counter(text(item, "repo") for _, item in parts)
    wrong: list[tuple[str, str]] = []
    for path, item in parts:
        name, repo = text(item, "name"), text(item, "repo")
        if not name and repos[repo] > 1:
            wrong.append((f"{path}.name", f"is missing: {repo} has {repos[repo]} parts"))
        elif count[key_of(item)] > 1:
            wrong.append((f"{path}.name", f"{key_of(item)!r} stands {count[key_of(item)]} times"))
        elif name in repos and (name != repo or repos[repo] > 1):
            wrong.append((f"{path}.name", f"{name!r} is the name of a repository"))
    return judged(wrong, measured=len(parts), fix="give every part a name of its own")


def needs_known(case: RuleCase) -> RuleOutcome:
    """What a part waits for is another part of this plan."""
    parts = entries(case.artifact, "parts")
    known = {key_of(item): text(item, "repo") for _, item in parts}
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, item in parts:
        for place, need in entries(item, "needs"):
            count += 1
            field = "part" if text(need, "part") else "repo"
            problem = _unknown(need, known, mine=key_of(item))
            if problem:
                wrong.append((f"{path}.{place}.{field}", problem))
    return judged(wrong, measured=count, fix="name another part by its repository, or by its name, or drop it")


def same_repository_in_line(case: RuleCase) -> RuleOutcome:
    """Parts of one repository that come before another part of it stand in one line: it starts from the last one's delivery."""
    parts = {key_of(item): (path, item) for path, item in entries(case.artifact, "parts")}
    wrong: list[tuple[str, str]] = []
    for key, (path, item) in parts.items():
        line = earlier_parts(case.artifact, key)
        wrong += [
            (
                f"{path}.needs",
                f"come after {first} and {second} of {text(item, 'repo')}, which do not wait for each other",
            )
            for first, second in pairwise(line)
            if first not in earlier_parts(case.artifact, second)
        ]
        wrong += [
            (
                f"{path}.{place}.required_stage",
                f"{asked_of(need)} must be delivered: this part starts from what it delivers",
            )
            for place, need in entries(item, "needs")
            if asked_of(need) in line and text(need, "required_stage") not in ("", "deliver")
        ]
    return judged(wrong, measured=len(parts), fix="let parts of one repository wait for each other one after the other")


def no_circle(case: RuleCase) -> RuleOutcome:
    """There is an order in which the parts can be delivered."""
    needs = needs_of(case.artifact)
    circle = circle_in(needs)
    if circle:
        return broken(f"parts wait for each other: {' -> '.join(circle)} - drop one", path="parts", measured=circle)
    return held(sum(len(others) for others in needs.values()))


def provided_new(case: RuleCase) -> RuleOutcome:
    """What a part provides has a version, stands there once, and is newer than what the repository has."""
    present = _at_base(case)
    provided = _provided(case.artifact)
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, part in entries(case.artifact, "parts"):
        seen: set[str] = set()
        for place, item in entries(part, "provides"):
            count += 1
            name, version = text(item, "artifact"), text(item, "version")
            planned = provided[(text(part, "repo"), name)]
            problem = _problem_of(
                version, [*present.get((text(part, "repo"), name), ()), *_before_this(case, part, planned)]
            )
            problem = problem or _parted(case, part, planned)
            problem = f"{name} is provided twice" if name in seen else problem
            seen.add(name)
            if problem:
                wrong.append((f"{path}.{place}", problem))
    return judged(wrong, measured=count, fix="give a higher version: numbers with dots, like 1.3.0")


def used_fitting(case: RuleCase) -> RuleOutcome:
    """What a part uses is provided by a part that it waits for, or stands in the repository already."""
    parts = entries(case.artifact, "parts")
    provided = _provided(case.artifact)
    present, needs = _at_base(case), needs_of(case.artifact)
    wrong: list[tuple[str, str]] = []
    count = 0
    for path, part in parts:
        before = _all_before(key_of(part), needs)
        for place, item in entries(part, "uses"):
            count += 1
            key = (text(item, "repo"), text(item, "artifact"))
            versions = present.get(key, ())
            problem = _misfit(key, text(item, "version"), new=provided.get(key, {}), there=versions, before=before)
            if problem:
                wrong.append((f"{path}.{place}", problem))
    fix = "let the part wait for the one that provides it (needs), and let the versions agree"
    return judged(wrong, measured=count, fix=fix)


def key_of(part: Json) -> str:
    """What a part is called within its plan: its name, else that of its repository."""
    return text(part, "name") or text(part, "repo")


def asked_of(need: Json) -> str:
    """The key of the part that a need means."""
    return text(need, "part") or text(need, "repo")


def needs_of(plan: Json) -> dict[str, list[str]]:
    """Which parts each part waits for, by their keys."""
    return {key_of(part): [asked_of(need) for _, need in entries(part, "needs")] for _, part in entries(plan, "parts")}


def earlier_parts(plan: Json, key: str) -> list[str]:
    """The parts of the same repository that come before a part, directly or not, in their order; it starts from the last."""
    needs = needs_of(plan)
    repos = {key_of(part): text(part, "repo") for _, part in entries(plan, "parts")}
    before = _all_before(key, needs) - {key}
    return [name for name in in_order(needs) if name in before and repos[name] == repos[key]]


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


def _unknown(need: Json, known: Mapping[str, str], *, mine: str) -> str:
    """Why a need means no other part, "" when it does."""
    other, repo = asked_of(need), text(need, "repo")
    if other == mine:
        return "is the part itself"
    if other not in known:
        named = [key for key, place in known.items() if place == repo]
        return (
            f"{repo!r} has several parts: {', '.join(named)} - name one" if len(named) > 1 else f"{other!r} has no part"
        )
    return f"{other!r} is a part of {known[other]}, not of {repo}" if repo and known[other] != repo else ""


def _provided(plan: Json) -> dict[tuple[str, str], dict[str, str]]:
    """The planned versions of contracts, by (repository, contract) and part."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for _, part in entries(plan, "parts"):
        for _, item in entries(part, "provides"):
            place = found.setdefault((text(part, "repo"), text(item, "artifact")), {})
            place.setdefault(key_of(part), text(item, "version"))
    return found


def _before_this(case: RuleCase, part: Json, planned: Mapping[str, str]) -> list[str]:
    """The versions that earlier parts of the same repository provide."""
    versions = [planned[key] for key in earlier_parts(case.artifact, key_of(part)) if key in planned]
    return [version for version in versions if _is_version(version)]


def _parted(case: RuleCase, part: Json, planned: Mapping[str, str]) -> str:
    """Why two parts cannot provide the same, "" when they can: neither waits for the other."""
    mine = key_of(part)
    for other in planned:
        if (
            other != mine
            and other not in earlier_parts(case.artifact, mine)
            and mine not in earlier_parts(case.artifact, other)
        ):
            return f"{other} provides it, too, and neither part waits for the other"
    return ""


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


def _at_base(case: RuleCase) -> dict[tuple[str, str], list[str]]:
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
    key: tuple[str, str], wanted: str, *, new: Mapping[str, str], there: list[str] | tuple[()], before: set[str]
) -> str:
    """Why a use cannot be met, "" when it can.

    Args:
        new: the planned versions by part.
    """
    repo, artifact = key
    try:
        fitting = [part for part, version in new.items() if satisfies(version, wanted)]
        fits_there = any(satisfies(version, wanted) for version in there)
    except UsageError as exc:
        return exc.message
    if any(part in before for part in fitting):
        return ""
    if fitting:
        by = f"the part of {repo}" if fitting[0] == repo else f"the part {fitting[0]} of {repo}"
        return f"{artifact} {new[fitting[0]]} is provided by {by}, which this part does not wait for"
    if fits_there:
        return ""
    offered = [*(f"{version} (planned)" for version in new.values()), *there]
    return f"{repo} has no {artifact} {wanted}: {', '.join(offered) or 'no version of it at all'}"


RULES = named(
    ("repositories-covered", "every named repository has one part", repositories_covered, "fact"),
    ("repositories-have-parts", "every named repository has a part", repositories_have_parts, "fact"),
    ("parts-named", "every part has a name of its own", parts_named, "fact"),
    ("parts-in-line", "parts of one repository stand in a line", same_repository_in_line, "fact"),
    ("part-needs", "every part waits for other parts only", needs_known, "fact"),
    ("parts-acyclic", "parts do not wait for each other in a circle", no_circle, "fact"),
    ("provided-versions", "provided contracts are new versions", provided_new, "fact"),
    ("used-versions", "used contracts are provided in a fitting version", used_fitting, "fact"),
)
