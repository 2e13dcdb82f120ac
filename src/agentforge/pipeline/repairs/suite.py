"""Repairs in the draft of RED: names as the runner reports them, and which test shows which criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from agentforge.contracts.form_repair import Repair
from agentforge.contracts.rule import squeeze
from agentforge.pipeline.facts.examples import asserted_in, literals, touched_in
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.pipeline.repairs.ground import Draft, RepairContext
from agentforge.verification.examples.stated_values import stated_in
from agentforge.verification.source.test_hashes import test_hashes

Test = dict[str, object]

_REF = re.compile(r"\bREQ[-_ ]?0*([0-9]{1,3})\b(?:\.([0-9]+))?", re.IGNORECASE)


def suite(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Give each declared test its name, its requirement and its criteria."""
    yield from _grouped(draft)
    rows = items(draft.get("test_files"))
    if not rows:
        return
    files: list[dict[str, object]] = []
    for item in rows:
        said = str(item.get("path") or "")
        clean = ground.clean(said)
        path = clean if clean in ground.files else ground.nearest(clean) or clean
        if path != said:
            yield Repair(kind="path", path="test_files", message=f"The path {said!r} is read as {path!r}.")
        given = item.get("tests")
        listed = list(given) if isinstance(given, list) else []
        tests: list[Test] = [dict(test) if isinstance(test, Mapping) else {"name": str(test)} for test in listed]
        files.append({**item, "path": path, "tests": tests})
        yield from _names(path, tests, ground)
    draft["test_files"] = files
    declared = [(str(file["path"]), test) for file in files for test in _tests(file)]
    required = _required(ground)
    yield from _references(declared, required, ground)
    yield from _criteria(declared, required, ground)


def _grouped(draft: Draft) -> Iterator[Repair]:
    """Tests that were listed by themselves, each with its file, belong under their files."""
    flat = [one for one in items(draft.get("tests")) if one.get("file") or one.get("path")]
    known = items(draft.get("test_files"))
    if not flat or any(one.get("tests") for one in known):
        return
    groups: dict[str, list[Test]] = {}
    for test in flat:
        rest = {name: value for name, value in test.items() if name not in ("file", "path")}
        groups.setdefault(str(test.get("file") or test.get("path")), []).append(rest)
    said = {str(one.get("path")): one for one in known}
    draft["test_files"] = [{**said.get(path, {}), "path": path, "tests": tests} for path, tests in groups.items()]
    del draft["tests"]
    message = "The tests were listed by themselves; they stand under their files now."
    yield Repair(kind="path", path="test_files", message=message)


def _tests(file: Json) -> list[Test]:
    return [test for test in items(file.get("tests")) if isinstance(test, dict)]


def _names(path: str, tests: list[Test], ground: RepairContext) -> Iterator[Repair]:
    """Names without the file, with the class in which the test stands."""
    known = [name for name, _ in test_hashes(path, (ground.text(path) or "").encode())]
    for test in tests:
        said = str(test.get("name") or "")
        name = said.strip().removeprefix(f"{path}::").removeprefix(f"{path.rpartition('/')[2]}::")
        if name not in known and " " not in name:  # a title may end so
            name = name.removesuffix("()")
        if known and name.partition("[")[0] not in known:
            plain, mark, row = name.replace(".", "::").partition("[")
            ends = [one for one in known if one == plain or one.endswith(f"::{plain.rpartition('::')[2]}")]
            name = f"{ends[0]}{mark}{row}" if len(ends) == 1 else name
        name = ground.test_function(path, name) or name
        if name != said:
            test["name"] = name
            yield Repair(
                kind="name", path="test_files", message=f"The test {said!r} is known to the runner as {name!r}."
            )


def _required(ground: RepairContext) -> list[Json]:
    return [
        item
        for item in items(ground.state.work.artifacts.get("spec", {}).get("requirements"))
        if item.get("priority") != "wont"
    ]


