"""What a request wants besides its examples: other definitions that it speaks of, which no example would check.

`Move that into amount(cents), which euros and statement both call: amount(1234) == '12.34'` has an example of amount alone. A
small model that writes amount passes it, and two thirds of the request are left undone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Question, texts
from agentforge.pipeline.small_models.generation.units import units_of
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, examples_of, words_of

ONLY_EXAMPLES = "only what the examples say"
ONLY_CHANGE = "only the change"
_REBUILDING = re.compile(
    r"(?i)\b(?:move[sd]?|extract(?:s|ed)?|factor(?:s|ed)?|pull(?:s|ed)?|split|merge[sd]?|inline[sd]?|de-?duplicate[sd]?|reuse[sd]?|"
    r"share[sd]?|unif(?:y|ies|ied)|consolidate[sd]?|refactor(?:s|ed)?|restructure[sd]?|simplif(?:y|ies|ied))\b"
)
_WANTED = (
    r"(?i)\b(?:fix|change|make|let|modify|update|remove|delete|drop|replace|extend|adapt|rewrite)\s+(?:also\s+)?(?:the\s+)?"
    r"(?:(?:function|method|class)\s+)?`?(?:[\w]+\.)*{name}\b"
)


def names_beside(request: str, *, units: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The definitions that a request wants something of and that are no unit.

    Args:
        units: dotted names that examples or tests decide about.
        known: dotted names that the project defines.
    """
    mine = {part for name in units for part in name.split(".")}
    told = request
    for example in examples_of(request):
        told = told.replace(example, " ")
    words, rebuilt = words_of(told), bool(_REBUILDING.search(told))
    found = [
        name
        for name in known
        if name.rpartition(".")[2] not in mine
        and name.rpartition(".")[2] in words
        and (rebuilt or re.search(_WANTED.format(name=re.escape(name.rpartition(".")[2])), told))
    ]
    return tuple(dict.fromkeys(name.rpartition(".")[2] for name in found))


def questions_beside(state: RunState) -> tuple[Question, ...]:
    """A person says whether the part of the request that nothing checks is to be left out."""
    places = state.facts.get("places", {})
    beside, rest = texts(places.get("beside")), str(places.get("rest") or "")
    larger = 'or with a larger model (--model, [model] profile = "full").'
    if rest:
        text = (
            f'The request also says "{rest}", and a change that needs no model carries out nothing of that. Answer '
            f'"{ONLY_CHANGE}" when it wants nothing more; or abort, and start again with the change alone, {larger}'
        )
        return _asked_until(state, text, option=ONLY_CHANGE)
    if not beside or state.tests or not claims_of_request(state.request):
        return ()
    units = ", ".join(unit.name for unit in units_of(state))
    text = (
        f"The request also wants something of {', '.join(beside)}, but its examples are of {units} alone: nothing would check "
        f'the rest. Answer "{ONLY_EXAMPLES}" to have {units} and leave the rest as it is; or abort, and start again with '
        f"examples or tests of all of it, {larger}"
    )
    return _asked_until(state, text, option=ONLY_EXAMPLES)


def _asked_until(state: RunState, text: str, *, option: str) -> tuple[Question, ...]:
    """The question, asked again as long as the answer is another one than the option."""
    said = [
        item.resolution.text
        for item in state.escalations.values()
        if str(item.context.get("key")).partition(":")[0] == "beside" and item.resolution is not None
    ]
    agreed = any(one.strip().strip('."').lower() in (option, "only", "yes") for one in said)
    many = len(said) if agreed else len(said) + 1
    keys = ["beside", *(f"beside:{number}" for number in range(2, many + 1))][:many]
    reason = "a small model does not deliver what nothing checks"
    return tuple(Question(key=key, text=text, reason=reason, options=(option,), closed=True) for key in keys)
