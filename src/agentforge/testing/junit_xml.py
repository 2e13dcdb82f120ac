"""Reads JUnit XML reports, whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.errors import ToolchainError
from agentforge.testing.outcome import Outcome

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LIMIT_BYTES = 128 * 1024 * 1024
_RANK: dict[Outcome, int] = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class JunitCase:
    """One `testcase` element; `kind` is the `type` of its failure."""

    suite: str
    classname: str
    name: str
    file: str
    outcome: Outcome
    duration_s: float
    message: str
    text: str
    kind: str = ""


def read_cases(path: Path) -> tuple[JunitCase, ...]:
    """Read every test case of a report.

    Raises:
        ToolchainError: the file is missing, too large, no XML, or holds no JUnit report.
    """
    from xml.etree import ElementTree

    if not path.is_file():
        raise ToolchainError(f"the test command wrote no JUnit report at {path.name}")
    if path.stat().st_size > _LIMIT_BYTES:
        raise ToolchainError(f"the JUnit report {path.name} is larger than {_LIMIT_BYTES} bytes")
    data = path.read_bytes()
    if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
        raise ToolchainError(f"the JUnit report {path.name} declares entities; that is refused")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as exc:
        raise ToolchainError(f"the JUnit report {path.name} is broken: {exc}") from exc
    if root.tag not in ("testsuites", "testsuite"):
        raise ToolchainError(f"{path.name} is not a JUnit report: its root is <{root.tag}>")
    return tuple(_cases(root, suite=""))


def worst(one: Outcome, other: Outcome) -> Outcome:
    """The outcome that says more against the test."""
    return one if _RANK.get(one, 3) >= _RANK.get(other, 3) else other


def pytest_key(nodeid: str) -> tuple[str, str]:
    """The (classname, name) under which pytest's own JUnit report lists a test."""
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return _escaped(".".join(names[:-1])), _escaped(names[-1])


def _cases(element: Element, *, suite: str) -> Iterator[JunitCase]:
    for child in element:
        if child.tag == "testsuite":
            yield from _cases(child, suite=child.get("name", suite))
        elif child.tag == "testcase":
            yield _case(child, suite=suite or element.get("name", ""))
        elif child.tag in ("error", "failure") and not element.findall("testcase"):  # a whole file that could not run
            yield _whole(child, suite=suite or element.get("name", ""))


def _whole(element: Element, *, suite: str) -> JunitCase:
    """What a suite says of itself, as a case without a name of its own."""
    return JunitCase(
        suite=suite, classname="", name="(the whole file)", file="", outcome="error", duration_s=0.0,
        message=element.get("message", ""), text=(element.text or "").strip(), kind=element.get("type", ""),
    )  # fmt: skip


def _case(element: Element, *, suite: str) -> JunitCase:
    outcome: Outcome = "passed"
    message, text, kind = "", "", ""
    for child in element:
        found = _OUTCOMES.get(child.tag)
        if found is not None and worst(found, outcome) == found:
            outcome, message, text, kind = found, child.get("message", ""), child.text or "", child.get("type", "")
    return JunitCase(
        suite=suite,
        classname=element.get("classname", ""),
        name=element.get("name", ""),
        file=element.get("file", ""),
        outcome=outcome,
        duration_s=_seconds(element.get("time", "0")),
        message=message,
        text=text.strip(),
        kind=kind,
    )


_OUTCOMES: dict[str, Outcome] = {
    "failure": "failed", "error": "error", "skipped": "skipped",
    "flakyFailure": "failed", "flakyError": "error", "rerunFailure": "failed", "rerunError": "error",
}  # fmt: skip
"""What passed only when it was run again has not passed."""


def _seconds(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def _escaped(text: str) -> str:
    """Replace what XML cannot hold, as pytest does."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]", _code, text)


def _code(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"#x{number:02X}" if number <= 0xFF else f"#x{number:04X}"