def _references(tests: list[tuple[str, Test]], required: list[Json], ground: RepairContext) -> Iterator[Repair]:
    """Each test names one requirement that there is; what else it shows is told by criteria."""
    ids = [str(item.get("id")) for item in required]
    for path, test in tests:
        said = str(test.get("requirement_ref") or "")
        claimed = str(test.get("acceptance_criterion") or "")
        refs = [ref for ref in (f"REQ-{int(number):03d}" for number, _ in _REF.findall(said)) if ref in ids]
        others = [f"REQ-{int(number):03d}" for number, _ in _REF.findall(claimed)]
        found = [*refs, *(ref for ref in others if ref in ids)] or (
            ids if len(ids) == 1 else _asserting(path, required, ground)
        )
        if found and found[0] != said:
            test["requirement_ref"] = found[0]
            message = (
                f"The test {test.get('name')!r} is counted for {found[0]} (it named {said or 'no requirement'!r})."
            )
            yield Repair(kind="reference", path="test_files", message=message)
        elif not found and said:
            test.pop("requirement_ref", None)
            message = f"The test {test.get('name')!r} names {said!r}, which is not in the specification; the name was dropped."
            yield Repair(kind="reference", path="test_files", message=message)
        more = [ref for ref in refs[1:] if ref not in others]
        if more:
            numbers = [f"{ref}.{number}" for ref in more for number in range(1, _count(required, ref) + 1)]
            test["acceptance_criterion"] = ", ".join([*filter(None, [claimed]), *numbers])


def _count(required: list[Json], ref: str) -> int:
    return sum(len(texts(item.get("acceptance_criteria"))) for item in required if item.get("id") == ref)


def _asserting(path: str, required: list[Json], ground: RepairContext) -> list[str]:
    """The one requirement whose criteria the file of a test asserts; [] when there are several or none."""
    source = stated_in(path, ground.tests(path))
    found = [
        str(item.get("id"))
        for item in required
        if any(literals(text) and asserted_in(text, source) for text in texts(item.get("acceptance_criteria")))
    ]
    return found if len(found) == 1 else []


def _criteria(tests: list[tuple[str, Test]], required: list[Json], ground: RepairContext) -> Iterator[Repair]:
    """Map each criterion that no test names to one that plainly asserts its values; one without values to its requirement's.

    A criterion that is an example of the request may name today's result, too: one of its texts is enough.
    """
    quoted = {squeeze(text) for text in texts(ground.state.work.artifacts.get("intake", {}).get("examples"))}
    sources = {path: stated_in(path, ground.tests(path)) for path in {path for path, _ in tests}}
    for requirement in required:
        name = str(requirement.get("id"))
        if requirement.get("verification_method", "test") == "inspection":
            continue
        for number, criterion in enumerate(texts(requirement.get("acceptance_criteria")), start=1):
            if any(_claims(test, name, number, criterion) for _, test in tests):
                continue
            own = [(path, test) for path, test in tests if test.get("requirement_ref") == name]
            valued = bool(literals(criterion))
            asserts = touched_in if squeeze(criterion) in quoted else asserted_in
            shown = [pair for pair in own or tests if asserts(criterion, sources[pair[0]])] if valued else own
            if not shown:
                continue
            test = shown[0][1]
            said = str(test.get("acceptance_criterion") or "")
            test["acceptance_criterion"] = ", ".join([*filter(None, [said]), f"{name}.{number}"])
            test.setdefault("requirement_ref", name)
            why = "whose file asserts its values" if valued else "of its requirement, for it names no value to look for"
            message = f"No test named {name}.{number}; it is counted for {test.get('name')!r}, {why}."
            yield Repair(kind="criterion", path="test_files", message=message)


def _claims(test: Test, name: str, number: int, criterion: str) -> bool:
    claim = str(test.get("acceptance_criterion") or "")
    if any(f"REQ-{int(ref):03d}" == name and inner == str(number) for ref, inner in _REF.findall(claim)):
        return True
    if test.get("requirement_ref") != name or not claim:
        return False
    listed = [part.strip() for part in re.split(r"[,;]", claim)]
    return str(number) in listed or squeeze(criterion) in squeeze(claim)
