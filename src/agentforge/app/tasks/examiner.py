"""What the settings say about the examiner."""

from __future__ import annotations

from agentforge.config.settings import Settings
from agentforge.events.kinds.examinations import EXAMINE


def examiner_of(settings: Settings) -> dict[str, object]:
    """What the first record of a run holds of it: {model, asks}; {} = nobody examines."""
    model = settings.text("verification.examiner", "auto")
    return {} if model == "off" else {"model": model, "asks": settings.flag("verification.examiner_asks")}


def flag_of(settings: Settings, stage: str, flag: str | None) -> str | None:
    """The model that is named for everything, as PROVIDER/NAME; for the examiner its own where it has one."""
    model = settings.text("verification.examiner", "auto") if stage == EXAMINE else "off"
    return flag if model in ("auto", "off") else model
