"""The units of a small request: one function, method or class each, with the file it stands in. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.pipeline.small_models.reading.request_parser import called, claims_of_request, confirmed_claims
from agentforge.pipeline.small_models.reading.stateful_examples import Scene, made_and_called, scenes_from
from agentforge.verification.examples.claims import Claim, distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One definition that is written or rewritten as a whole.

    Attributes:
        name: dotted inside the file.
        kind: function, method, class or constant.
        change: "new" or "changed".
        line: where it stands at the base, 0 = nowhere.
        module: as tests import it.
    """

    name: str
    file: str
    kind: str = "function"
    change: str = "changed"
    line: int = 0
    signature: str = ""
    module: str = ""

    @property
    def last(self) -> str:
        """The name without its class."""
        return self.name.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The class around it, "" none."""
        return self.name.rpartition(".")[0]


def units_of(state: RunState) -> tuple[Unit, ...]:
    """What is worked on, as measured, with the place that was chosen where the measurement left it open."""
    places = state.work.facts.get("places", {})
    chosen = chosen_place(state)
    rows = items(places.get("units"))
    if not rows and "::" in chosen:
        file, _, name = chosen.partition("::")
        modules = places.get("modules")
        module = modules.get(file, "") if isinstance(modules, dict) else ""
        kind = "method" if "." in name else "function"
        return (Unit(name=name, file=file, kind=kind, line=_line_of(state, name), module=str(module)),)
    return tuple(_unit(row, chosen, places) for row in rows)


def chosen_place(state: RunState) -> str:
    """The place that the analysis chose among the options: a file, or `file::name`; "" none was open."""
    if not items(state.work.facts.get("places", {}).get("options")):
        return ""
    artifact = state.work.artifacts.get("analyze", {})
    chosen = [row for row in items(artifact.get("symbols")) if row.get("role") == CHOSEN]
    if chosen:
        return f"{chosen[0].get('file')}::{chosen[0].get('name')}"
    files = texts(artifact.get("impacted_files"))
    return files[0] if files else ""


PLACE_QUESTION = "place"
"""Key of the question where a change belongs."""
CHOSEN = "the place of the change"
"""Role of the symbol that a model chose among the options."""


def place_by_person(state: RunState) -> str:
    """The option that a person chose when asked, "" nobody was."""
    options = [str(row.get("place")) for row in items(state.work.facts.get("places", {}).get("options"))]
    chosen = ""
    for item in state.people.escalations.values():
        if str(item.context.get("key")).startswith(PLACE_QUESTION) and item.resolution is not None:
            said = item.resolution.text.strip()
            chosen = next((place for place in options if said in (place, place.partition("::")[2])), "")
    return chosen


def oracle(state: RunState, *, found: Sequence[Scene] | None = None) -> tuple[Claim, ...]:
    """All that a person has said about single calls: in the request, and in answers; with their objects where these were found.

    Args:
        found: the scenes of the request, as long as they are not measured.
    """
    staged = scenes(state) if found is None else found
    known = {one.instead_of for one in staged}
    plain = [claim for claim in claims_of_request(state.brief.request) if claim.call not in known]
    return distinct([*confirmed_claims(state), *(one.claim for one in staged), *plain])


def scenes(state: RunState) -> tuple[Scene, ...]:
    """The examples of the request that need an object, as measured."""
    return scenes_from(items(state.work.facts.get("places", {}).get("scenes")))


def claims_by_unit(state: RunState) -> dict[str, list[Claim]]:
    """Unit name -> the claims that speak of it, in order; a claim of nothing known goes to the only or first unit."""
    units = units_of(state)
    out: dict[str, list[Claim]] = {unit.name: [] for unit in units}
    for claim in oracle(state):
        name = unit_of_call(claim.call, units)
        if name:
            out[name].append(claim)
    return out


def unit_of_call(call: str, units: tuple[Unit, ...]) -> str:
    """The unit that a call is a call of, "" without units."""
    root, attribute = made_and_called(call) or called(call)
    spellings = (f"{root}.{attribute}", attribute if attribute else root, root)
    for spelling in spellings:
        for unit in units:
            if spelling in (unit.name, unit.last) or (spelling == unit.owner and not attribute):
                return unit.name
    return units[0].name if units else ""


def _unit(row: Json, chosen: str, places: Json) -> Unit:
    file, module = str(row.get("file") or ""), str(row.get("module") or "")
    if not file and chosen:
        file = chosen.partition("::")[0]
        modules = places.get("modules")
        known = modules.get(file) if isinstance(modules, dict) else None
        module = str(known or file.removeprefix("src/").removesuffix(".py").replace("/", "."))
    line = row.get("line")
    return Unit(
        name=str(row.get("name")),
        file=file,
        kind=str(row.get("kind") or "function"),
        change=str(row.get("change") or "changed"),
        line=line if isinstance(line, int) else 0,
        signature=str(row.get("signature") or ""),
        module=module,
    )


def _line_of(state: RunState, name: str) -> int:
    for row in items(state.work.artifacts.get("analyze", {}).get("symbols")):
        line = row.get("line")
        if row.get("name") == name and isinstance(line, int):
            return line
    return 0
