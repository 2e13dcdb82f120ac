"""Answers for the scripted model from a reference solution and examples: one test that asserts every example. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from agentforge.verification.examples.claims import Claim

_MOST = 6


def answers_from(
    *, path: str, source: str, name: str, signature: str, change: str, claims: Sequence[Claim]
) -> dict[str, Mapping[str, Any]]:
    """Answers that write `source` to `path`; {} when no example says what it returns.

    Args:
        change: "new" or "changed", said of the function `name`.
        claims: examples; those that raise are left out.
    """
    shown = [claim for claim in claims if claim.returns][:_MOST]
    if not shown or not source:
        return {}
    symbol = {"name": name, "file": path, "signature": signature, "change": change}
    honest = {
        "goal": f"{name} does what its description says",
        "criteria": [claim.text for claim in shown],
        "symbols": [symbol],
        "tests": {f"tests/test_{name}.py": _tests(path, name, shown)},
        "changes": {path: source},
    }
    return {"honest": honest}


def import_test(modules: Sequence[str]) -> str:
    """A test that the repository has before anything is asked: its modules can be found."""
    asserted = "\n".join(f"    assert find_spec({module!r})" for module in modules)
    return f"from importlib.util import find_spec\n\n\ndef test_the_modules_are_there():\n{asserted}\n"


def module_of(path: str) -> str:
    """Name the module that a file of the repository is."""
    return ".".join(PurePosixPath(path).with_suffix("").parts)


def _tests(path: str, name: str, claims: Sequence[Claim]) -> str:
    """Every example in one test: in a repair some of them hold already."""
    asserted = "\n".join(f"    assert {claim.call} == {claim.returns}" for claim in claims)
    return f"from {module_of(path)} import {name}\n\n\ndef test_{name}_does_what_the_examples_say():\n{asserted}\n"
