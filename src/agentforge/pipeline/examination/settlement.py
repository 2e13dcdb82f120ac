"""What becomes of an examiner's tests: they are measured, and about those that fail a second reader of the request decides. Pure.

A test that holds agrees. One that fails shows that the tree and a reader of the request differ; which of them is right is told by
somebody who sees the request, the test and the result, and who has to quote the words that decide it. A quotation that does not
stand in the request decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from agentforge.agent import last_artifact_in
from agentforge.pipeline.ledger.promises import key_of
from agentforge.pipeline.model.stage import Json, items

DISPUTED = "disputed"
_READ_BY_A_PROGRAM = (
    "(A program read this example in the request, and tried the call by itself. It may need what stands beside it there, or tell "
    "of what was so before the change.)"
)
_NEAR = (
    "(A program found this call and values close to it in the request, and made the call. It does not know which of them is its "
    "result, or whether one is: `{call}` gives {got} now{was}. It is demanded only if that is wrong by the words of the request.)"
)
_MOST = 24
_RULINGS = {
    "demanded": "contradicts",
    "wrong": "contradicts",
    "open": "open",
    "mistaken": "dropped",
    "right": "dropped",
}
"""What follows from the words of a second reader about a test, and of the examiner about what an example gives now."""

Row = dict[str, object]


def measured_rows(source: str, looks: Mapping[str, Json], request: str, known: Sequence[Json] = ()) -> tuple[Row, ...]:
    """Each test with what was measured, and its verdict where measurement alone gives one.

    Args:
        source: the test file.
        looks: {held, got: what the failure says, before: outcome at the base, same: it failed there in the same way,
            unchecked: why it says nothing} by the test's id.
        request: the words that the examiner was given.
        known: the rows of an earlier measurement of the same file: a second reading of a test that fails again stays.
    Returns:
        {test, says, code, held, got, before, unchecked, verdict, why}; the verdict is "agrees", "dropped", "disputed", or one
        that a second reader gave before.
    """
    rulings = _rulings_of(known)
    out: list[Row] = []
    for test, look in list(looks.items())[:_MOST]:
        says, code = says_and_code(source, test)
        row: Row = {"test": test, "says": says, "code": code, **look}
        earlier = rulings.get(test)
        if look.get("unchecked"):
            row |= {"verdict": "dropped", "why": look["unchecked"]}
        elif look.get("held"):
            row |= {"verdict": "agrees", "why": ""}
        elif not stands_in(says, request):
            row |= {"verdict": "dropped", "why": "no words of the request stand above it"}
        elif earlier is not None:
            row |= earlier
        else:
            row |= {"verdict": DISPUTED, "why": ""}
        out.append(row)
    return tuple(out)


def example_rows(examples: Sequence[Json], request: str, known: Sequence[Json] = ()) -> tuple[Row, ...]:
    """Rows for examples of the request that fail, and of which no measurement says whether it demands them.

    Args:
        examples: {call, example, got, before} of each, before is "passed" or ""; or {call, example, got, was, near}.
        request: the words around them.
        known: the rows of an earlier measurement.
    Returns:
        Rows as those of tests, with `example`.
    """
    rulings = _rulings_of(known)
    out: list[Row] = []
    for example in examples[:_MOST]:
        row: Row = {
            "test": example_name(example), "says": _line_with(str(example.get("call")), request),
            "code": f"{example.get('example')}\n{_said_of(example)}", "held": False, "got": f"it is {example.get('got')}",
            "before": example.get("before"), "unchecked": "", "example": True,
        }  # fmt: skip
        out.append({**row, **rulings.get(row["test"], {"verdict": DISPUTED, "why": ""})})
    return tuple(out)


def _said_of(example: Json) -> str:
    if not example.get("near"):
        return _READ_BY_A_PROGRAM
    was = f", and gave {example.get('was')} before the change" if example.get("was") else ""
    return _NEAR.format(call=example.get("call"), got=example.get("got"), was=was)


def example_name(example: Json) -> str:
    """The name under which an example stands among the tests."""
    return f"example: {key_of(example)}"


def _rulings_of(known: Sequence[Json]) -> dict[object, Row]:
    """What a second reader said before, by the name of the test."""
    told = ("verdict", "why", "ruled", "unread")
    return {row.get("test"): {name: row[name] for name in told if name in row} for row in known if row.get("ruled")}


def _line_with(call: str, request: str) -> str:
    """The paragraph of the request that holds a call."""
    return next((" ".join(one.split()) for one in re.split(r"\n\s*\n", request) if call in one), call)


def ruled_rows(rows: Sequence[Json], answer: str, request: str) -> tuple[Row, ...]:
    """The rows with the verdicts of a second reading; what it does not decide is open.

    Args:
        answer: of the second reader: {verdicts: [{test: number from 1 among the disputed ones, verdict, quote, why}]}.
    """
    return _with_rulings(rows, lambda found: {"ruled": True, **_ruling(found, request)}, _given(answer, "test"))


def ruled_examples(rows: Sequence[Json], answer: str, request: str) -> tuple[Row, ...]:
    """The rows of examples with what the examiner said of them beside its tests; what it leaves out waits for a second reading.

    Args:
        answer: of the examiner: its file, and {verdicts: [{example: number from 1 among the disputed, verdict, quote, why}]}.
    """
    given = _given(answer, "example")
    return _with_rulings(rows, lambda found: {"ruled": True, **_ruling(found, request)} if found else {}, given)


def _given(answer: str, by: str) -> dict[str, Json]:
    """The verdicts of an answer by the number under which it was asked for them."""
    value = last_artifact_in(answer) or {}
    return {str(one.get(by)).strip(): one for one in items(value.get("verdicts")) if by in one}


def _with_rulings(
    rows: Sequence[Json], ruling: Callable[[Json | None], Row], given: Mapping[str, Json]
) -> tuple[Row, ...]:
    out: list[Row] = []
    number = 0
    for row in rows:
        waits = row.get("verdict") == DISPUTED
        number += waits
        out.append({**row, **(ruling(given.get(str(number))) if waits else {})})
    return tuple(out)


def disputed(rows: Sequence[Json]) -> list[Json]:
    """The rows that wait for a second reading."""
    return [row for row in rows if row.get("verdict") == DISPUTED]


def _ruling(found: Json | None, request: str) -> Row:
    if found is None:
        return {"verdict": "open", "why": "no second reading decided it", "unread": True}
    verdict = _RULINGS.get(str(found.get("verdict", "")).strip().lower(), "open")
    why = str(found.get("why", "")).strip()
    if verdict == "contradicts" and not stands_in(str(found.get("quote", "")), request):
        return {"verdict": "open", "why": why or "the words that would decide it do not stand in the request"}
    return {"verdict": verdict, "why": why}


_SAYS = re.compile(r"^[ \t]*(?://|#)+[ \t]*says:[ \t]*(?P<words>.*)$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://|#)+[ \t]?(?P<words>.*)$")
_BLOCK = re.compile(
    r"^[ ]{0,3}(?P<mark>`{3,})(?P<kind>[^\n`]*)\n(?P<text>.*?)(?:^[ ]{0,3}(?P=mark)[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_VERDICTS = "json"
"""The kind of the fenced block in which verdicts stand."""
_ROW = re.compile(r"\[.*\]$", re.DOTALL)
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\]|\[…\])\s*|[\"”]\s*(?:and|,|;|\+|/)?\s*[\"“](?=\w)")
_STEM = "examined"
_OWN_PART = re.compile(
    r"^(?P<before>test[_-]|Test)?(?P<stem>.*?)(?P<after>(?:[._-](?:test|spec|tests))|Tests?|_test)?$"
)
_SHORTEST = 4
"""Characters of a quotation that can name a demand."""


def file_in(answer: str) -> str:
    """Give the test file of an answer: its longest fenced block that holds no verdicts; "" where there is none."""
    found = [one for one in _BLOCK.finditer(answer) if one["kind"].strip().lower() != _VERDICTS]
    blocks = [one["text"] for one in found]
    return max(blocks, key=len, default="").rstrip() + "\n" if any(map(str.strip, blocks)) else ""


def place_beside(suite: Sequence[str], taken: Callable[[str], bool], fallback: str) -> str:
    """Name a new test file so that the project's runner finds it: beside the first file of the suite, called as that one is.

    Args:
        suite: paths of test files of the run.
        taken: whether a path is there already.
        fallback: the path where there is no suite.
    """
    for path in suite:
        file = PurePosixPath(path)
        base, suffix = file.name.partition(".")[0], "".join(file.suffixes)
        parts = _OWN_PART.match(base)
        before, after = (parts["before"] or "", parts["after"] or "") if parts else ("", "")
        stem = _STEM.capitalize() if before == "Test" or after in ("Test", "Tests") else _STEM
        return _free(str(file.with_name(f"{before}{stem}{after}{suffix}")), taken)
    return _free(fallback, taken)


def says_and_code(text: str, test: str) -> tuple[str, str]:
    """Give the words of the request that stand above a test, and the test with its comment; ("", "") where it cannot be found.

    Args:
        text: the file.
        test: the id that the runner gave it.
    """
    name = _ROW.sub("", re.split(r"::| > ", test)[-1]).strip()
    here = (
        re.search(rf"^(?P<indent>[ \t]*)(?![ \t]|//|#[^\[]).*?(?<!\w){re.escape(name)}(?!\w)", text, re.MULTILINE)
        if name
        else None
    )
    if here is None:
        return "", ""
    indent, starts = len(here["indent"]), list(_SAYS.finditer(text))
    above = [one for one in starts if one.start() < here.start() and _indent(one) == indent]
    inside = [one for one in starts if one.start() > here.start() and _indent(one) > indent]
    said = above[-1] if above else inside[0] if inside else None
    if said is None:
        return "", ""
    first = min(said.start(), here.start())
    last = min((one.start() for one in starts if one.start() > max(said.start(), here.start())), default=len(text))
    return _words(text[said.start() :].split("\n")), text[first:last].strip("\n").rstrip()


def stands_in(quote: str, request: str) -> bool:
    """Tell whether words are a verbatim quotation of the request; spaces, quotes and what "..." leaves out do not count."""
    said = _plain(request)
    parts = [_plain(part) for part in _LEFT_OUT.split(quote)]
    return any(len(part) >= _SHORTEST for part in parts) and all(part in said for part in parts)


def _words(lines: Sequence[str]) -> str:
    """The quotation of a comment, which may go on over some lines."""
    words = [_SAYS.match(lines[0])["words"]]  # type: ignore[index] # the block begins with it
    for line in lines[1:]:
        more = _COMMENT.match(line)
        if more is None:
            break
        words.append(more["words"])
    return " ".join(" ".join(words).split()).strip("\"'`“”")


def _indent(said: re.Match[str]) -> int:
    return len(said[0]) - len(said[0].lstrip())


def _plain(text: str) -> str:
    return re.sub(r"[\s\"'`“”‘’*_]+", " ", text).strip(" .,;:").lower()


def _free(path: str, taken: Callable[[str], bool]) -> str:
    file, number = PurePosixPath(path), 2
    found = path
    while taken(found):
        found = str(
            file.with_name(
                file.name.replace(_STEM, f"{_STEM}{number}").replace(
                    _STEM.capitalize(), f"{_STEM.capitalize()}{number}"
                )
            )
        )
        number += 1
    return found
