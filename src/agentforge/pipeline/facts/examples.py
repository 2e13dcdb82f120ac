"""Examples of a request: do they stand in it word for word, and is each asserted by a test? Pure text work."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentforge.pipeline.ledger.asks import blocks_of
from agentforge.verification.effects.observed_effects import is_observed, wanted_part
from agentforge.verification.examples.placeholders import placeholder_in

_LITERAL = re.compile(
    r"\"{3}|'{3}|(?<!\w)[bru]{0,2}'(?:[^'\\\n]|\\.|\n(?!\s*\n))*'|\"(?:[^\"\\\n]|\\.|\n(?!\s*\n))*\"|(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])"
)
"""A text, which a line break may cross, or a number; the apostrophe of a word begins none, and what three quotes hold is many."""
_SPAN = re.compile(r"(`+)[^`]+\1")
_CALL = re.compile(r"[\w.$]*\w\([^()]*\)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE = 7
"""Words beside code and values from which an example is a sentence: the longest examples of real requests have six."""
_TRIPLE = ("'" * 3, '"' * 3)
_BREAK = r"(?:\s|\\n|[\"']\s*[\"'])+"
"""What a test may have where a line of the request breaks: white space, its escape, or the quotes of a text in two parts."""


def stands_in(example: str, request: str) -> bool:
    """Tell whether the example is in the request, character by character but for white space at line ends and runs of it."""
    return bool(example.strip()) and _squeeze(example) in _squeeze(request)


def observed_in(example: str, request: str) -> bool:
    """Tell whether an example says nothing but what the code gives today: no expected result can be read from it."""
    return is_observed(example, within=request)


def is_sentence(example: str, request: str) -> bool:
    """Tell whether an example is prose: it has many words beside its values and its code, and calls nothing with a value.

    What is quoted as a whole, and a block of code, stays an example, however many words it has.
    """
    if any(f"{sign}{example.strip()}{sign}" in request for sign in "`'\"") or any(
        _LITERAL.search(call) for call in _CALL.findall(example)
    ):
        return False
    place = request.find(example.strip())
    if any(one.start <= place < one.end and one.kind in ("code", "table") for one in blocks_of(request)):
        return False
    bare = _LITERAL.sub(" ", _CALL.sub(" ", _SPAN.sub(" ", example)))
    return len(_WORD.findall(bare)) >= _PROSE


def wanted_in(example: str, request: str) -> str:
    """Give the part of an example that says what is wanted; "" when it only tells of today."""
    return wanted_part(example, within=request)


def told_in(example: str, criteria: Sequence[str]) -> bool:
    """Tell whether the criteria hold an example: its words, or every value that it names; one without values cannot be missed."""
    said = "\n".join(criteria)
    return stands_in(example, said) or all(_whole(item, said) for item in literals(example))


def literals(example: str) -> list[str]:
    """The string and number literals of an example, without their quotes and without those that hold a placeholder."""
    prose = _LITERAL.sub(" ", example)
    found = (text.lstrip("bru") for text in _LITERAL.findall(example))
    bare = [text[1:-1] if text[:1] in "'\"" else text for text in found if text not in _TRIPLE]
    return [text for text in bare if not placeholder_in(text, prose)]


def asserted_in(example: str, source: str) -> bool:
    """Tell whether every literal of the example occurs in the source of one test file, not just as a piece of a longer word
    or number; an example without literals cannot be checked this way and counts as asserted."""
    flat = source.replace("\\n", "\n").replace("\\t", "\t")
    wanted = literals(example)
    return all(_whole(item, source) or _whole(item.replace("\\n", "\n").replace("\\t", "\t"), flat) for item in wanted)


def _whole(item: str, text: str) -> bool:
    """Tell whether the item stands in the text with no letter or digit that goes on at either end.

    Where a line of the request breaks in it, any white space may stand.
    """
    before = r"(?<!\w)" if re.match(r"\w", item) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", item) else ""
    parts = re.split(r"\s*\n\s*", item) if "\n" in item else [item]
    return re.search(f"{before}{_BREAK.join(map(re.escape, parts))}{after}", text) is not None


def _squeeze(text: str) -> str:
    return " ".join(text.split())
