"""Examples of a request: do they stand in it word for word, and is each asserted by a test? Pure text work."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentforge.verification.effects.observed_effects import is_observed, wanted_part

_LITERAL = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def stands_in(example: str, request: str) -> bool:
    """Tell whether the example is in the request, character by character but for white space at line ends and runs of it."""
    return bool(example.strip()) and _squeeze(example) in _squeeze(request)


def observed_in(example: str, request: str) -> bool:
    """Tell whether an example says nothing but what the code gives today: no expected result can be read from it."""
    return is_observed(example, within=request)


def wanted_in(example: str, request: str) -> str:
    """Give the part of an example that says what is wanted; "" when it only tells of today."""
    return wanted_part(example, within=request)


def told_in(example: str, criteria: Sequence[str]) -> bool:
    """Tell whether the criteria hold an example: its words, or every value that it names; one without values cannot be missed."""
    said = "\n".join(criteria)
    return stands_in(example, said) or all(_whole(item, said) for item in literals(example))


def literals(example: str) -> list[str]:
    """The string and number literals of an example, without their quotes."""
    return [text[1:-1] if text[:1] in "'\"" else text for text in _LITERAL.findall(example)]


def asserted_in(example: str, source: str) -> bool:
    """Tell whether every literal of the example occurs in the source of one test file, not just as a piece of a longer word
    or number; an example without literals cannot be checked this way and counts as asserted."""
    flat = source.replace("\\n", "\n").replace("\\t", "\t")
    wanted = literals(example)
    return all(_whole(item, source) or _whole(item.replace("\\n", "\n").replace("\\t", "\t"), flat) for item in wanted)


def _whole(item: str, text: str) -> bool:
    """Tell whether the item stands in the text with no letter or digit that goes on at either end."""
    before = r"(?<!\w)" if re.match(r"\w", item) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", item) else ""
    return re.search(f"{before}{re.escape(item)}{after}", text) is not None


def _squeeze(text: str) -> str:
    return " ".join(text.split())
