"""After DELIVER: the statements about the commit, signed where the user has a key, and the note that anchors the trail."""

from __future__ import annotations

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime, evidence_of
from agentforge.proof.anchors import NOTES_REF, note_text
from agentforge.proof.attestation import measured_as, statements
from agentforge.proof.envelope import seal, write_envelopes
from agentforge.workspace.git.objects import keep_trees

TREES_REF = "refs/agentforge/trees"
"""What was measured stays in the repository for as long as the run does: it can be measured again."""


def attest(state: RunState, runtime: Runtime) -> kinds.Attested:
    """State what was delivered and note it on the commit.

    Raises:
        AgentForgeError: there is a key and it cannot sign; the branch stands, `resume` tries again.
    Side effects: a blob; the note of the commit under refs/notes/agentforge; the measured trees under refs/agentforge/trees.
    """
    signer = runtime.signer()
    head, records = runtime.trail()
    evidence = [evidence_of(state, runtime, name) for name in ("baseline", measured_as(state))]
    made = statements(state, head=head, records=records, baseline=evidence[0], measured=evidence[1])
    envelopes = write_envelopes([seal(statement, signer=signer) for statement in made])
    digest = runtime.blobs.put(envelopes)
    measured_trees = {name: tree for name, tree in state.work.trees.items() if name != "work"}
    keep_trees(runtime.git, f"{TREES_REF}/{state.identity.run_id}", measured_trees)
    _write_note(state, runtime, envelopes)
    return kinds.Attested(envelopes=digest, key_id=signer.key_id if signer else "", note=NOTES_REF)


def anchor(state: RunState, runtime: Runtime) -> None:
    """Write the note again with the trail's last head: nothing follows any more."""
    attested = state.work.attested or {}
    _write_note(state, runtime, runtime.blobs.get(str(attested["envelopes"])))


def _write_note(state: RunState, runtime: Runtime, envelopes: bytes) -> None:
    made = state.work.delivered or {}
    commit, tree = str(made["commit"]), str(made["tree"])
    head, records = runtime.trail()
    text = note_text(
        task=state.identity.run_id, commit=commit, tree=tree, head=head, records=records, envelopes=envelopes
    )
    runtime.git.add_note(commit, text, NOTES_REF)
