"""What the tests of an examiner, who saw the request and not the work, showed on the delivered tree."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

Json = Mapping[str, object]
EXAMINE = "examine"
"""The name under which the examiner's call, its cost and its facts are recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined(Event):
    """The examiner's tests were run on a tree, or a second reader settled those that fail.

    Attributes:
        tree: the git tree that they were run on.
        asked: digest of the words that the examiner was given.
        path: where the test file stood while it was run.
        source: blob of the test file, "" = there is none.
        unrunnable: what the runner said of a file that it could not run; it is sent back once.
        rows: {test, says, code, held, got, before, same, unchecked, verdict, why, ruled} for every test, and with `example` for
            an example of the request that fails; `same` = it failed before the change in the same way, `unread` = the second
            reader said nothing of it. The verdict is "agrees", "disputed" (it fails, and a second reader is asked),
            "contradicts" (the request demands it), "open" (a reading that the request does not settle) or "dropped".
        reason: why nothing was examined, "" when something was.
    """

    attempt: int
    tree: str
    asked: str = ""
    path: str = ""
    source: str = ""
    unrunnable: str = ""
    rows: tuple[Json, ...] = ()
    reason: str = ""
