"""Calls of the request with the values that stand near them: in the same sentence, item, row, comment or line. Pure.

Nothing follows from a pair but that the call is made (`verification.examples.near_results`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from agentforge.pipeline.ledger.asks import blocks_of, sentences_of
from agentforge.verification.examples import claims_javascript
from agentforge.verification.examples.near_results import NearCallText, NearGroup
from agentforge.verification.examples.near_values import NearCall, NearValue, calls_in, values_in
from agentforge.verification.examples.sessions import after_steps, is_code, lines_of, step_of


def groups_in(request: str, reader: ModuleType) -> list[NearGroup]:
    """The groups of a request that hold a call and a value, each with the values that stand close by.

    A sentence without a call belongs to the one with a call before it in its paragraph or item, or to the block of code that it
    stands behind; one that leads a block with a single call in belongs to that. What stands behind a call beside which nothing
    stands belongs to it in any layout, up to the next call or heading.

    Args:
        reader: `claims` or `claims_javascript`.
    """
    found: list[NearGroup] = []
    lead = ""  # the sentence before a block of code
    open_block = False  # whether nothing was said since a block of code
    sealed = False  # whether a heading stands behind the last group
    for block in blocks_of(request):
        piece = request[block.start : block.end]
        if block.kind == "heading":
            lead, open_block, sealed = "", False, True
            continue
        if block.kind == "code":
            made = _of_code(piece, block.start, reader)
            if found and found[-1].calls and not found[-1].values and not any(one.calls for one in made):
                found[-1] = _joined(found[-1], made)
                continue
            if lead and sum(bool(one.calls) for one in made) == 1:
                made = [_with(one, lead, reader) if one.calls else one for one in made]
            found, lead, open_block, sealed = [*found, *made], "", True, False
            continue
        rows = block.kind == "table"
        for number, (start, part) in enumerate(_parts(piece, block.start, rows=rows)):
            group = _of_prose(part, start, reader)
            goes_on = not group.calls and not rows and bool(found) and bool(found[-1].calls)
            bare = goes_on and not found[-1].values and not sealed
            if goes_on and (number > 0 or bare or (open_block and block.kind == "text")):
                found[-1] = _with(found[-1], part, reader)
            else:
                found.append(group)
                sealed = False
            lead, open_block = part if not group.calls else "", False
    return [
        replace(
            one,
            around=tuple(value for near in found[max(0, place - _CLOSE) : place + _CLOSE + 1] for value in near.values),
            others=tuple(
                call.source
                for near in found[max(0, place - _CLOSE) : place + _CLOSE + 1]
                for call in near.calls
                if not near.values
            ),
        )
        for place, one in enumerate(found)
        if one.calls and one.values
    ]


_CLOSE = 2
"""Groups before and behind one that stand close by."""


def _parts(piece: str, start: int, *, rows: bool) -> list[tuple[int, str]]:
    if not rows:
        return [(start + first, piece[first:end]) for first, end in sentences_of(piece, 0, len(piece))]
    places = [0, *(match.end() for match in re.finditer(r"\n", piece))]
    return [(start + place, line) for place, line in zip(places, piece.split("\n"), strict=True)]


def _of_prose(text: str, start: int, reader: ModuleType) -> NearGroup:
    return NearGroup(
        start=start,
        sentence=" ".join(text.split()),
        calls=tuple(
            NearCallText(text=one.source, source=one.source, place=one.start, inside=one.inside, of=one.of)
            for one in calls_in(text, reader)
        ),
        values=tuple(values_in(text, reader)),
    )


def _with(group: NearGroup, text: str, reader: ModuleType) -> NearGroup:
    """The group with the values of a sentence that stands beside it."""
    behind = len(group.sentence) + 1
    values = [replace(one, place=one.place + behind, inside=()) for one in values_in(text, reader)]
    return replace(group, sentence=f"{group.sentence} {' '.join(text.split())}", values=(*group.values, *values))


_ALONE = re.compile(r"(?:assert\s+)?[\s\0=<>:;,→⇒➞➜⟶⟹-]*\Z")
"""What is left of a line of code whose values are results: signs."""


def _joined(group: NearGroup, others: Sequence[NearGroup]) -> NearGroup:
    """The group with the values of a block that holds no call."""
    said = "\n".join([group.sentence, *(one.sentence for one in others)])
    return replace(group, sentence=said, values=tuple(value for one in others for value in one.values))


def _of_code(block: str, start: int, reader: ModuleType) -> list[NearGroup]:
    """A group for each line of code that holds a call, with what its comment says and what stands below it."""
    javascript = reader is claims_javascript
    found: list[NearGroup] = []
    steps: list[str] = []
    bound: set[str] = set()
    for line in lines_of(block, javascript=javascript):
        calls, inside = calls_in(line.code, reader), values_in(line.code, reader, code=True)
        said = values_in(line.comment, reader)
        step = step_of(line.code, javascript=javascript)
        if calls:
            made = tuple(
                NearCallText(
                    text=one.source,
                    source=after_steps(steps, one.source, javascript=javascript),
                    place=one.start,
                    of=one.of,
                )
                for one in calls
            )
            beside = inside if _ALONE.match(_without(line.code, calls)) else []
            if not beside and not is_code(line.code, javascript=javascript):
                beside, said = values_in(line.text, reader), []
            found.append(NearGroup(start=start, sentence=line.text, calls=made, values=(*beside, *said)))
            own = {name for one in calls for name in reader.names_of(one.source)}
            if step is None and own & bound:
                step = calls[0].source
        elif step is None and not found:
            plain = [] if inside or not line.code else [NearValue(source=line.code, kind="text")]
            found.append(NearGroup(start=start, sentence=line.text, calls=(), values=(*inside, *plain, *said)))
        elif step is None:
            plain = [] if inside or not line.code else [NearValue(source=line.code, kind="text")]
            found[-1] = replace(
                found[-1],
                sentence=f"{found[-1].sentence}\n{line.text}",
                values=(*found[-1].values, *inside, *plain, *said),
            )
        if step:
            steps.append(step)
            bound |= {one.group() for one in re.finditer(r"[A-Za-z_$][\w$]*(?=\s*:?=)", step)}
    return found


def _without(code: str, calls: Sequence[NearCall]) -> str:
    """A line of code without its calls and values."""
    for one in reversed(calls):
        code = code[: one.start] + "\0" + code[one.end :]
    return re.sub(
        r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[{(][^\0]*[\]})]|-?\d[\d.]*|\b(?:None|True|False|null|undefined|true|false|NaN)\b",
        "",
        code,
    )
