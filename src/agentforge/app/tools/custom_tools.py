"""Where custom tools lie: the user's own, and the project's when a person agreed to exactly these files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import toolbox
from agentforge.config.paths import config_dir
from agentforge.config.trust import trusted
from agentforge.tools.custom.definition import load_tools
from agentforge.tools.dispatch.loaded import Loaded

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop


def custom_tools(workshop: Workshop) -> Loaded:
    """Load the custom tools of a session; nothing is imported where there are no files."""
    folders, refused = tool_folders(workshop.root, workshop.environ)
    if not folders:
        return Loaded(tools={}, origins={}, refused=refused)

    loaded = load_tools(folders, root=workshop.root, taken=toolbox.names())
    return Loaded(tools=loaded.tools, origins=loaded.origins, refused={**refused, **loaded.refused})


def tool_folders(root: Path, environ: Mapping[str, str]) -> tuple[list[Path], dict[str, str]]:
    """The folders that may be loaded, and why another one may not."""
    own = config_dir(environ)
    project = root / ".agentforge" / "tools"
    folders = [folder for folder in (own / "tools", own / ".agentforge" / "tools") if any(folder.glob("*.py"))]
    if not any(project.glob("*.py")):
        return folders, {}

    if trusted(root, environ).holds({"tool"}):
        return [project, *folders], {}
    return folders, {str(project): "not trusted; look at it, then run `agentforge trust`"}
