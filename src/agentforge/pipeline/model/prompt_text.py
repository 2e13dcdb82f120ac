"""What several stages are told in the same words: the request's terms, the base line, the specification."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from pathlib import Path

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.base_line import cause_lines, tests_text
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.tokens import count_tokens

WORD = r"[A-Za-z_][A-Za-z0-9_.]{2,}"  # of code
_STOP_WORDS = """
the and for that with this from into have has are was were will should would could when then than there their they
them add new use using make sure please can not but all any each its our your you must also like such where which
what who how does did done get set let one two some more most other only same after before between file files code
test tests function method class return returns value values support option optional argument arguments parameter
parameters user users currently instead need needs want wants allow allows given example examples none true false
"""
_FRAMED_TOKENS = 200
_MARKS = r"(?m)^\s*(?:[-*+]|\d+[.)])\s+|(?<!\S)`(?!`)|(?<!`)`(?=[\s.,;:!?)]|$)"
"""What marks an item of a list, and the quotes of code around whole words."""
_STOP = frozenset(_STOP_WORDS.split())


@cache
def prompt_text(name: str) -> str:
    """What the model of a stage is told, as it stands in its file."""
    return (Path(__file__).parents[1] / "prompts" / f"{name}.md").read_text("utf-8").strip()


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
    base = state.work.facts.get("baseline", {})
    if not base:
        return ""
    failing = texts(base.get("failing"))
    lines = [f"runner: {base.get('runner')}; command: {base.get('command')}", tests_text(base)]
    if failing:
        more = f" and {len(failing) - 5} more" if len(failing) > 5 else ""
        lines.append(f"failing already, not yours to repair unless asked: {', '.join(failing[:5])}{more}")
    lines += [f"  {row.get('id')} fails by {row.get('text')}" for row in items(base.get("reasons"))]
    lines += texts(base.get("problems"))[:3]
    lines += cause_lines(base)[:3]
    return "\n".join(lines)


def specification_text(spec: Json) -> str:
    """A specification for reading: criteria with the numbers by which tests refer to them."""
    return "\n".join(whole for whole, _ in specification_parts(spec))


def holds(shown: str, text: str) -> bool:
    """Whether a text stands in another one that is shown, however its lines are broken and its list items and code are marked."""
    return _plain(text).rstrip(".;:, ") in _plain(shown)


def _plain(text: str) -> str:
    return " ".join(re.sub(_MARKS, "", text).split())


def specification_parts(spec: Json, *, framed: int = 0) -> tuple[tuple[str, str], ...]:
    """A specification in parts, (whole, short): where it is too long for a step, whole requirements become one line each.

    Args:
        framed: how many of the constraints stand in the step's frame and are not repeated.
    """
    title, described = (str(spec.get(name) or "").strip() for name in ("title", "description"))
    below = [str(item.get("description")) for item in items(spec.get("requirements"))]
    told = [described] if described and not any(holds(one, described) for one in below) else []
    told = [title, *told] if title and not any(holds(one, title) for one in (*told, *below)) else told
    parts = [(line, line) for line in told]
    for item in items(spec.get("requirements")):
        head = f"{item.get('id')} ({item.get('priority', 'must')}): {item.get('description')}"
        criteria = texts(item.get("acceptance_criteria"))
        lines = [f"  {item.get('id')}.{number} {criterion}" for number, criterion in enumerate(criteria, start=1)]
        what = _first_words(str(item.get("description")))
        short = f"{item.get('id')}: {what} (no room for its {len(criteria)} criteria in this step)"
        parts.append(("\n".join([head, *lines]), short))
    lines = []
    for item in items(spec.get("symbols")):
        what = f"{item.get('change')} {item.get('kind')} {item.get('name')}"
        lines.append(f"symbol: {what} in {item.get('file')} {item.get('signature', '')}".rstrip())
    taken = items(spec.get("assumptions"))
    lines += [f"assumption: {item.get('reading')} -> {item.get('assumption')}" for item in taken]
    lines += [f"constraint: {item.get('description')}" for item in items(spec.get("constraints"))[framed:]]
    lines += [f"interface: {item.get('name')} ({item.get('type')})" for item in items(spec.get("interfaces"))]
    for key in ("files_to_modify", "files_to_create", "out_of_scope"):
        if texts(spec.get(key)):
            lines.append(f"{key}: {', '.join(texts(spec.get(key)))}")
    return (*parts, *((line, line) for line in lines))


def framed_constraints(spec: Json) -> list[str]:
    """The first constraints of a specification, as many as a step's frame holds whole."""
    told = [str(item.get("description", "")) for item in items(spec.get("constraints"))]
    costs = accumulate(map(count_tokens, told))
    return [text for text, cost in zip(told, costs, strict=True) if cost <= _FRAMED_TOKENS]


def _first_words(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:96]} ..."
