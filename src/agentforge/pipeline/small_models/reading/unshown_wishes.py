"""What a request names word for word and none of its examples shows: `sentences end with '.', '?' or '!'`. Pure text work."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from agentforge.pipeline.small_models.reading.request_parser import examples_of
from agentforge.verification.examples.claims import Claim

_QUOTED = re.compile(r"(?<![\w'\"`])(?:'([^'\n]{1,20})'|\"([^\"\n]{1,20})\")(?![\w'\"])")
_SIGNALS = re.compile(
    r"\b(?:[Rr]eturns?|[Gg]ives?|[Yy]ields?|or|else|otherwise)\s+(-\d+)\b|\b[Rr]ais(?:es?|ing)\s+(?:an?\s+)?([A-Z]\w*(?:Error|Exception))\b"
)
_EXAMPLE_LINE = re.compile(r"^\s*>>>|-{1,3}>|={1,3}>|==|→|⇒|➞|^\s*assert\b|^\s*\|")
_MOST = 8


def unshown(request: str, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Texts in quotes, results below zero and exceptions that the request names and no example has.

    Quotes are names where no example has a text at all.
    """
    prose = request
    for example in examples_of(request):
        prose = prose.replace(example, " ")
    prose = "\n".join(line for line in prose.splitlines() if not _EXAMPLE_LINE.search(line))
    strings = {text for claim in claims for text in _strings(claim)}
    found = [one for one in _quoted(prose) if strings and not any(one in text for text in strings)]
    shown = {word for claim in claims for word in re.findall(r"-\d+|\w+", f"{claim.returns} {claim.raises}")}
    found += [one or other for one, other in _SIGNALS.findall(prose) if (one or other) not in shown]
    return tuple(dict.fromkeys(found))[:_MOST]


def calls_with(calls: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The given calls with each text put into one of their texts: in the place of its like, else at the end."""
    out = []
    for text in texts:
        for call in calls:
            tree = ast.parse(call, mode="eval")
            node = next(
                (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)), None
            )
            if node is None:
                continue
            node.value = _with(str(node.value), text)
            if (made := ast.unparse(tree)) not in calls:
                out.append(made)
                break
    return list(dict.fromkeys(out))


def _with(value: str, text: str) -> str:
    """A text with another in it: one sign stands for another of its sort."""
    if len(text) == 1 and not text.isalnum():
        for sign in value[::-1]:
            if not sign.isalnum() and not sign.isspace():
                return value.replace(sign, text)
    return f"{value}{text}"


def _strings(claim: Claim) -> Iterator[str]:
    """The texts of an example, within containers, too."""
    for source in (claim.call, claim.returns):
        for node in ast.walk(ast.parse(source or "0", mode="eval")):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _quoted(prose: str) -> Iterator[str]:
    """What stands in quotes and is no name of the request's own code."""
    names = set(re.findall(r"\b([A-Za-z_]\w*)\s*[(:=]", prose)) | set(re.findall(r"`([A-Za-z_]\w*)`", prose))
    for single, double in _QUOTED.findall(prose):
        text = single or double
        if text.strip() and text not in names and not text.endswith(".py"):
            yield text
