"""Which blobs an event names. An event that names a blob in a new field is added here, so that proof and retention see it."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events import kinds
from agentforge.events.kinds import Event


def blobs_named(event: Event) -> tuple[str, ...]:
    """Digests of the blobs that must be there for `event` to be worth what it says."""
    found: list[object] = []
    if isinstance(event, kinds.RunStarted):
        tests = event.digests.get("tests")
        found += tests.values() if isinstance(tests, Mapping) else ()
        found += (row.get("digest") for row in event.added)
    elif isinstance(event, kinds.RunResumed):
        found += (row.get("digest") for row in event.added)
    elif isinstance(event, kinds.StageStarted):
        found.append(event.material)
    elif isinstance(event, kinds.Examined):
        found.append(event.source)
    elif isinstance(event, kinds.ModelCalled):
        found.append(event.request)
    elif isinstance(event, kinds.ToolStarted):
        found += (item for item in event.touches.values() if not str(item).startswith("withheld:"))
    elif isinstance(event, kinds.ToolFinished):
        found += [event.output, *(row.get("digest") for row in event.pictures)]
    elif isinstance(event, kinds.UserSaid | kinds.UserSteered):
        found += (row.get("digest") for row in event.pictures)
    elif isinstance(event, kinds.StepFinished):
        found.append(event.patch)
    elif isinstance(event, kinds.FactsGathered):
        repairs = event.facts.get("repairs")
        found += [event.evidence, *(repairs.values() if isinstance(repairs, Mapping) else ())]
    elif isinstance(event, kinds.StageVerified):
        found.append(event.contract_document)
    elif isinstance(event, kinds.Attested):
        found.append(event.envelopes)
    return tuple(str(item) for item in found if item)
