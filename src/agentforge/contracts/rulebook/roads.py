"""Rules about what is measured beside tests: what documents, types and settings say."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.rule import RuleCase, RuleOutcome, held, named, none_of


def road_held(case: RuleCase) -> RuleOutcome:
    """Measured: links lead somewhere, examples give what they say, changed modules load, settings can be read, as at the base.

    Of a change of code nothing of the kind is judged; a log from before this was measured has nothing to judge.
    """
    road = case.facts.get("road")
    if not isinstance(road, Mapping):
        return held("not measured")
    problems = road.get("problems")
    rows = [one for one in problems if isinstance(one, Mapping)] if isinstance(problems, list | tuple) else []
    return none_of(rows, what="documents, types or settings that do not hold", fix="correct these places")


RULES = named(("road-held", "what documents, types and settings say holds", road_held, "fact"))
