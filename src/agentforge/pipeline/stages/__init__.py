"""The stages, one file each; the file name is the stage's name. Order lives here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from agentforge.pipeline.stage import Stage

ORDER = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")
ALIASES = {"design": "spec", "plan": "spec", "tests": "red", "code": "green", "commit": "deliver"}


class Stages(Mapping[str, Stage]):
    """All stages in the order in which they run; one is imported when it is first looked at."""

    def __getitem__(self, name: str) -> Stage:
        """The stage of that name.

        Raises:
            KeyError: there is none.
        """
        if name not in ORDER:
            raise KeyError(name)
        stage: Stage = import_module(f"{__name__}.{name}").STAGE
        return stage

    def __iter__(self) -> Iterator[str]:
        """Names in order."""
        return iter(ORDER)

    def __len__(self) -> int:
        """How many there are."""
        return len(ORDER)


def load_stages() -> Stages:
    """All stages in the order in which they run."""
    return Stages()
