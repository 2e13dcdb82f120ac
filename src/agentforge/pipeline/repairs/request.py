"""Repairs in the drafts of INTAKE, CLARIFY and ANALYZE."""

from __future__ import annotations

from collections.abc import Iterator

from agentforge.contracts.form_repair import Repair
from agentforge.pipeline.facts.examples import calls_something, stands_in
from agentforge.pipeline.ledger.entries import entries_in, ledger_rows
from agentforge.pipeline.model.stage import items, texts
from agentforge.pipeline.repairs.ground import Draft, RepairContext

_PLAINEST = "the plainest reading of the request"


def intake(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Keep the examples that stand in the request; give every open question a default."""
    request = ground.state.brief.request
    sentences = _sentences(request)
    kept_examples: list[str] = []
    for text in texts(draft.get("examples")):
        if not stands_in(text, request):
            yield Repair(
                kind="example",
                path="examples",
                message=f"The example {text!r} does not stand in the request; it was left out.",
            )
        elif " ".join(text.split()) in sentences and not calls_something(text):
            told = f"{text!r} is a whole sentence of the request: the specification says what becomes of it."
            yield Repair(kind="sentence", path="examples", message=told)
        else:
            kept_examples.append(text)
    if "examples" in draft:
        draft["examples"] = kept_examples
    if "observed" in draft:
        draft["observed"] = list(dict.fromkeys(text for text in texts(draft["observed"]) if stands_in(text, request)))
    if "identified_ambiguities" not in draft:
        return
    kept = []
    for item in items(draft.get("identified_ambiguities")):
        if not str(item.get("question") or "").strip():
            told = f"An ambiguity asks no question ({item.get('area') or 'no area is named'}); it was left out."
            yield Repair(kind="question", path="identified_ambiguities", message=told)
            continue
        default = str(item.get("default") or "").strip()
        if not default and item.get("impact") != "blocking":
            told = f"The question {item.get('question')!r} names no default; {_PLAINEST} is taken."
            yield Repair(kind="default", path="identified_ambiguities", message=told)
        kept.append({**item, "default": _PLAINEST} if not default and item.get("impact") != "blocking" else item)
    draft["identified_ambiguities"] = kept


def _sentences(request: str) -> frozenset[str]:
    """The sentences of a request that are asks of their own, on one line each."""
    asks = entries_in({"asks": ledger_rows(request)})
    return frozenset(" ".join(one.text.split()) for one in asks if one.kind == "sentence")


def clarify(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Correct the files of the evidence, and make assumptions of answers without a source."""
    for number, question in enumerate(items(draft.get("questions"))):
        place = f"questions[{number}]"
        if isinstance(question, dict):
            if not question.get("source"):
                question["source"] = "agent_inference" if items(question.get("evidence")) else "assumption"
            question.setdefault("answer", "")
        for piece in items(question.get("evidence")):
            path = str(piece.get("file") or "")
            clean = ground.clean(path)
            found = clean if clean in ground.files else ground.nearest(clean)
            if found and found != path and isinstance(piece, dict):
                piece["file"] = found
                yield Repair(kind="path", path=f"{place}.evidence", message=f"The file {path!r} is read as {found!r}.")


def analyze(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    """Correct named files, drop those that do not exist, and give each symbol the file in which it stands."""
    if not draft.get("summary"):
        said = [*texts(draft.get("findings")), ground.state.brief.request]
        draft["summary"] = " ".join(said[0].split())[:2000]
    named = texts(draft.get("impacted_files"))
    if "impacted_files" not in draft:
        named = [str(item.get("path")) for item in items(draft.get("modules")) if item.get("path")]
        named += [str(item.get("file")) for item in items(draft.get("symbols")) if item.get("file")]
    draft["impacted_files"] = list(dict.fromkeys([found for path in named for found in _there(path, ground)]))
    for path in named:
        yield from _told_path(path, ground, place="impacted_files")
    if "modules" in draft:
        rows = [(item, ground.clean(str(item.get("path") or ""))) for item in items(draft.get("modules"))]
        draft["modules"] = [{**item, "path": found} for item, path in rows for found in _there(path, ground)]
        for item, _ in rows:
            yield from _told_path(str(item.get("path") or ""), ground, place="modules")
    if "symbols" in draft:
        yield from _symbols(draft, ground)


def _symbols(draft: Draft, ground: RepairContext) -> Iterator[Repair]:
    near = [*texts(draft["impacted_files"]), *(str(item.get("path")) for item in items(draft.get("modules")))]
    kept = []
    for item in items(draft.get("symbols")):
        name, said = str(item.get("name") or ""), str(item.get("file") or "")
        path = next(iter(_there(said, ground)), "")
        if not (path and ground.holds(path, name)):
            homes = [one for one in dict.fromkeys(near) if ground.defines(one, name)]
            path = homes[0] if len(homes) == 1 else ""
        if not name or not path:
            told = f"The symbol {name!r} was not found in {said!r}; it was left out."
            yield Repair(kind="symbol", path="symbols", message=told)
            continue
        if path != said:
            yield Repair(
                kind="symbol", path="symbols", message=f"The symbol {name!r} stands in {path!r}, not in {said!r}."
            )
        kept.append({**item, "file": path})
    draft["symbols"] = kept


def _there(path: str, ground: RepairContext) -> list[str]:
    """The file or folder of the tree that is meant; [] when there is none."""
    clean = ground.clean(path)
    folder = f"{clean.rstrip('/')}/"
    if clean in ground.files or (clean and any(one.startswith(folder) for one in ground.files)):
        return [clean]
    return [found] if clean and (found := ground.nearest(clean)) else []


def _told_path(path: str, ground: RepairContext, *, place: str) -> Iterator[Repair]:
    found = _there(path, ground)
    if found and found != [path]:
        yield Repair(kind="path", path=place, message=f"The path {path!r} is read as {found[0]!r}.")
    if not found:
        yield Repair(kind="path", path=place, message=f"{path!r} does not exist at the base; it was left out.")
