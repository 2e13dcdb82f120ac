"""A plan that was driven from the queue: the tasks of its parts stand in the queue, too."""

from __future__ import annotations

from pathlib import Path

from agentforge.app.tasks.split_runs import first_record
from agentforge.errors import AgentForgeError
from agentforge.fleet.ledger import Job, Ledger
from agentforge.store.log.reader import load_state


def queue_parts(ledger: Ledger, job: Job) -> list[Job]:
    """Put the parts that a plan has become behind it into the queue; done twice it is the same.

    Returns:
        Their jobs; none for a task that is no plan.
    Raises:
        StorageError: the database does not answer.
    """

    if first_record(job.folder).get("workflow") != "split":
        return []
    try:
        parts = load_state(job.folder).relations.parts
    except AgentForgeError:
        return []  # a damaged run: judged and told by whoever looks how its driving ended
    return [
        ledger.add_once(Path(str(row["path"])), str(row["task_id"]), priority=job.priority) for row in parts.values()
    ]
