"""Provider manual: a person answers, by files of the folder that the model's name is, or in the terminal (`manual/terminal`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.models.stand_ins.manual import ManualModel

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec


def open_model(spec: ModelSpec) -> ManualModel:
    """Open a person; nothing is asked yet."""
    folder = Path(spec.folder or spec.name).expanduser().absolute()
    return ManualModel(spec.name, folder, wait_s=spec.read_timeout_s)
