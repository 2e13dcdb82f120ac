"""What several stages are told in the same words: the request's terms, the base line, the specification."""

from __future__ import annotations

import re

from agentforge.events.state import RunState
from agentforge.pipeline.stage import Json, items, texts

WORD = r"[A-Za-z_][A-Za-z0-9_.]{2,}"  # of code
_STOP_WORDS = """
the and for that with this from into have has are was were will should would could when then than there their they
them add new use using make sure please can not but all any each its our your you must also like such where which
what who how does did done get set let one two some more most other only same after before between file files code
test tests function method class return returns value values support option optional argument arguments parameter
parameters user users currently instead need needs want wants allow allows given example examples none true false
"""
_STOP = frozenset(_STOP_WORDS.split())


def terms_of(text: str, *, limit: int = 24) -> list[str]:
    """The words of a request that may name code, in order of appearance."""
    seen: dict[str, None] = {}
    for word in re.findall(WORD, text[:20_000]):
        clean = word.strip("._")
        if len(clean) > 2 and clean.lower() not in _STOP:
            seen.setdefault(clean)
    return list(seen)[:limit]


def baseline_text(state: RunState) -> str:
    """How the tests run and what the base line showed, in a few lines."""
    base = state.facts.get("baseline", {})
    if not base:
        return ""
    failing = texts(base.get("failing"))
    lines = [
        f"runner: {base.get('runner')}; command: {base.get('command')}",
        f"{base.get('passed', 0)} of {base.get('tests', 0)} tests pass, {base.get('skipped', 0)} are skipped",
    ]
    if failing:
        more = f" and {len(failing) - 5} more" if len(failing) > 5 else ""
        lines.append(f"failing already, not yours to repair unless asked: {', '.join(failing[:5])}{more}")
    lines += texts(base.get("problems"))[:3]
    return "\n".join(lines)


def specification_text(spec: Json) -> str:
    """A specification for reading: criteria with the numbers by which tests refer to them."""
    lines = [str(spec.get("title", "")), str(spec.get("description", ""))]
    for item in items(spec.get("requirements")):
        lines.append(f"{item.get('id')} ({item.get('priority', 'must')}): {item.get('description')}")
        numbered = enumerate(texts(item.get("acceptance_criteria")), start=1)
        lines += [f"  {item.get('id')}.{number} {criterion}" for number, criterion in numbered]
    for item in items(spec.get("symbols")):
        what = f"{item.get('change')} {item.get('kind')} {item.get('name')}"
        lines.append(f"symbol: {what} in {item.get('file')} {item.get('signature', '')}".rstrip())
    lines += [f"constraint: {item.get('description')}" for item in items(spec.get("constraints"))]
    lines += [f"interface: {item.get('name')} ({item.get('type')})" for item in items(spec.get("interfaces"))]
    for key in ("files_to_modify", "files_to_create", "out_of_scope"):
        if texts(spec.get(key)):
            lines.append(f"{key}: {', '.join(texts(spec.get(key)))}")
    return "\n".join(line for line in lines if line)
