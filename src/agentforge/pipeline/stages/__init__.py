"""The stages, one file each; the file name is the stage's name. Order lives here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from agentforge.pipeline.model.stage import Stage

FIX = "fix"
SMALL = "small"
SPLIT = "split"
ORDER = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")
FIX_ORDER = ("analyze", "guard", "change", "verify", "deliver")
SPLIT_ORDER = ("plan",)
ALIASES = {"design": "spec", "plan": "spec", "tests": "red", "code": "green", "commit": "deliver"}


class Stages(Mapping[str, Stage]):
    """The stages of a workflow in the order in which they run; one is imported when it is first looked at.

    Attributes:
        added: those from outside, by name.
    """

    def __init__(
        self, package: str, order: tuple[str, ...], *, profile: str = "", added: Mapping[str, Stage] | None = None
    ) -> None:
        """Take the package that holds a file per stage, their order, the profile that cuts them down, and others' stages."""
        self._package = package
        self._order = order
        self._profile = profile
        self.added = added or {}

    def __getitem__(self, name: str) -> Stage:
        """The stage of that name.

        Raises:
            KeyError: there is none.
        """
        if name in self.added:
            return self.added[name]
        if name not in self._order:
            raise KeyError(name)
        stage: Stage = import_module(f"{self._package}.{name}").STAGE
        if self._profile == SMALL:
            from agentforge.pipeline.small_models.generation.stages import cut_down

            return cut_down(stage)
        return stage

    def __iter__(self) -> Iterator[str]:
        """Names in order."""
        return iter(self._order)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._order)


def load_stages(workflow: str = "", *, profile: str = "", added: Mapping[str, Stage] | None = None) -> Stages:
    """The stages in the order in which they run.

    Args:
        workflow: "" = from a request to a delivery, "fix" = repair violations, "split" = plan a request over repositories.
        profile: "" = as they stand in their files, "small" = cut down for small models.
        added: stages from outside by name; each says behind which one it stands.
    Raises:
        ConfigError: there is no place for one of them.
    """
    if workflow == FIX:
        return Stages("agentforge.pipeline.workflows.fix.stages", FIX_ORDER)
    if workflow == SPLIT:
        return Stages("agentforge.pipeline.workflows.split.stages", SPLIT_ORDER)
    if not added:
        return Stages(__name__, ORDER, profile=profile)
    from agentforge.pipeline.plugins.stage_order import placed

    order = placed(ORDER, [(name, stage.after) for name, stage in added.items()])
    return Stages(__name__, order, profile=profile, added=added)
