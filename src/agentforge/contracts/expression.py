"""Rules that users write: CEL expressions over `artifact`, `facts` and `inputs`. Needs the extra `rules`."""

from __future__ import annotations

import functools
import json
from typing import Any

from agentforge.contracts.contract import Json
from agentforge.errors import ContractInvalid
from agentforge.installation import command_for

VARIABLES = ("artifact", "facts", "inputs")


@functools.lru_cache(maxsize=256)
def compile_expression(text: str, *, source: str) -> Any:  # Any: the expression type of a C++ extension without stubs
    """Compile a CEL expression once.

    Raises:
        ContractInvalid: the extra is not installed, or the expression is not CEL over the three variables.
    """
    try:
        from cel_expr_python import cel
    except ImportError as exc:
        hint = f"{command_for('rules')}, or use a named rule"
        raise ContractInvalid(f"{source}: a CEL rule needs the extra `rules`", hint=hint) from exc
    environment = cel.NewEnv(variables=dict.fromkeys(VARIABLES, cel.Type.DYN))
    try:
        return environment.compile(text)
    except RuntimeError as exc:
        reason = " ".join(str(exc).split())
        raise ContractInvalid(f"{source}: {text!r} is not CEL: {reason}", hint="see https://cel.dev") from exc


def evaluate(text: str, *, artifact: Json, facts: Json, inputs: Json) -> tuple[bool, str]:
    """Evaluate a CEL rule.

    Returns:
        Whether it holds, and why it does not: an expression that errs, or gives no boolean, does not hold.
    """
    expression = compile_expression(text, source="rule")
    data = json.loads(json.dumps({"artifact": artifact, "facts": facts, "inputs": inputs}))
    value = expression.eval(data=data).value()
    if value is True or value is False:
        return value, "" if value else "is not true"
    return False, f"could not be evaluated: {value}"
