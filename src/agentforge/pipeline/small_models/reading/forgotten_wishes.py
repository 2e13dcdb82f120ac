"""What a request names, no example shows, and the chosen sample does not take up.

`Sentences end with '.', '?' or '!'` and examples with '.' alone: samples that all forget '?' pass and agree with each other. So
a person is asked what a call with it must give.
"""

from __future__ import annotations

import ast

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.checks.output_agreement import Split, answers_near, calls_of
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request
from agentforge.pipeline.small_models.reading.unshown_wishes import calls_with, unshown
from agentforge.pipeline.small_models.refactoring.splices import find_definition

_MOST_ASKED = 2
_NAMES = "The request names "


def forgotten(state: RunState, runtime: Runtime, unit: Unit, text: str) -> Split | None:
    """Something that the request names and neither an example nor the sample does, as a question; None there is none.

    Args:
        text: the unit's file with the chosen sample.
    """
    claims, module = claims_by_unit(state)[unit.name], ast.parse(text)
    node = find_definition(module, unit.name)
    if state.tests or node is None or not claims or not claims_of_request(state.request):
        return None
    taken = named_in(module, node)
    left = [one for one in unshown(state.request, claims) if not any(one in told for told in taken)]
    asked = [item for item in state.escalations.values() if item.question.startswith(_NAMES)]
    left = [one for one in left if not any(repr(one) in item.question for item in asked)]
    if not left or len(asked) >= _MOST_ASKED:
        return None
    call = next(iter(calls_with(calls_of(state, runtime, unit), left[:1])), claims[0].call)
    given = answers_near(state, runtime, unit, text, [call])[0]
    question = (
        f"{_NAMES}{left[0]!r}; no example of {unit.name} shows it, and no sample takes it up. What must {call} give? "
        f"The sample gives {given}. An example of your own is an answer, too: {unit.last}(...) -> ..."
    )
    return Split(call=call, question=question, options=(given,))


def named_in(module: ast.Module, node: ast.stmt) -> list[str]:
    """What a definition names: its texts and names, and the texts of the module's constants that it uses."""
    used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    kept: list[ast.AST] = [node]
    for one in module.body:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        kept += [one for target in targets if isinstance(target, ast.Name) and target.id in used]
    texts = [one for part in kept for one in ast.walk(part)]
    doc = ""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        doc = ast.get_docstring(node, clean=False) or ""
    told = [one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    numbers = [ast.unparse(one) for one in texts if isinstance(one, ast.UnaryOp)]
    return [*(one for one in told if one != doc), *numbers, *used]
