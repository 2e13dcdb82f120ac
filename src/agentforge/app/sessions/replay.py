"""`replay` of a session: is the record what this program would do and send with the same answers?"""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.frozen import dataclass
from agentforge.session import Difference, replay_turns
from agentforge.store.blobs import Blobs
from agentforge.store.log.reader import read
from agentforge.store.sessions.folders import find_session, run_folder


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
