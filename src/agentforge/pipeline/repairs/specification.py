"""Repairs in the draft of SPEC: numbers, criteria, paths by what git says, symbols, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentforge.contracts.form_repair import Repair
from agentforge.contracts.rule import squeeze
from agentforge.pipeline.facts.examples import is_kept, literals
from agentforge.pipeline.facts.held_out import unusable_examples
from agentforge.pipeline.facts.source_findings import dotted
from agentforge.pipeline.ledger.entries import ledger_of
from agentforge.pipeline.ledger.mapping import settled
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.model.scope import is_test_symbol, product_symbols
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.pipeline.repairs.ground import Draft, RepairContext

_ID = re.compile(r"REQ-[0-9]{3}")
_NUMBER = re.compile(r"([0-9]{1,3})\s*$")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def specification(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Run every repair of a specification, in the order in which they build on each other."""
    _heads(draft, ground)
    yield from numbers(draft)
    yield from criteria(draft)
    yield from files(draft, ground)
    yield from symbols(draft, ground)
    yield from asks(draft, ground)
    yield from kept_examples(draft, ground)
    yield from checkable_examples(draft, ground)


def _heads(draft: Draft, ground: RepairContext) -> None:
    """Title and description stand for each other, else the request for both."""
    request = " ".join(ground.state.brief.request.split())
    first = next(
        (str(item.get("description")) for item in items(draft.get("requirements")) if item.get("description")), ""
    )
    draft["title"] = draft.get("title") or str(draft.get("description") or first or request).split("\n")[0][:100]
    draft["description"] = draft.get("description") or draft["title"]


def numbers(draft: Draft) -> Iterator[Repair]:
    """Number the requirements REQ-001, REQ-002, ...; what refers to a number follows it."""
    requirements = [dict(item) for item in items(draft.get("requirements"))]
    taken = {str(item.get("id")) for item in requirements if _ID.fullmatch(str(item.get("id") or ""))}
    used: set[str] = set()
    renamed: dict[str, str] = {}
    for item in requirements:
        said = str(item.get("id") or "")
        number = said
        if not _ID.fullmatch(said) or said in used:
            found = _NUMBER.search(said)
            wanted = f"REQ-{int(found.group(1)):03d}" if found and said not in used else ""
            number = wanted if wanted and wanted not in taken | used else _next_number(taken | used)
            renamed.setdefault(said, number)
            yield Repair(
                kind="number", path="requirements", message=f"The requirement {said or 'without an id'} is {number}."
            )
        item["id"] = number
        used.add(number)
    if requirements:
        draft["requirements"] = requirements
    for example in items(draft.get("examples")):
        ref = str(example.get("requirement") or "")
        if ref and ref not in used and isinstance(example, dict):
            example["requirement"] = renamed.get(ref) or (next(iter(used)) if len(used) == 1 else "")


def _next_number(taken: set[str]) -> str:
    return next(one for one in (f"REQ-{number:03d}" for number in range(1, 1000)) if one not in taken)


def criteria(draft: Draft) -> Iterator[Repair]:
    """A requirement without a criterion is its own criterion; one without a description is described by its first criterion."""
    for item in items(draft.get("requirements")):
        if not isinstance(item, dict):
            continue
        said = [text for text in texts(item.get("acceptance_criteria")) if text.strip()]
        item["description"] = str(item.get("description") or "").strip() or next(iter(said), "")
        if not said and item["description"]:
            item["acceptance_criteria"] = [item["description"]]
            told = f"{item.get('id')} has no acceptance criterion; its description is taken for one."
            yield Repair(kind="criterion", path="requirements", message=told)


