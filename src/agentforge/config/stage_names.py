"""Which stages the settings may speak of: those of the house, and those that a file or a setting brings. Nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.config.paths import config_dir, project_tops
from agentforge.config.schema import schema_of
from agentforge.errors import ConfigError

if TYPE_CHECKING:
    from agentforge.config.settings import Settings

PROJECT_FOLDER = ".agentforge/stages"
"""Where a project keeps stages of its own."""


def check_stage_names(settings: Settings, cwd: Path, environ: Mapping[str, str]) -> None:
    """Refuse `[stages.NAME]` of a stage that nobody brings.

    Raises:
        ConfigError: names the line, and the nearest stage.
    """
    house = cast("Mapping[str, object]", schema_of("stages").get("properties", {}))
    unknown = [name for name in settings.table("stages") if name not in house]
    if not unknown:
        return
    named = cast("list[object]", settings.get("pipeline.stages") or [])
    known = {*house, *map(str, named), *(file.stem for file in stage_files(project_tops(cwd, environ), environ))}
    for name in unknown:
        if name not in known:
            raise ConfigError(
                f"{settings.origin(f'stages.{name}')}: unknown setting stages.{name}",
                hint=_nearest(name, sorted(known)),
            )


def stage_files(tops: Sequence[Path], environ: Mapping[str, str]) -> Iterator[Path]:
    """The files that bring stages: the user's own, then those of the project; a name that begins with `_` is no stage.

    Args:
        tops: folders of the project that may hold some.
    """
    for folder in (config_dir(environ) / "stages", *(top / PROJECT_FOLDER for top in tops)):
        yield from (file for file in sorted(folder.glob("*.py")) if not file.name.startswith("_"))


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean stages.{near[0]}?" if near else f"a stage is one of {', '.join(known)}"
