"""Pages out of templates. Everything that comes out of a trail is shown as text: escaped, and with nothing invisible in it.

What a model writes, as paragraphs and blocks of code. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.dashboard.diffs import coloured_lines
from agentforge.events.kinds.choices import choices_of
from agentforge.views.audit_blocks import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.responses import Response


_FOLDER = Path(__file__).parent / "templates"
_THOUSAND = 1000


def page(template: str, *, status: int = 200, **values: object) -> Response:
    """Render a template as an answer."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(_environment().get_template(template).render(**values), status_code=status)


def count_text(value: float | None) -> str:
    """A number in three or four characters: 999, 12.3k, 4.6M; "-" for none."""
    if value is None:
        return "-"
    for size, letter in ((_THOUSAND**3, "G"), (_THOUSAND**2, "M"), (_THOUSAND, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:g}"


def money_text(value: float | None) -> str:
    """Money, to the cent or finer; "unknown" where a price is."""
    if value is None:
        return "unknown"
    return f"${value:.2f}" if value == 0 or value >= 1 else f"${value:.4f}"


def percent_text(value: float | None) -> str:
    """A rate; "-" where nothing was counted."""
    return "-" if value is None else f"{100 * value:.1f} %"


def seconds_text(value: float | None) -> str:
    """A duration: 42 s, 3 min, 1 h 05 min."""
    if value is None:
        return "-"
    minutes = int(value // 60)
    if not minutes:
        return f"{value:.1f} s" if 0 < value < 10 else f"{value:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def moment_text(at: str | None) -> str:
    """A time stamp for people, in UTC."""
    return f"{at[:10]} {at[11:16]} UTC" if at else "-"


def cut_text(text: str, length: int) -> str:
    """The first line of a text, cut between two words where it is longer than wanted."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= length:
        return line
    whole = line[: length + 1].rpartition(" ")[0]
    return f"{whole if len(whole) > length // 2 else line[:length]} …"


def plain_text(name: object) -> str:
    """The name of a field as words: files_to_modify becomes `files to modify`."""
    return str(name).replace("_", " ")


def is_mapping(value: object) -> bool:
    """Whether a value of an artifact has fields."""
    return isinstance(value, Mapping)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["choices_of"] = choices_of
    made.globals["cards"] = made.list_templates(filter_func=lambda name: name.startswith("cards/"))
    made.filters |= {
        "count": count_text,
        "money": money_text,
        "percent": percent_text,
        "seconds": seconds_text,
        "moment": moment_text,
        "cut": cut_text,
        "plain": plain_text,
    }
    made.tests["fields"] = is_mapping
    return made


def _shown(value: object) -> object:
    """Text with control, direction and zero-width characters made visible; markup of ours as it is."""
    from markupsafe import Markup

    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_FENCE = re.compile(r"^```([A-Za-z0-9_+-]*)[^\n]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LANGUAGES = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "bash": "sh",
    "shell": "sh",
    "rust": "rs",
    "ruby": "rb",
}


_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")


def inline(text: str) -> str:
    """A paragraph as markup: escaped, with `code` and **emphasis** as what they mean."""
    parts = _CODE.split(escape(visible(text)))
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    parts[::2] = [_STRONG.sub(r"<strong>\1</strong>", part) for part in parts[::2]]
    return "".join(parts)


def pieces(text: str) -> list[tuple[str, Any]]:
    """A message as paragraphs and blocks of code: ("text", words) and ("code", its lines as markup, or its text)."""
    from markupsafe import Markup

    found: list[tuple[str, Any]] = []
    place = 0
    for match in _FENCE.finditer(text):
        found.append(("text", text[place : match.start()].strip("\n")))
        found.append(_code(match[1], match[2].rstrip("\n")))
        place = match.end()
    found.append(("text", text[place:].strip("\n")))
    return [
        (kind, Markup(inline(value)) if kind == "text" else value)  # escaped there
        for kind, value in found
        if kind != "text" or value.strip()
    ]


def _code(language: str, text: str) -> tuple[str, Any]:
    from markupsafe import Markup

    word = language.lower()
    lines = coloured_lines(f"a.{_LANGUAGES.get(word, word)}", text) if word else ()
    return "code", Markup("\n".join(lines).rstrip("\n")) if lines else text  # escaped where it is coloured
