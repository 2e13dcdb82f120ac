"""What a person typed before, kept per project: the history that arrow-up goes through."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

_KEPT = 500
_LONGEST = 20_000


class Typed:
    """Messages that were typed in a project, oldest first.

    Args:
        data: the data folder.
        project: the folder that the agent works in.
    """

    def __init__(self, data: Path, project: Path) -> None:
        name = hashlib.sha256(str(project).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path = data / "typed" / f"{name}.jsonl"
        self.lines = self._read()

    def add(self, text: str) -> None:
        """Remember a message; one that equals the last is not kept twice.

        Side effects: appends to the file; now and then it is shortened. A disk that is full costs the memory, not the message.
        """
        text = text.strip()
        if not text or len(text) > _LONGEST or (self.lines and self.lines[-1] == text):
            return
        self.lines.append(text)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if len(self.lines) > 2 * _KEPT:
                self.lines = self.lines[-_KEPT:]
                self._write("w", self.lines)
            else:
                self._write("a", [text])
        except OSError:
            self.lines = self.lines[-_KEPT:]

    def _write(self, how: str, lines: list[str]) -> None:
        with self._path.open(how, encoding="utf-8", errors="surrogateescape") as stream:
            self._path.chmod(0o600)
            stream.writelines(json.dumps(line) + "\n" for line in lines)

    def _read(self) -> list[str]:
        try:
            rows = self._path.read_text("utf-8", "surrogateescape").splitlines()
        except OSError:
            return []
        return [line for line in map(_line, rows) if line][-_KEPT:]


def _line(row: str) -> str:
    try:
        value = json.loads(row)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
