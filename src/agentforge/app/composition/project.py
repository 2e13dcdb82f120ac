"""What a session may use of the project that it works in: nothing before a person agreed to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from agentforge.config.paths import project_tops
from agentforge.config.settings import Settings
from agentforge.config.trust import Trust, is_trusted_instruction, trusted

UNTRUSTED = "not used, because it is not trusted: "
_KINDS = ("skill", "settings", "environment")


class Project:
    """The project around a folder.

    Attributes:
        notices: what was left out, and why; for people.
    """

    def __init__(self, root: Path, *, settings: Settings, environ: Mapping[str, str]) -> None:
        self.root = root
        self.notices: list[str] = []
        self._settings = settings
        self._environ = environ
        self._told: set[str] = set()

    @cached_property
    def tops(self) -> tuple[Path, ...]:
        """The folders from which something is loaded, the repository's first."""
        return project_tops(self.root, self._environ)

    def holds(self, kind: str) -> bool:
        """Whether everything of a kind (config.steering_files.Kind) may be used; what may not is told once."""
        pending = [one for trust in self._trust for one in trust.pending({kind})]
        if pending and kind not in self._told:
            self._told.add(kind)
            names = ", ".join(one.name for one in pending[:5])
            self.notice(f"{UNTRUSTED}{names} (agentforge trust)")
        return not pending

    def holds_file(self, file: Path) -> bool:
        """Whether a file with instructions may be read to the model."""
        top = self.top_of(file)
        if file.parent == top:
            return self.holds("instructions")
        if top is not None and is_trusted_instruction(top, self._environ, file):
            return True
        self.notice(f"{file} is not used, because it is not trusted (agentforge trust)")
        return False

    def top_of(self, file: Path) -> Path | None:
        """The project's top folder above a file, None when it belongs to none."""
        return next((top for top in self.tops if file.is_relative_to(top)), None)

    def setting(self, key: str, *, kind: str) -> object:
        """The value of a setting that steers: the project's own only after trust."""
        for layer in reversed(self._settings.layers):
            if key in layer.values and (not layer.project or self.holds(kind)):
                return layer.values[key]
        return None

    def own_setting(self, key: str) -> tuple[str, ...]:
        """A list of texts as the project's own settings give it, trusted or not."""
        lists = [layer.values[key] for layer in self._settings.layers if layer.project and key in layer.values]
        return tuple(str(one) for one in lists[-1]) if lists and isinstance(lists[-1], list) else ()

    def notice(self, text: str) -> None:
        """Say once what was left out."""
        if text not in self.notices:
            self.notices.append(text)

    @cached_property
    def _trust(self) -> tuple[Trust, ...]:

        # without the walk for instructions in sub-folders: those are judged one by one, when they are met
        return tuple(trusted(top, self._environ, kinds=_KINDS) for top in self.tops)
