"""Events that tie a run to the world: forks and marks, what it handed over, and what left this machine."""

from __future__ import annotations

from typing import Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunForked(Event):
    """From here on this is a run of its own; all records before are those of its parent, byte for byte.

    Attributes:
        parent: id of the run that it was forked from.
        parent_head: hash of the last record that both share; also the `prev` of this one.
        step: the last step that both share.
        model: `provider/name` that goes on, "" = the parent's.
        program: version of agentforge that made the fork ("" = an old one).
        attempt: its number among independent attempts of the parent, 0 = a fork that a person made.
    """

    run_id: str
    parent: str
    parent_head: str
    parent_records: int
    step: int
    repo: str
    worktree: str
    branch: str
    model: str = ""
    program: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkMade(Event):
    """Another run was forked from this one by a version of agentforge (`program`); nothing changes here."""

    child: str
    step: int
    records: int
    head: str
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMarked(Event):
    """A human says what became of the delivery, through a version of agentforge (`program`): done again, or a defect."""

    mark: Literal["rework", "defect"]
    note: str = ""
    by: str = "user"
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered(Event):
    """The branch stands in the user's repository. `tree` is the tree that was verified."""

    branch: str
    commit: str
    tree: str
    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested(Event):
    """AgentForge wrote a statement about the delivery that other programs can read, and signed it if the user has a key.

    Attributes:
        envelopes: digest of the blob with the DSSE envelopes, one JSON line for each statement.
        key_id: fingerprint of the key that signed, "" = unsigned.
        note: ref of the git note that holds them, too.
    """

    envelopes: str
    key_id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShared(Event):
    """The run reaches its remote from now on, or no longer; only the change is recorded.

    Attributes:
        remote: name of the git remote.
        commit: of the run that the remote holds; "" when it could not be pushed.
        error: why not, secrets redacted; "" when it was pushed.
    """

    remote: str
    commit: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationSent(Event):
    """AgentForge told people of something, or tried to.

    Attributes:
        about: what they were told of: an escalation ("E1") or an end ("delivered", "failed").
        notice: "first", "reminder" or "deadline".
        channel: the notifier, without addresses: apprise | webhook | desktop | command.
        error: why it failed, secrets redacted; "" when it was taken.
    """

    about: str
    notice: Literal["first", "reminder", "deadline"]
    channel: str
    error: str = ""
