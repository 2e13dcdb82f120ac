"""Pictures of screens: taken as SVG, compared by what stands where in which style, whatever the ids in the file are.

`AGENTFORGE_PICTURES=write pytest tests/tui` takes them anew; look at them before they are committed.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[2] / "tui" / "pictures"
_TEXT = re.compile(r'<text class="[\w-]*?-(r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL)
_STYLE = re.compile(r"\.[\w-]*?-(r\d+) \{ (.*?) \}")


def check(app: Any, name: str) -> None:
    """Compare the screen with its picture.

    Raises:
        AssertionError: something stands elsewhere, reads otherwise or has another style.
    """
    svg = re.sub(r"terminal-\d+-", "terminal-", app.export_screenshot(title=name, simplify=True))
    file = _FOLDER / f"{name}.svg"
    if os.environ.get("AGENTFORGE_PICTURES") == "write":
        file.write_text(svg, "utf-8")
        return
    now, before = rows(svg), rows(file.read_text("utf-8"))
    differs = [f"+ {row}" for row in now if row not in before] + [f"- {row}" for row in before if row not in now]
    assert not differs, f"{name} looks otherwise; AGENTFORGE_PICTURES=write takes it anew\n" + "\n".join(differs)


def rows(svg: str) -> list[tuple[float, float, str, str]]:
    """What stands where: (y, x, text, style)."""
    styles = dict(_STYLE.findall(svg))
    found = [(float(y), float(x), unescape(text), styles.get(name, "")) for name, x, y, text in _TEXT.findall(svg)]
    return sorted(row for row in found if row[2].strip())
