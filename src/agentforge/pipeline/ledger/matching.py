"""Which requirement an ask belongs to where the specification does not say it: by the names, values and words in common. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentforge.pipeline.ledger.asks import values_of
from agentforge.pipeline.model.prompt_text import terms_of
from agentforge.pipeline.model.stage import Json, items, texts

_STEM = 5
"""Letters in common from the first on that make two words forms of one."""
_TERMS = 200


def matching(text: str, requirements: Sequence[Json], spec: Json) -> list[str]:
    """The ids of the requirements that share most with an ask, those of equal standing all; [] where none shares anything.

    What stands in its title, symbols, files and constraints belongs to every requirement; what it leaves out of scope to none.
    """
    wanted = _words(text)
    scores = {str(row.get("id")): _score(wanted, _words(_text_of(row))) for row in requirements}
    best = max(scores.values(), default=0)
    if best:
        return [name for name, score in scores.items() if score == best]
    return list(scores) if _score(wanted, _words("\n".join(_rest(spec)))) else []


def _score(wanted: set[str], known: set[str]) -> int:
    return sum(any(_same(one, other) for other in known) for one in wanted)


def _same(one: str, other: str) -> bool:
    return one == other or (len(one) >= _STEM and len(other) >= _STEM and one[:_STEM] == other[:_STEM])


def _words(text: str) -> set[str]:
    """Names, dotted ones also by their parts, words that may be names, and values."""
    terms = [part for term in terms_of(text, limit=_TERMS) for part in (term, *term.replace("_", ".").split("."))]
    return {one.casefold() for one in (*terms, *values_of(text)) if one.strip()}


def _text_of(requirement: Json) -> str:
    return "\n".join([str(requirement.get("description", "")), *texts(requirement.get("acceptance_criteria"))])


def _rest(spec: Json) -> Iterator[str]:
    yield from (str(spec.get(name, "")) for name in ("title", "description", "trace_to_request"))
    yield from (
        f"{row.get('name', '')} {row.get('file', '')} {row.get('signature', '')}" for row in items(spec.get("symbols"))
    )
    yield from (*texts(spec.get("files_to_modify")), *texts(spec.get("files_to_create")))
    yield from (str(row.get("description", "")) for row in items(spec.get("constraints")))
