"""Countries."""

import json
from functools import cache
from pathlib import Path


@cache
def _names() -> dict[str, str]:
    return json.loads((Path(__file__).parent / "names.json").read_text(encoding="utf-8"))


def country_name(code: str) -> str:
    """Give the name of a country; raises KeyError for an unknown code."""
    return _names()[code.upper()]

def is_code(text: str) -> bool:
    """Tell whether a text looks like the code of a country."""
    return len(text) == 2 and text.isalpha()
