"""What the specification makes of each ask: requirements, context, or nothing because. Read, repaired and told. Pure.

The canonical form is one entry per ask: a list of requirements, "context", "not_done: why", or "unsaid" where neither the
specification nor a name or word in common tells what becomes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.asks import values_of
from agentforge.pipeline.ledger.entries import LedgerEntry
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


How = Literal["requirements", "context", "not_done", "unsaid"]
_NUMBERS = re.compile(r"\d+(?:\s*(?:-|–|to)\s*\d+)?")
_REQUIREMENT = re.compile(r"(?i)\bR(?:EQ)?[-_ ]?0*(\d{1,3})\b")
_NOT_DONE = re.compile(r"(?is)not[ _-]?done\b\s*[:,;-]*\s*(?P<reason>.*)")
_CONTEXT = re.compile(r"(?i)context\b.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Becomes:
    """What becomes of one ask.

    Attributes:
        requirements: their ids, where it is met by some.
        reason: why it is not done.
    """

    how: How
    requirements: tuple[str, ...] = ()
    reason: str = ""

    @property
    def value(self) -> object:
        """The canonical form."""
        if self.how == "requirements":
            return list(self.requirements)
        return f"not_done: {self.reason}" if self.how == "not_done" else self.how


_CONTEXT_ALONE = Becomes(how="context")


def becomes_of(value: object) -> Becomes:
    """Read the canonical form; anything else is unsaid."""
    if isinstance(value, (list, tuple)) and texts(value):
        return Becomes(how="requirements", requirements=tuple(texts(value)))
    said = str(value or "")
    if said == "context":
        return Becomes(how="context")
    if said.startswith("not_done"):
        return Becomes(how="not_done", reason=said.partition(":")[2].strip())
    return Becomes(how="unsaid")


def settled(entries: Sequence[LedgerEntry], spec: Json) -> tuple[dict[str, object], list[str]]:
    """Say of each ask what becomes of it, as the specification says, else by the names and words that they share.

    Args:
        spec: a specification, or a draft of one; its `asks` may be missing, or written in many ways.
    Returns:
        The canonical mapping, and a sentence for everything that the harness had to settle itself.
    """
    rows = items(spec.get("requirements"))
    ground = _Ground(
        ids=tuple(str(row.get("id")) for row in rows),
        wont=frozenset(str(row.get("id")) for row in rows if row.get("priority") == "wont"),
        spec=spec,
    )
    said = {number: _read(value, ground.ids) for number, value in _said(spec.get("asks")).items()}
    if all(said.get(entry.number) == _CONTEXT_ALONE for entry in entries):  # a request that asks for nothing is none
        said = {}
    if len(entries) == 1 and 1 not in said:
        return {"1": ground.every.value}, []
    out: dict[str, object] = {}
    told: list[str] = []
    for entry in entries:
        found, why = _settled(entry, said.get(entry.number), ground)
        out[str(entry.number)] = found.value
        told += [f"{why}: {entry.words!r} {_counted(found)}"] if why else []
    if entries and not said:
        matched = "; ".join(f"{number}: {_short(becomes_of(value))}" for number, value in out.items())
        told = [f"The specification does not say what becomes of the asks; by names and words in common: {matched}."]
    return out, told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """The requirements of a specification: all ids, and those that are put off."""

    ids: tuple[str, ...]
    wont: frozenset[str]
    spec: Json

    @property
    def every(self) -> Becomes:
        """All that is to be met; unsaid where there is no requirement at all, which the schema refuses."""
        if not self.ids:
            return Becomes(how="unsaid")
        met = tuple(one for one in self.ids if one not in self.wont)
        return Becomes(how="requirements", requirements=met) if met else self.put_off(self.ids)

    def put_off(self, ids: Sequence[str]) -> Becomes:
        """Not done: nothing but requirements that are put off."""
        return Becomes(how="not_done", reason=f"the specification puts {', '.join(ids)} off (priority wont)")


def _settled(entry: LedgerEntry, known: Becomes | None, ground: _Ground) -> tuple[Becomes, str]:
    """What becomes of an ask, and why the harness had to say so ("" = the specification did)."""
    if known is not None and known.how == "requirements" and set(known.requirements) <= ground.wont:
        return ground.put_off(known.requirements), ""
    if known is not None and not (known.how == "context" and entry.wanted):
        return known, ""
    why = "An ask with an example is no context" if known is not None else "Nothing readable is said of an ask"
    met = [row for row in items(ground.spec.get("requirements")) if row.get("id") not in ground.wont]
    shared = tuple(matching(entry.text, met, ground.spec))
    if not shared and entry.wanted:
        shared = ground.every.requirements[:1]
    return (Becomes(how="requirements", requirements=shared) if shared else Becomes(how="unsaid")), why


def _counted(found: Becomes) -> str:
    if found.how == "requirements":
        return f"is counted for {', '.join(found.requirements)}, which shares names or words with it."
    return "shares no name or word with a requirement; nobody says what becomes of it."


def _short(found: Becomes) -> str:
    return ", ".join(found.requirements) or ("nobody says" if found.how == "unsaid" else found.how)


def _said(value: object) -> dict[int, object]:
    """What a draft says of each ask by its number: a mapping, a list of records, or a list in the order of the asks."""
    found: dict[int, object] = {}
    if isinstance(value, Mapping):
        pairs: Iterator[tuple[object, object]] = iter(value.items())
    elif isinstance(value, (list, tuple)):
        pairs = (_pair(number, item) for number, item in enumerate(value, start=1))
    else:
        return found
    for key, item in pairs:
        for number in _numbers(key):
            found.setdefault(number, item)
    return found


def _pair(number: int, item: object) -> tuple[object, object]:
    if not isinstance(item, Mapping):
        return number, item
    key = next((item[name] for name in ("ask", "number", "id") if name in item), number)
    return key, {name: one for name, one in item.items() if name not in ("ask", "number", "id")}


def _numbers(key: object) -> Iterator[int]:
    """`3`, `ask 3`, `[3]`, `1-4`, `1, 3`."""
    for match in _NUMBERS.findall(str(key)):
        ends = [int(one) for one in re.findall(r"\d+", match)]
        yield from range(ends[0], min(ends[-1], ends[0] + 200) + 1)


def _read(said: object, ids: Sequence[str]) -> Becomes | None:
    """What one entry says; None where it says nothing that can be read."""
    if isinstance(said, Mapping):
        reason = next((one for name, one in said.items() if _NOT_DONE.fullmatch(str(name))), None)
        if reason is not None:
            return Becomes(how="not_done", reason=str(reason))
        return _read(next((one for one in said.values() if one), None), ids)
    if isinstance(said, (list, tuple)):
        said = ", ".join(str(one) for one in said)
    text = str(said or "").strip()
    named = [f"REQ-{int(number):03d}" for number in _REQUIREMENT.findall(text)]
    known = tuple(dict.fromkeys([one for one in ids if one in text] + [one for one in named if one in ids]))
    not_done = _NOT_DONE.match(text)
    if not_done:
        return Becomes(how="not_done", reason=not_done.group("reason").strip() or "no reason is given")
    if known:
        return Becomes(how="requirements", requirements=known)
    return Becomes(how="context") if _CONTEXT.fullmatch(text) else None
