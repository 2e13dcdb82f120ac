"""`replay` of a run or a session: is the record what this program would do with the same answers and measurements?"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge import __version__
from agentforge.app.composition.assembly import network_of, output_limit, step_limit
from agentforge.app.composition.provenance import current_digests
from agentforge.app.sessions.approvals import permits_of
from agentforge.app.tasks.added_stages import contracts_of, load, stages_digest, stages_of
from agentforge.canonical import digest_bytes
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import SandboxError
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import FactsGathered, StageStarted
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.context.early_material import TESTS_RUN
from agentforge.pipeline.engine.stage_agent import prompt_parts
from agentforge.pipeline.engine.stage_hooks import material_rows
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage
from agentforge.pipeline.replay.performer import replay
from agentforge.pipeline.replay.recording import At, Divergence
from agentforge.safety.text.redaction import known_secrets
from agentforge.session import Difference, replay_turns
from agentforge.store.blobs import Blobs
from agentforge.store.log.intact import refuse_cut
from agentforge.store.log.reader import read
from agentforge.store.log.records import Record
from agentforge.store.sessions.folders import find_session, run_folder
from agentforge.store.tasks.folders import find_task
from agentforge.suite import Rig
from agentforge.workspace.git.newrepo import shadow, shadow_index
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import Network, Sandbox

if TYPE_CHECKING:
    pass


_LINES_SHOWN = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay came to.

    Attributes:
        changed: what is not as it was when the run began: settings, contracts, prompts, agentforge.
        divergence: the first difference, None when there is none.
        names: the prompts, tools or contracts that the difference comes from, where that can be told.
        detail: the difference line by line.
    """

    task_id: str
    records: int
    replayed: int
    steps: int
    changed: tuple[str, ...] = ()
    divergence: Divergence | None = None
    names: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()


class _Overlay:
    """The blobs of the run; what the replay stores stays in memory."""

    def __init__(self, folder: Path) -> None:
        self._kept = Blobs(folder / "blobs")
        self._new: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Name the bytes; nothing is written."""
        digest = digest_bytes(data)
        self._new[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        """Give the bytes."""
        return self._new[digest] if digest in self._new else self._kept.get(digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoSandbox:
    """Stands where the sandbox was: which tools are offered, and what is asked about, follows from it; nothing is run in it."""

    kind: str
    network: Network

    def run(self, argv: Sequence[str], **_rest: object) -> Completed:
        """Refuse: a replay runs no command."""
        raise SandboxError(f"a replay runs no command: {' '.join(argv[:3])}")


def replay_run(cwd: Path, task_id: str, *, settings: Settings, environ: Mapping[str, str]) -> Replayed:
    """Drive a run again along its record, with today's code, prompts, contracts and settings.

    Raises:
        IntegrityError: the trail was altered or damaged.
        RepositoryError: the base commit is gone.
    Side effects: a temporary folder; nothing in the repository or in the run's folder changes.
    """
    git = Git.open(cwd)
    folder = find_task(git.top, task_id)[1]
    refuse_cut(folder)
    return replay_records(folder, list(read(folder)), git, settings=settings, environ=environ)


def replay_records(
    folder: Path, found: Sequence[Record], git: Git, *, settings: Settings, environ: Mapping[str, str]
) -> Replayed:
    """Drive a run along records; `replay_run` takes those of the log.

    Args:
        folder: of the run, for its blobs.
    """
    records: list[At] = [(record.seq, record.at, record.event) for record in found]
    state = _folded(records[:1])
    blobs = _Overlay(folder)
    with shadow(
        git, _folded(records).identity.base_commit
    ) as copy:  # a run that waited may have another one than it began with
        runtime = _runtime(state, records, copy, blobs, repo=git.top, settings=settings, environ=environ)
        count, divergence = replay(records, runtime)
        names, detail = _explained(divergence, blobs, runtime) if divergence else ((), ())
    return Replayed(
        task_id=folder.name,
        records=len(records),
        replayed=count,
        steps=_folded(records[:count]).usage.totals.steps,
        changed=_changed(state, settings, git.top, environ),
        divergence=divergence,
        names=names,
        detail=detail,
    )


def replayed_value(result: Replayed) -> dict[str, object]:
    """The result as a plain JSON value."""
    return {"ok": result.divergence is None, **asdict(result)}


def _folded(records: Sequence[At]) -> RunState:
    state = RunState()
    for _, at, event in records:
        state = evolve(state, event, at=at)
    return state


def _runtime(
    state: RunState,
    records: Sequence[At],
    copy: Git,
    blobs: _Overlay,
    *,
    repo: Path,
    settings: Settings,
    environ: Mapping[str, str],
) -> Runtime:
    stages = stages_of(
        replace(state, identity=replace(state.identity, repo=str(repo))),
        settings=settings,
        environ=environ,
        changed_too=True,
    )
    supplied = cast("Mapping[str, str]", state.identity.digests.get("tests") or {})
    return Runtime(
        repo=copy.top,
        worktree=copy.top,
        scratch=shadow_index(copy).parent / f"{copy.top.name}.scratch",
        git=copy,
        ready=lambda: None,
        guard=Guard(copy, copy.top, index=shadow_index(copy)),
        sandbox=cast("Sandbox", _NoSandbox(kind=_sandbox_kind(records), network=network_of(settings))),
        stages=stages,
        contracts=contracts_of(repo, stages),
        blobs=blobs,
        rig=_no_rig,
        tests_command=partial(_tests_command, records, blobs),
        models=lambda _stage: None,  # type: ignore[arg-type, return-value] # the replay puts its own in its place
        price=lambda _reply: None,
        secrets=known_secrets(environ),
        checks={},
        trail=lambda: ("", 0),
        diff=copy.diff,
        nonce=os.urandom(4).hex(),
        supplied={path: blobs.get(digest) for path, digest in supplied.items()},
        max_output_tokens=output_limit(settings),
        step_tokens=step_limit(settings),
        permits=permits_of(settings),
        temperature=cast("float | None", settings.get("model.temperature")),
    )


def _tests_command(records: Sequence[At], blobs: _Overlay) -> str:
    """How the tests run, as the record says: what was found then is not looked for again."""
    started = (event.material for _, _, event in records if isinstance(event, StageStarted) and event.material)
    rows = (row for material in started for row in material_rows(blobs.get(material)))
    return next((str(row.get("text")) for row in rows if row.get("name") == TESTS_RUN), "")


def _no_rig() -> Rig:
    raise SandboxError("a replay runs no tests")


def _sandbox_kind(records: Sequence[At]) -> str:
    """What stood between commands and machine then; the base line's facts say so."""
    for _, _, event in records:
        if isinstance(event, FactsGathered) and event.name == "baseline":
            return str(event.facts.get("sandbox", "bubblewrap"))
    return "bubblewrap"


