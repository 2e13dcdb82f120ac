"""What a project brings is told when a conversation begins without it, and found from every folder of the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.project_context import left_out, words_about
from agentforge.config.trust import grant, trusted

if TYPE_CHECKING:
    from tests.support.people import Open

_TOOL = """
from agentforge.tools.base import Observation, Tool, takes
TOOL = Tool(name="mark", description="Marks.", parameters=takes(), effect="read",
            run=lambda arguments, context: Observation(status="success", summary="m"))
"""


def _bring(project: Path) -> Path:
    """A project with one of everything; a folder below its top."""
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"command": "no-such-program"}}}))
    (project / ".env").write_text("A=1\n")
    (project / "AGENTS.md").write_text("Say please.\n")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text("{}")
    (project / ".agentforge" / "tools").mkdir(parents=True)
    (project / ".agentforge" / "tools" / "mark.py").write_text(_TOOL)
    (project / "src").mkdir()
    return project / "src"


def test_everything_that_a_conversation_would_use_is_named_with_the_command_that_trusts(
    opened: Open, project: Path
) -> None:
    chat = opened(cwd=_bring(project))
    assert set(chat.left_out) == {".mcp.json", ".env", "AGENTS.md", ".agentforge/tools/mark.py"}
    (note,) = chat.notes
    assert "\n" not in note and "agentforge trust" in note and all(name in note for name in chat.left_out)
    assert opened(cwd=project / "src", bare=True).left_out == (".env",)


def test_from_a_folder_below_the_top_what_is_trusted_is_used(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    folder = _bring(project)
    before = opened(cwd=folder).workshop
    assert "mark" not in before.tools() and "is not trusted" in before.shed.missing()["a"]
    assert any(name.endswith(".agentforge/tools") for name in before.shed.missing())
    grant(trusted(project, environ), environ, now="2026-01-01T00:00:00Z")
    after = opened(cwd=folder)
    assert (after.left_out, after.notes) == ((), ())
    assert "mark" in after.workshop.tools() and "a" not in after.workshop.shed.refused


def test_a_long_list_is_told_by_its_beginning() -> None:
    assert words_about(()) == ""
    assert "h and 4 more" in words_about(tuple("abcdefghijkl"))


def test_a_project_that_brings_nothing_leaves_nothing_out(project: Path, environ: dict[str, str]) -> None:
    assert left_out(project, environ) == ()
