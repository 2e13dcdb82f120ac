"""Calls in doubt: begun by a process that died, and not recorded as finished. Settled by what kind of effect they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agentforge.agent.pictures import BlobStore
from agentforge.agent.spec import AgentSpec
from agentforge.canonical import digest_bytes
from agentforge.events.state.run_state import RunState
from agentforge.tools.base import Observation, failed
from agentforge.tools.dispatch.invocation import Prepared
from agentforge.workspace.files.file_access import digest_file, write_bytes

WITHHELD = "withheld:"


def kept_before(
    prepared: Prepared, root: Path, blobs: BlobStore, *, scrub: Callable[[str], str] = str
) -> dict[str, str]:
    """Keep the files that a write call may change, so that a half-done write can be taken back.

    Args:
        scrub: takes secrets out of a text; a file that holds one is not copied into the run.
    Returns:
        path -> digest of its content (a blob of the run), "" for a file that does not exist, "withheld:DIGEST" for one that
        was not copied.
    """
    found = {path: root / path for path in prepared.tool.paths(prepared.arguments, root)}
    return {path: _kept(file, blobs, scrub) if file.is_file() else "" for path, file in found.items()}


def _kept(file: Path, blobs: BlobStore, scrub: Callable[[str], str]) -> str:
    content = file.read_bytes()
    text = content.decode("utf-8", "replace")
    return blobs.put(content) if scrub(text) == text else f"{WITHHELD}{digest_bytes(content)}"


def settle(prepared: Prepared, state: RunState, spec: AgentSpec) -> Observation | None:
    """Make a call in doubt fit to be carried out again; None = carry it out.

    Reads are repeated, a write is taken back first, a command that may write finds the workspace as it was; what may have
    reached the outside is never repeated.

    Side effects: files of the workspace are put back.
    """
    intent = state.progress.turn.started_event or {}
    if prepared.tool.effect == "execute" and not spec.repeats_commands:
        return failed(
            f"{prepared.tool.name}: the program was stopped while it ran; whether it ended is unknown",
            error_type="in-doubt",
            retryable=False,
            next_actions=("look at what it did before you run it again",),
        )
    if prepared.tool.effect == "execute" and spec.guard is not None and intent.get("tree"):
        spec.guard.put_back(str(intent["tree"]))
    if prepared.tool.effect in ("read", "submit", "ask", "execute"):
        return None
    before = intent.get("touches")
    if prepared.tool.effect == "write" and isinstance(before, Mapping):
        _take_back({str(path): str(digest) for path, digest in before.items()}, spec.tool_context.root, spec.blobs)
        return None
    return failed(
        f"{prepared.tool.name}: interrupted, its effect outside the workspace is unknown",
        error_type="in-doubt",
        retryable=False,
    )


def _take_back(before: Mapping[str, str], root: Path, blobs: BlobStore) -> None:
    for path, digest in before.items():
        file = root / path
        if digest.startswith(WITHHELD):  # a file is replaced as a whole: it stands as it was, or as it was to become
            continue
        if not digest:
            file.unlink(missing_ok=True)
        elif not file.is_file() or digest_file(file) != digest:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, blobs.get(digest))
