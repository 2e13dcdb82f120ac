"""Where custom tools lie: the user's own, and the project's when a person agreed to exactly these files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import toolbox
from agentforge.app.tools.server_settings import UNTRUSTED
from agentforge.config.paths import config_dir, project_tops
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
    folders = [folder for folder in (own / "tools", own / ".agentforge" / "tools") if any(folder.glob("*.py"))]
    refused: dict[str, str] = {}
    for top in reversed(project_tops(root, environ)):
        brought = top / ".agentforge" / "tools"
        if not any(brought.glob("*.py")):
            continue
        if trusted(top, environ, kinds={"tool"}).holds({"tool"}):
            folders.insert(0, brought)
        else:
            refused[str(brought)] = UNTRUSTED
    return folders, refused
