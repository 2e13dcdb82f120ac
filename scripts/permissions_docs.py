"""Write the tables of docs/permissions.md anew from the code: classes, modes. `make golden` runs it."""

from __future__ import annotations

import re
from pathlib import Path

from agentforge.safety.policy.modes import MODE_MEANING, TABLE, Mode
from agentforge.safety.shell.programs.classes import MEANING

PAGE = Path(__file__).parents[1] / "docs" / "permissions.md"


def tables() -> dict[str, str]:
    """Every generated table by the name of its marker."""
    head = ["Class", *(f"`{mode}`" for mode in Mode), "What it is"]
    rows = [[f"`{kind}`", *(TABLE[mode][kind].value for mode in Mode), text] for kind, text in MEANING.items()]
    return {
        "modes": _table(["Mode", "Meaning"], [[f"`{mode}`", text] for mode, text in MODE_MEANING.items()]),
        "classes": _table(head, rows),
    }


def page(text: str) -> str:
    """The page with its generated tables put in."""
    for name, table in tables().items():
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda match, table=table: f"{match[1]}{table}\n{match[2]}",
            text,
            flags=re.DOTALL,
        )
    return text


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