def _stages_now(state: RunState, settings: Settings, repo: Path, environ: Mapping[str, str]) -> dict[str, object]:
    if "stages" not in state.identity.digests:
        return {}

    names = {str(row.get("name")) for row in state.brief.added}
    return {"stages": stages_digest([one.row for one in load(repo, settings=settings, environ=environ, only=names)])}


def _changed(state: RunState, settings: Settings, repo: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    now = {**current_digests(settings, repo), **_stages_now(state, settings, repo, environ)}
    names = [name for name, digest in now.items() if state.identity.digests.get(name) not in (None, digest)]
    version = state.identity.versions.get("agentforge")
    return (*names, *([f"agentforge {version} -> {__version__}"] if version not in (None, __version__) else []))


def _explained(divergence: Divergence, blobs: _Overlay, runtime: Runtime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the difference comes from, and its first lines."""
    old, new = divergence.recorded, divergence.now
    if divergence.field in ("request", "material"):
        return _explained_request(
            divergence, json.loads(blobs.get(str(old))), json.loads(blobs.get(str(new))), runtime.stages
        )
    names: tuple[str, ...] = ()
    if divergence.event == "StageVerified":
        names = (f"contract {runtime.stages[divergence.stage].produces}",)
    return names, _lines(_text(old), _text(new))


def _explained_request(
    divergence: Divergence, old: object, new: object, stages: Mapping[str, Stage]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ("material of the stage",), _lines(_text(old), _text(new))
    names = [key for key in ("max_output_tokens", "temperature") if old.get(key) != new.get(key)]
    before, after = (_texts_of(value["messages"]) for value in (old, new))
    if before["system"] != after["system"]:
        names += _prompts(before["system"], stages[divergence.stage]) or ["system prompt"]
    names += [f"{role} message" for role in after if role != "system" and before.get(role) != after[role]]
    tools_before, tools_after = ({tool["name"]: tool for tool in value["tools"]} for value in (old, new))
    for name in sorted({*tools_before, *tools_after}):
        if tools_before.get(name) != tools_after.get(name):
            contract = stages[divergence.stage].produces
            names.append(f"tool {name}" + (f" (contract {contract})" if name == "submit_artifact" else ""))
    lines = [line for role in after for line in _lines(before.get(role, ""), after[role])]
    return tuple(names), tuple(lines or _lines(_text(old), _text(new)))[:_LINES_SHOWN]


def _prompts(recorded: str, stage: Stage) -> list[str]:
    """The prompt files whose text of today does not stand in the recorded prompt."""
    parts = prompt_parts(stage.name, own=stage.prompt)
    return [f"prompts/{name}.md" for name, text in parts.items() if text not in recorded]


def _texts_of(messages: Sequence[Mapping[str, object]]) -> dict[str, str]:
    return {
        str(message["role"]): "".join(part["text"] for part in cast("Sequence[Mapping[str, str]]", message["parts"]))
        for message in messages
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False, default=str)


def _lines(old: str, new: str) -> tuple[str, ...]:
    found = unified_diff(old.splitlines(), new.splitlines(), "recorded", "now", n=1, lineterm="")
    return tuple(line for line, _ in zip(found, range(_LINES_SHOWN), strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedSession:
    """What a replay came to.

    Attributes:
        requests: how many were built anew and compared.
        difference: the first one, None when there is none.
    """

    session_id: str
    records: int
    requests: int
    difference: Difference | None = None


def replay_session(text: str, *, settings: Settings, environ: Mapping[str, str]) -> ReplayedSession:
    """Go through a session along its record: no model, no command, nothing is changed.

    Raises:
        UsageError: there is no such session.
        IntegrityError: the record was altered or damaged.
    """
    data = data_dir(environ)
    session_id = find_session(data, text)
    folder = run_folder(data, session_id)
    records = [(record.seq, record.at, record.event) for record in read(folder)]
    blobs = Blobs(folder / "blobs")
    requests, difference = replay_turns(records, request_of=blobs.get, loop_limit=int(settings.number("loop_limit")))
    return ReplayedSession(session_id=session_id, records=len(records), requests=requests, difference=difference)
