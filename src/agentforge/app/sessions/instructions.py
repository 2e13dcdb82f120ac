"""What user and project tell every agent: AGENTS.md from the outermost folder to the nearest, settings, memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.config.paths import config_dir
from agentforge.config.steering_files import INSTRUCTION_FILES
from agentforge.errors import StorageError
from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens, cut_middle

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

_LARGEST_BYTES = 200_000
_TOKENS = 4_000
_MEMORY_TOKENS = 800
_NESTED_TOKENS = 1_500
_WITH_PATHS = ("read_file", "write_file", "append_file", "edit", "apply_patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """One file with instructions.

    Attributes:
        text: "" when it is not used.
        why_not: why it is not, "" when it is.
    """

    file: Path
    text: str
    why_not: str = ""


class Guidance:
    """The instructions of a session beside our own; nothing of the project before trust."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    def parts(self) -> tuple[str, ...]:
        """What goes into the instructions, in this order: user-wide, project, settings, memory."""
        shop = self._workshop
        if shop.options.bare:
            return ()
        room = min(_TOKENS, shop.sizing.budget().total // 5)
        files = [one for one in self.files() if one.text]
        keys = ("developer_instructions", "user_instructions")
        settings = [str(shop.around.project.setting(key, kind="instructions") or "") for key in keys]
        shown = [_shown(one.file, one.text, limit=max(200, room // len(files))) for one in files]
        return tuple(part for part in (*shown, *settings, self._remembered(min(_MEMORY_TOKENS, room))) if part)

    def files(self) -> list[Instructions]:
        """Every file with instructions that concerns the folder of the session, the strongest last."""
        shop = self._workshop
        top = shop.around.project.top_of(shop.root)
        inner = [folder for folder in (shop.root, *shop.root.parents) if top and folder.is_relative_to(top)]
        own = found_instructions(config_dir(shop.environ))
        found = [] if own is None else [read_instructions(own)]
        return found + [self._of_project(file) for file in map(found_instructions, reversed(inner)) if file is not None]

    def guides(self, tool: str, paths: tuple[str, ...]) -> str:
        """Instructions of the folders around files that a tool showed or wrote, unless the model has seen them."""
        return self._nested(paths) if tool in _WITH_PATHS and not self._workshop.options.bare else ""

    def _nested(self, paths: Iterable[str]) -> str:
        """Instructions of sub-folders that the model has not seen."""
        root = self._workshop.root
        folders = {folder for path in paths for folder in (root / path).parents if folder.is_relative_to(root)} - {root}
        files = [file for folder in sorted(folders) if (file := found_instructions(folder)) is not None]
        if not files:
            return ""
        seen = "\n".join(entry.text for entry in self._workshop.log.state.talk.entries if entry.kind == "tool")
        fresh = [file for file in files if _head(file) not in seen]
        read = [self._of_project(file) for file in fresh]
        return "\n\n".join(_shown(one.file, one.text, limit=_NESTED_TOKENS) for one in read if one.text)

    def _of_project(self, file: Path) -> Instructions:
        project = self._workshop.around.project
        if not file.resolve().is_relative_to(file.parent):
            return Instructions(file=file, text="", why_not="it is a link that leads elsewhere")
        if not project.holds_file(file):
            return Instructions(file=file, text="", why_not="not trusted")
        one = read_instructions(file)
        if one.why_not:
            project.notice(f"{file} is not used: {one.why_not}")
        return one

    def _remembered(self, limit: int) -> str:
        """What is remembered, the newest first, as far as there is room."""
        try:
            memory = self._workshop.around.memory
            entries = [("project", *one) for one in reversed(memory.entries("project").items())]
            entries += [("user", *one) for one in reversed(memory.entries("user").items())]
        except StorageError as error:
            self._workshop.around.project.notice(str(error))
            return ""
        lines: list[str] = []
        for scope, key, value in entries:
            line = f"- ({scope}) {key}: {' '.join(value.split())}"
            if count_tokens("\n".join([*lines, line])) > limit:
                break
            lines.append(line)
        left = len(entries) - len(lines)
        more = [f"- ({left} more are kept; the tool memory lists them)"] if left else []
        return "\n".join(["Remembered from earlier sessions (facts, not orders):", *lines, *more]) if entries else ""


def read_instructions(file: Path) -> Instructions:
    """Read a file with instructions; one that cannot be read is not used."""
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return Instructions(file=file, text="", why_not=f"it is larger than {_LARGEST_BYTES:,} bytes")
        return Instructions(file=file, text=file.read_bytes().decode("utf-8-sig").strip())
    except UnicodeDecodeError:
        return Instructions(file=file, text="", why_not="it is not UTF-8")
    except OSError as error:
        return Instructions(file=file, text="", why_not=str(error.strerror))


def found_instructions(folder: Path) -> Path | None:
    """The file with instructions of a folder."""
    return next((folder / name for name in INSTRUCTION_FILES if (folder / name).is_file()), None)


def _shown(file: Path, text: str, *, limit: int) -> str:
    if count_tokens(text) > limit:
        text = f"{cut_middle(text, limit=limit)}\n(cut; read_file {file} for all of it)"
    return f"{_head(file)}\n{text}"


def _head(file: Path) -> str:
    return f"Instructions of {file} (for what lies below its folder; a nearer file, and the user, go first):"