def files(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Put each path into the list that git says it belongs to."""
    modify, create = (
        [(name, path) for path in texts(draft.get(name))] for name in ("files_to_modify", "files_to_create")
    )
    if not modify and not create:
        found = dict.fromkeys(str(item.get("file")) for item in product_symbols(draft) if item.get("file"))
        modify = [("files_to_modify", path) for path in found]
        for _, path in modify:
            yield Repair(
                kind="path", path="files_to_modify", message=f"{path!r} is taken from the symbols as a file to touch."
            )
    lists: dict[str, list[str]] = {"files_to_modify": [], "files_to_create": []}
    for listed, said in (*modify, *create):
        path = ground.clean(said)
        if path.endswith("/") or any(one.startswith(f"{path}/") for one in ground.files):
            yield Repair(kind="path", path=listed, message=f"{said!r} is a folder; it was left out: name its files.")
            continue
        belongs = "files_to_modify" if path in ground.files else "files_to_create"
        meant = ground.nearest(path) if listed == "files_to_modify" and belongs != listed else ""
        if meant:
            path, belongs = meant, "files_to_modify"
        if path != said:
            yield Repair(kind="path", path=listed, message=f"The path {said!r} is read as {path!r}.")
        if belongs != listed:
            state = "exists at the base" if belongs == "files_to_modify" else "does not exist at the base"
            yield Repair(kind="path", path=listed, message=f"{path!r} {state}; it is listed under {belongs}.")
        lists[belongs].append(path)
    for name, paths in lists.items():
        if paths or name in draft:
            draft[name] = list(dict.fromkeys(path for path in paths if path))


def symbols(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Give each symbol the file that holds it, and the change that the base allows; drop what resolves to nothing."""
    if "symbols" not in draft:
        return
    kept: dict[tuple[str, str], dict[str, object]] = {}
    for item in items(draft.get("symbols")):
        row, told = _symbol(dict(item), draft, ground)
        for message in told:
            yield Repair(kind="symbol", path="symbols", message=message)
        if row is not None:
            kept.setdefault((str(row["name"]), str(row["file"])), row)
    draft["symbols"] = list(kept.values())


def _symbol(item: dict[str, object], draft: Draft, ground: RepairContext) -> tuple[dict[str, object] | None, list[str]]:
    name, said = str(item.get("name") or ""), str(item.get("file") or "")
    listed = [*texts(draft.get("files_to_modify")), *texts(draft.get("files_to_create"))]
    told: list[str] = []
    path = ground.clean(said)
    if path and path not in ground.files and path not in listed:
        path = ground.nearest(path) or path
    if not path:
        homes = [one for one in listed if ground.defines(one, name)] or listed
        path = homes[0] if len(homes) == 1 else ""
    change = item.get("change")
    if change in ("changed", "removed") and not ground.holds(path, name):
        homes = [one for one in listed if one != path and ground.defines(one, name)]
        if len(homes) != 1:
            return None, [
                f"The symbol {name!r} is declared {change}, and {path or 'no file'} does not hold it; it was left out."
            ]
        path = homes[0]
    if not path or not name:
        return None, [f"The symbol {name!r} names no file; it was left out."]
    if path != said:
        told.append(f"The symbol {name!r} is looked for in {path!r}.")
    full = ground.full_title(path, name)
    if full != name:
        told.append(f"The test {name!r} is called {full!r}.")
    if change == "new" and ground.defines(path, name):
        told.append(f"The symbol {name!r} exists in {path} at the base: it is changed, not new.")
        change = "changed"
    if path not in listed and not is_test_symbol(path, full):
        belongs = "files_to_modify" if path in ground.files else "files_to_create"
        draft[belongs] = [*texts(draft.get(belongs)), path]
        told.append(f"The file {path!r} of the symbol {name!r} was added to {belongs}.")
    change = change or ("changed" if ground.holds(path, name) else "new")
    return {
        **item,
        "name": full,
        "file": path,
        "change": change,
        "kind": _kind(str(item.get("kind") or ""), name),
    }, told


_KINDS = {
    **{kind: kind for kind in ("function", "method", "class", "constant")},
    **dict.fromkeys(("type", "interface", "enum", "struct", "trait", "union", "protocol", "exception"), "class"),
    **dict.fromkeys(("attribute", "field", "variable", "parameter", "option", "module", "file", "data"), "constant"),
    "property": "method",
    "macro": "function",
}
"""The kinds of the contract, and what people call them in one language or another."""


def _kind(said: str, name: str) -> str:
    """The kind that was said, else the one that the name looks like."""
    if said.lower() in _KINDS:
        return _KINDS[said.lower()]
    last = dotted(name).rpartition(".")
    if last[2].isupper():
        return "constant"
    return "class" if last[2][:1].isupper() else "method" if last[0] else "function"


def asks(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Say of every ask of the request what becomes of it, where the draft does not."""
    entries = ledger_of(ground.state)
    if not entries:
        draft.pop("asks", None)
        return
    draft["asks"], told = settled(entries, draft)
    yield from (Repair(kind="ask", path="asks", message=message) for message in told)


def kept_examples(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Every example of the request that nothing can run becomes a criterion of the requirement that speaks of it."""
    requirements = [item for item in items(draft.get("requirements")) if isinstance(item, dict)]
    if not requirements:
        return
    for example in standing_examples(ground.state, draft):
        said = [text for item in requirements for text in texts(item.get("acceptance_criteria"))]
        if is_kept(example, said):
            continue
        best = max(requirements, key=lambda item: _shared(example, item))
        best["acceptance_criteria"] = [*texts(best.get("acceptance_criteria")), example]
        told = f"The example {example!r} of the request stood in no criterion; it was added to {best.get('id')}."
        yield Repair(kind="example", path="requirements", message=told)


def _shared(example: str, requirement: Json) -> tuple[int, int]:
    """How many names and values of an example a requirement speaks of; what is verified by inspection comes last."""
    said = squeeze(" ".join([str(requirement.get("description", "")), *texts(requirement.get("acceptance_criteria"))]))
    words = {word.casefold() for word in (*_WORD.findall(example), *literals(example))}
    return (requirement.get("verification_method") != "inspection", sum(word in said for word in words))


def checkable_examples(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Drop the specification's own examples that nothing can check."""
    unusable = unusable_examples(ground.state, draft)
    for _, reason in unusable:
        yield Repair(
            kind="example", path="examples", message=f"An example could not be checked and was left out: {reason}."
        )
    if unusable:
        gone = {number for number, _ in unusable}
        draft["examples"] = [item for number, item in enumerate(items(draft.get("examples"))) if number not in gone]
