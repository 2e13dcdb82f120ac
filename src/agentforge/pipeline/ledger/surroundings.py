"""What stands beside an example in its ask, and may be needed for it: other calls, values, settings, placeholders. Pure.

"After `open(1)`, `f(2)` is 3" says nothing of `f(2)` alone, and "`f(2)` gives 3 for `[4]`" does not either. Nobody can list the
words that say so; that other code stands there can be seen in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType

from agentforge.pipeline.ledger.asks import blocks_of, sentences_of
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.near_values import closed
from agentforge.verification.examples.prose import placeholder_in

_SPAN = re.compile(r"(`{1,2})(?!`)(?P<code>[^`]+)\1(?!`)")
_CALL = re.compile(r"(?<![\w.$])[A-Za-z_$][\w$.]*\(")
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|\$)\s")
_NO_CODE = re.compile(r"\s*(?:```|~~~|//|#|/\*)")
_PLAIN_NAME = re.compile(r"[A-Za-z_$@.][\w$./\\-]*\Z")
_LEADS = (":", "：")


def in_context(claim: Claim, ask: str, others: Sequence[Claim], reader: ModuleType) -> Claim:
    """The claim with the code beside it, and with the calls before it as steps where there are some.

    Code that only names the thing, and what belongs to an example of its own, is not beside it.

    Args:
        ask: the text of the ask that holds the claim.
        others: all claims of that ask.
        reader: `claims` or `claims_javascript`.
    """
    here = ask.find(claim.call)
    calls = {_squeezed(one.call) for one in (claim, *others)}
    values = {reader.literal_source(one.returns) for one in (claim, *others) if one.returns} | {None}
    told = {one.raises for one in (claim, *others) if one.raises}
    found = [
        (place, code)
        for place, code in _pieces(ask, claim.call)
        if not any(call in _squeezed(code) or _squeezed(code) in call for call in calls)
        and (reader.literal_source(code) is None or reader.literal_source(code) not in values)
        and code.rpartition(" ")[2] not in told
        and not _names(code, claim, reader)
    ]
    before = [code for place, code in found if place < here and reader.call_source(code)]
    before += [one.call for one in others if claim.call in one.beside]
    steps = f"[{', '.join([*before, claim.call])}][{len(before)}]" if before else ""
    prose = _QUOTED.sub(" ", _SPAN.sub(" ", ask.replace(claim.call, " ")))
    open_ones = [one for one in (claim.call, claim.returns) if placeholder_in(one, prose)]
    beside = tuple(dict.fromkeys([*claim.beside, *(code for _, code in found), *open_ones]))
    return replace(claim, beside=beside, steps=steps)


def lead_in(request: str, start: int) -> str:
    """The sentence that leads a list in, for an item of it that begins at `start`, with an empty line; "" elsewhere."""
    before = [block for block in blocks_of(request) if block.start < start]
    inside = next((block for block in blocks_of(request) if block.start <= start < block.end), None)
    if inside is None or inside.kind != "item":
        return ""
    first = next((block for block in reversed(before) if block.kind != "item"), None)
    if first is None or first.kind != "text":
        return ""
    begin, end = [*sentences_of(request, first.start, first.end)][-1]
    return f"{request[begin:end]}\n\n" if request[begin:end].endswith(_LEADS) else ""


def _pieces(ask: str, call: str) -> Iterator[tuple[int, str]]:
    """The pieces of code of an ask, each with where it begins; of a table only those of the row that holds a call."""
    for block in blocks_of(ask):
        text = ask[block.start : block.end]
        if block.kind == "code":
            yield from ((block.start + place, line) for place, line in _statements(text))
            continue
        rows = text.splitlines(keepends=True) if block.kind == "table" else [text]
        place = block.start
        for row in rows:
            if block.kind != "table" or call in row:
                yield from ((place + start, code) for start, code in _in_prose(row))
            place += len(row)


def _statements(block: str) -> Iterator[tuple[int, str]]:
    """The statements of a block of code; where it has prompts, what they printed is none."""
    lines, place = block.splitlines(keepends=True), 0
    prompted = any(_PROMPT.match(line) for line in lines)
    for line in lines:
        prompt = _PROMPT.match(line)
        code = line[prompt.end() :].strip() if prompt else line.strip()
        if code and not _NO_CODE.match(line) and (prompt or not prompted):
            yield place, code.rstrip(";")
        place += len(line)


def _in_prose(text: str) -> Iterator[tuple[int, str]]:
    """Code spans, and calls that stand outside of them."""
    spans = [(one.start(), one.end()) for one in _SPAN.finditer(text)]
    yield from ((one.start("code"), " ".join(one["code"].split())) for one in _SPAN.finditer(text))
    last = 0
    for one in _CALL.finditer(text):
        end = closed(text, one.end() - 1)
        if end and one.start() >= last and not any(first <= one.start() < behind for first, behind in spans):
            yield one.start(), " ".join(text[one.start() : end].split())
            last = end


def _names(code: str, claim: Claim, reader: ModuleType) -> bool:
    """Whether code names something, as `slugify`, `src/utils.ts` and `slugify(text: str) -> str` do, and gives no value to it."""
    if _PLAIN_NAME.match(code):
        return reader.literal_source(code) is None
    head, opened, rest = code.partition("(")
    if not opened:
        return False
    own = head.rpartition(".")[2] in re.findall(r"\w+", _QUOTED.sub("", claim.call))
    free = set(reader.names_of(code)) - set(reader.names_of(f"{head}()"))
    if reader.call_source(code) is not None:
        return bool(free) or (own and rest.strip() == ")")
    return own


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace('"', "'").strip("`")
