"""Looking into a run: what was sent at a step, what came back, what it changed. Read-only; every byte is from the log.

The body of a request as it went over the wire, made again from the record and proved by its digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from agentforge.canonical import digest_bytes
from agentforge.config.settings import Settings
from agentforge.errors import ConflictError, UsageError
from agentforge.events.fold.verification import notes, refusals
from agentforge.events.kinds import ModelCalled, ModelReplied
from agentforge.events.storage.state_codec import encode
from agentforge.messages import request_from
from agentforge.models import Model, ModelSpec, open_model
from agentforge.pipeline.plugins.stage_order import names_of
from agentforge.store.blobs import Blobs
from agentforge.store.log.intact import refuse_cut
from agentforge.store.log.reader import load_state, read
from agentforge.store.log.steps import last_step, records_of_step
from agentforge.views.yaml_text import dump

Show = Literal["steps", "context", "action", "diff", "events", "artifact", "stages"]


def inspect_value(folder: Path, *, step: int | None, show: Show) -> object:
    """What is asked for as a JSON value; see `inspect_text` for people.

    Args:
        step: None = the whole run (not for `context`).
    Raises:
        UsageError: there is no such step, or it has nothing of the kind.
        IntegrityError: the trail is damaged.
    """
    if show == "stages":
        return _stages(folder)
    records = _records(folder, step)
    if not records:
        load_state(folder)  # says why, when nothing at all can be read
    if step is not None and not records:
        raise UsageError(f"there is no step {step}", hint=f"the run has {last_step(folder)} steps")
    if show == "events":
        return records
    if show == "steps":
        return _steps(records)
    if show == "context":
        return _contexts(folder, records, step)
    if show == "diff":
        return [{"step": _step_of(item["data"]), "patch": patch} for item in records if (patch := _patch(folder, item))]
    if show == "artifact":
        return _artifacts(records, step)
    wanted = ("ModelCalled", "ModelReplied", "ModelFailed", "ToolStarted", "ToolFinished", "StepFinished")
    found = [item for item in records if item["type"] in wanted]
    return found or [
        item for item in records if step and item["type"] == "ArtifactSubmitted"
    ]  # no model took part in it


def inspect_text(folder: Path, *, step: int | None, show: Show) -> str:
    """What is asked for, readable in a terminal."""
    value = inspect_value(folder, step=step, show=show)
    rows: list[Any] = value if isinstance(value, list) else [value]
    return "\n".join(_TEXTS[show](row) for row in rows) or "nothing of the kind was recorded"


def sent_bytes(folder: Path, step: int, *, settings: Settings) -> bytes:
    """The request of a step, byte for byte: the body that went over the wire, else the request as it is recorded.

    A body is made again from the recorded request and compared with the digest that was recorded when it was sent.

    Raises:
        UsageError: there is no such step.
        ConflictError: the body cannot be made again (another version, other settings of the model).
        IntegrityError: the trail is damaged.
    """
    events = [record.event for record in records_of_step(folder, step)]
    asked = [event for event in events if isinstance(event, ModelCalled)]
    replied = [event for event in events if isinstance(event, ModelReplied)]
    if not asked:
        raise UsageError(f"there is no step {step}", hint=f"the run has {last_step(folder)} steps")
    recorded = Blobs(folder / "blobs").get(asked[-1].request)
    if not replied or not replied[-1].sent:
        return recorded

    return body_with(replied[-1].sent, recorded, model=replied[-1].model, settings=settings)


def _records(folder: Path, step: int | None) -> list[dict[str, Any]]:
    """The records of a step, with what followed from it before the next; of the whole run."""
    refuse_cut(folder)
    out: list[dict[str, Any]] = []
    for record in read(folder) if step is None else records_of_step(folder, step):
        name, data = encode(record.event)
        out.append({"seq": record.seq, "at": record.at, "type": name, "data": data})
    return out


def _contexts(folder: Path, records: list[dict[str, Any]], step: int | None) -> list[dict[str, object]]:
    if step is None:
        raise UsageError("a context belongs to a step", hint="add --step N")

    blobs = Blobs(folder / "blobs")
    out = []
    for item in records:
        data = item["data"]
        if item["type"] == "ModelCalled" and isinstance(data, Mapping):
            sent = json.loads(blobs.get(str(data["request"])))
            out.append({"step": step, "digest": data["request"], "tokens": data["context_tokens"],
                        "sections": data["sections"], "budget": data.get("budget", 0), "left_out": data.get("left_out", []),
                        "model": data["model"], "request": sent})  # fmt: skip
    return out


def _patch(folder: Path, item: Mapping[str, object]) -> str:
    data = item["data"]
    if item["type"] != "StepFinished" or not isinstance(data, Mapping) or not data.get("patch"):
        return ""

    return Blobs(folder / "blobs").get(str(data["patch"])).decode("utf-8", "replace")


def _artifacts(records: list[dict[str, Any]], step: int | None) -> list[dict[str, object]]:
    """Every artifact with its verdict; of a step, those about what it submitted: the last submission before a verdict."""
    out, submitted = [], 0
    for item in records:
        data = item["data"]
        if item["type"] == "ArtifactSubmitted":
            submitted = data["step"]
        if item["type"] == "StageVerified" and step in (None, submitted):
            out.append({key: data[key] for key in ("stage", "attempt", "passed", "artifact", "results", "repairs")})
    return out


def _steps(records: list[dict[str, Any]]) -> list[dict[str, object]]:
    """A row for every finished step, and one for every verdict, in their order."""
    out: list[dict[str, object]] = []
    spent = {"prompt_tokens": 0, "completion_tokens": 0}
    attempt, called = 1, 0
    for item in records:
        data = item["data"]
        if item["type"] == "StageStarted":
            attempt = data["attempt"]
        elif item["type"] == "ModelReplied":
            spent = {name: spent[name] + int(data["usage"].get(name, 0)) for name in spent}
        elif item["type"] == "StepFinished":
            out.append(
                {"step": data["step"], "stage": data["stage"], "attempt": attempt, **spent, "did": data["summary"]}
            )
            spent = dict.fromkeys(spent, 0)
        elif item["type"] == "ModelCalled":
            called = data["step"]
        elif item["type"] == "ArtifactSubmitted" and data["step"] > called:
            place = {"step": data["step"], "stage": data["stage"], "attempt": data["attempt"]}
            out.append({**place, "prompt_tokens": 0, "completion_tokens": 0, "did": f"submitted by the {data['by']}"})
        elif item["type"] == "StageVerified":
            failed = [str(row["message"] or row["rule"]) for row in refusals(data["results"])]
            out.append({key: data[key] for key in ("stage", "attempt", "passed")} | {"failed": failed})
    return out


def _stages(folder: Path) -> list[dict[str, object]]:
    """The stages of the run in their order; of those from outside, where they came from and their text."""
    state, blobs = load_state(folder), Blobs(folder / "blobs")
    added = {str(row.get("name")): row for row in state.brief.added}
    out = []
    for name in names_of(state):
        known, row = state.progress.stages.get(name), added.get(name, {})
        text = blobs.get(str(row["digest"])).decode("utf-8", "replace") if row else ""
        status, attempts = (known.status, known.attempt) if known is not None else ("pending", 0)
        out.append({"stage": name, "status": status, "attempts": attempts, "from": row.get("source", ""), "text": text})
    return out


def _stage_text(row: Mapping[str, object]) -> str:
    source = f"  from {row['from']}" if row["from"] else ""
    return f"{row['stage']:<20}  {row['status']:<10}  {row['attempts']}{source}"


def _step_of(data: object) -> int | None:
    value = data.get("step") if isinstance(data, Mapping) else None
    return value if isinstance(value, int) else None


def _context_text(row: Mapping[str, object]) -> str:
    request = row["request"]
    assert isinstance(request, Mapping)
    sections = row["sections"]
    told = ", ".join(f"{key} {value}" for key, value in sections.items()) if isinstance(sections, Mapping) else ""
    of = f" of {row['budget']}" if row["budget"] else ""
    parts = [
        f"===== step {row['step']} to {row['model']}: {row['tokens']}{of} tokens ({told})",
        f"digest {row['digest']}",
    ]
    for message in request["messages"]:
        parts.append(f"----- {message['role']}")
        for part in message["parts"]:
            parts.append(part["text"].rstrip())
            if part["stable"]:
                parts.append("----- (all above stays the same within the stage)")
    parts.append("----- tools")
    parts += [f"{tool['name']}: {json.dumps(tool['parameters'], ensure_ascii=False)}" for tool in request["tools"]]
    left = row["left_out"]
    if isinstance(left, (list, tuple)) and left:
        parts += ["----- left out, because there was no room", *map(_left_text, left)]
    return "\n".join(parts)


def _left_text(row: Mapping[str, object]) -> str:
    """What was left out of a context: its lines, how much it mattered, what it would have cost, who wanted it."""
    place = f"{row['name']} {row['lines']}".rstrip()
    return f"{place}: {row['level']}, {row['tokens']} tokens: {row['why']}"


def _action_text(row: Mapping[str, object]) -> str:
    data = row["data"]
    assert isinstance(data, Mapping)
    head = f"{row['at']} {row['type']}"
    if row["type"] == "ModelReplied":
        calls = [f"  -> {call['name']} {call['arguments']}" for call in data["tool_calls"]]
        return "\n".join([f"{head} finish={data['finish']} {data['usage']}", str(data["text"]), *calls])
    if row["type"] == "ModelCalled":
        return f"{head} step {data['step']} of {data['stage']}: {data['context_tokens']} tokens to {data['model']}"
    if row["type"] == "ToolStarted":
        return f"{head} {data['name']} ({data['effect']})"
    if row["type"] == "ToolFinished":
        return f"{head} {data['name']}: {data['status']}: {data['summary']}\n{data['text']}"
    shown = {key: value for key, value in data.items() if value not in (None, "", [], {}, ())}
    return f"{head} {json.dumps(shown, ensure_ascii=False, default=str)}"


def _step_text(row: Mapping[str, object]) -> str:
    place = f"{row['stage']} {row['attempt']}"
    if "step" in row:
        return (
            f"{row['step']:>5}  {place:<12}  {row['prompt_tokens']:>7,} + {row['completion_tokens']:<6,}  {row['did']}"
        )
    failed = row["failed"]
    assert isinstance(failed, list)
    verdict = "verified" if row["passed"] else "not accepted: " + "; ".join(failed)
    return f"{'':>5}  {place:<12}  {verdict}"


def _diff_text(row: Mapping[str, object]) -> str:
    return f"===== step {row['step']}\n{row['patch']}"


def _event_text(row: Mapping[str, object]) -> str:
    return f"{row['seq']:>6} {row['at']} {row['type']} {json.dumps(row['data'], ensure_ascii=False, default=str)}"


def _artifact_text(row: Mapping[str, object]) -> str:
    results, repairs = (cast("Sequence[Mapping[str, object]]", row[name]) for name in ("results", "repairs"))
    failed = refusals(results)
    verdict = "verified" if row["passed"] else "refused: " + "; ".join(str(item["message"]) for item in failed)
    lines = [f"repaired: {item['message']}" for item in repairs]
    lines += [f"note: {item['message']}" for item in notes(results)]
    return "\n".join([f"===== {row['stage']}, attempt {row['attempt']}: {verdict}", *lines, dump(row["artifact"])])


_TEXTS = {
    "steps": _step_text,
    "context": _context_text,
    "action": _action_text,
    "diff": _diff_text,
    "events": _event_text,
    "artifact": _artifact_text,
    "stages": _stage_text,
}


_NOWHERE = "http://127.0.0.1"


def body_with(sent: str, recorded: bytes, *, model: str, settings: Settings) -> bytes:
    """Encode a recorded request as the provider's dialect does.

    Args:
        sent: the digest that the body must have.
        recorded: bytes of the recorded request.
        model: `provider/name` that answered.
    Raises:
        ConflictError: what comes out has another digest.
    """
    request = request_from(json.loads(recorded))
    for spec in _specs(model, settings):
        opened: Model = open_model(spec)
        encode = getattr(opened, "body", None)
        opened.close()
        body = encode(request) if encode is not None else b""
        if digest_bytes(body) == sent:
            return body
    raise ConflictError(
        f"the body that was sent to {model} cannot be made again with this version and these settings",
        hint="look at the recorded request: agentforge inspect ID --step N --show context --json",
    )


def _specs(model: str, settings: Settings) -> Iterator[ModelSpec]:
    """The model with today's bounds, without any, and on a server that can do less. Nothing is sent: no key is needed."""
    provider, _, name = model.partition("/")
    plain = ModelSpec(provider=provider, name=name, base_url=_NOWHERE)
    yield replace(
        plain,
        temperature=cast("float | None", settings.get("model.temperature")),
        max_output_tokens=int(settings.number("model.max_output_tokens")),
    )
    yield plain
    yield replace(plain, abilities=frozenset())  # a server that refused what goes beyond plain chat
