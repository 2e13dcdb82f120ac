"""The stages, one file each; the file name is the stage's name. Order lives here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass
from agentforge.pipeline.model.profile import SMALL
from agentforge.pipeline.model.stage import Stage

FIX = "fix"
SPLIT = "split"
ORDER = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")
FIX_ORDER = ("analyze", "guard", "change", "verify", "deliver")
SPLIT_ORDER = ("plan",)
DELIVERY = "deliver"
"""The stage that is over only when its branch stands."""
ALIASES = {"design": "spec", "plan": "spec", "tests": "red", "code": "green", "commit": "deliver"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A way from a request to its end: what differs between workflows is a field of this record.

    Attributes:
        package: holds a file per stage.
        order: the stages as they run.
        title: names the folder of a run, by its request.
        takes_added: stages from outside, a profile and an examiner may have a part in it.
        needs_model: a run is not begun without a model; else it is missed when it is asked and not before.
    """

    package: str
    order: tuple[str, ...]
    title: str = "{request}"
    takes_added: bool = False
    needs_model: bool = False


WORKFLOWS = {
    "": Workflow(package=__name__, order=ORDER, takes_added=True, needs_model=True),
    FIX: Workflow(package="agentforge.pipeline.workflows.fix.stages", order=FIX_ORDER),
    SPLIT: Workflow(package="agentforge.pipeline.workflows.split.stages", order=SPLIT_ORDER, title="plan {request}"),
}


def _whole(stage: Stage) -> Stage:
    return stage


def _cut_down(stage: Stage) -> Stage:
    from agentforge.pipeline.small_models.generation.stages import cut_down

    return cut_down(stage)


_CUTS: dict[str, Callable[[Stage], Stage]] = {"": _whole, SMALL: _cut_down}
"""Profile -> what it makes of a stage."""


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
        return _CUTS[self._profile](stage)

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
    row = WORKFLOWS[workflow]
    if not row.takes_added:
        return Stages(row.package, row.order)
    if not added:
        return Stages(__name__, ORDER, profile=profile)
    order = placed(ORDER, [(name, stage.after) for name, stage in added.items()])
    return Stages(__name__, order, profile=profile, added=added)


def placed(order: Sequence[str], added: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Put stages behind those that they name; several behind the same one stand in the order of their names.

    Args:
        added: (name, the stage behind which it stands).
    Raises:
        ConfigError: a stage stands behind none of the others, or behind the last.
    """
    behind: dict[str, list[str]] = {}
    for name, after in sorted(added):
        behind.setdefault(after, []).append(name)
    out: list[str] = []
    pending = list(reversed(order))
    while pending:
        name = pending.pop()
        out.append(name)
        pending += reversed(behind.pop(name, []))
    lost = {name: after for after, names in behind.items() for name in names}
    if lost:
        told = "; ".join(f"{name} stands after {after!r}" for name, after in lost.items())
        known = ", ".join(name for name in out if name != order[-1])
        raise ConfigError(f"there is no place for a stage: {told}", hint=f"after: one of {known}")
    if out[-1] != order[-1]:
        raise ConfigError(f"{out[-1]} stands after {order[-1]}, which is the last stage", hint="name an earlier one")
    return tuple(out)
