"""Events of what a run hands over; kinds.py names them with all others."""

from __future__ import annotations

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered(Event):
    """The branch stands in the user's repository. `tree` is the tree that was verified."""

    branch: str
    commit: str
    tree: str
    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested(Event):
    """What was delivered was stated in the form that others read, and signed where the user has a key.

    Attributes:
        envelopes: digest of the blob with the DSSE envelopes, one JSON line for each statement.
        key_id: fingerprint of the key that signed, "" = unsigned.
        note: ref of the git note that holds them, too.
    """

    envelopes: str
    key_id: str = ""
    note: str = ""
