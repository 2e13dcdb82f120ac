"""Tests rendered from examples by a template, in the words of the project's own runner; no model is asked. Pure."""

from __future__ import annotations

import builtins
from pathlib import PurePosixPath

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.stage import texts
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit, units_of
from agentforge.pipeline.small_models.reading.stateful_examples import unfolded
from agentforge.verification.examples.claims import Claim, literal, names_of

_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """One test.

    Attributes:
        name: as the runner reports it.
        body: its lines, from `def` on, not indented.
    """

    name: str
    body: str


def rendered_suite(state: RunState) -> dict[str, str]:
    """Path -> text of every test file that the examples make."""
    out: dict[str, str] = {}
    for unit in units_of(state):
        tests = rendered_tests(state, unit)
        if tests:
            out[test_path(state, unit)] = _file(unit, tests, unittest=is_unittest(state))
    return out


def rendered_tests(state: RunState, unit: Unit) -> tuple[Rendered, ...]:
    """One test for each example of a unit."""
    prefix = f"{_class_name(unit)}::" if is_unittest(state) else ""
    claims = claims_by_unit(state)[unit.name]
    return tuple(
        Rendered(
            name=f"{prefix}test_{_flat(unit)}_{number}",
            body=_test(f"test_{_flat(unit)}_{number}", _told_apart(claim, claims), unit, state),
        )
        for number, claim in enumerate(claims, 1)
    )


def _told_apart(claim: Claim, claims: list[Claim]) -> tuple[Claim, ...]:
    """An example, and another one beside it where a stub that always answers the same could satisfy it alone."""
    value = literal(claim.returns) if claim.returns else ""
    if claim.raises or (value and not isinstance(value, bool)):
        return (claim,)
    others = [one for one in claims if (one.returns, one.raises) != (claim.returns, claim.raises)]
    plain = [one for one in others if "await " not in one.call + claim.call]
    return (claim, *plain[:1])


def assertions(claims: list[Claim]) -> str:
    """Examples as assertions: what a model reads."""
    return "\n".join(_plain(claim) for claim in claims)


def test_path(state: RunState, unit: Unit) -> str:
    """A new file beside the project's tests."""
    known = [path for path in texts(state.work.facts.get("baseline", {}).get("test_files")) if path.endswith(".py")]
    tests = [path for path in known if PurePosixPath(path).name.startswith("test_")]
    folder = PurePosixPath(tests[0]).parent if tests else PurePosixPath("tests")
    name, number = f"test_{_flat(unit)}_examples", 1
    while str(folder / f"{name}.py") in known:
        number += 1
        name = f"test_{_flat(unit)}_examples_{number}"
    return str(folder / f"{name}.py")


def is_unittest(state: RunState) -> bool:
    """Whether the project's tests are run by unittest."""
    return state.work.facts.get("baseline", {}).get("runner") == "unittest"


def _file(unit: Unit, tests: tuple[Rendered, ...], *, unittest: bool) -> str:
    head = f'"""{unit.name}: the examples of the request, a test each."""\n'
    if unittest:
        body = "\n\n".join(_indented(test.body) for test in tests)
        return f"{head}\nimport unittest\n\n\nclass {_class_name(unit)}(unittest.TestCase):\n{body}\n"
    needs = "\nimport pytest\n" if any("pytest.raises" in test.body for test in tests) else ""
    return f"{head}{needs}\n\n" + "\n\n\n".join(test.body for test in tests) + "\n"


def _test(name: str, claims: tuple[Claim, ...], unit: Unit, state: RunState) -> str:
    unittest = is_unittest(state)
    steps, call = unfolded(claims[0].call)
    lines = [*dict.fromkeys(line for claim in claims for line in _imports(claim, unit, state)), ""]
    if "await " in call:
        lines[:0] = ["import asyncio", ""]
        lines += ["async def run():", f"{_INDENT}return {call}", ""]
        call = "asyncio.run(run())"
    for number, claim in enumerate(claims):
        said = call
        if number:
            steps, said = unfolded(claim.call)
        lines += steps
        lines += _raising(claim, said, unittest=unittest) if claim.raises else _giving(claim, said, unittest=unittest)
    argument = "self" if unittest else ""
    return "\n".join([f"def {name}({argument}):", *(f"{_INDENT}{line}" if line else "" for line in lines)])


def _imports(claim: Claim, unit: Unit, state: RunState) -> list[str]:
    """The names of a call from the module of its unit, or the module itself; other units' names from theirs."""
    lines = []
    for name in names_of(claim.call):
        home = next((one for one in units_of(state) if one.name.split(".")[0] == name), unit)
        whole = home.module if name in (home.module, home.module.partition(".")[0]) else ""
        parent, _, last = home.module.rpartition(".")
        if whole:
            lines.append(f"import {home.module}")
        elif parent and name == last and home.name.split(".")[0] != name:
            lines.append(f"from {parent} import {last}")
        else:
            lines.append(f"from {home.module} import {name}")
    raised = claim.raises.rpartition(".")[2]
    if raised and not hasattr(builtins, raised):
        lines.append(f"from {unit.module} import {raised}")
    return list(dict.fromkeys(lines))


def _giving(claim: Claim, call: str, *, unittest: bool) -> list[str]:
    value = literal(claim.returns)
    if unittest:
        if value is None or isinstance(value, bool):
            return [f"self.assertIs({call}, {claim.returns})"]
        return [f"self.assertEqual({call}, {claim.returns})"]
    return [f"assert {call} {'is' if value is None or isinstance(value, bool) else '=='} {claim.returns}"]


def _raising(claim: Claim, call: str, *, unittest: bool) -> list[str]:
    name = claim.raises.rpartition(".")[2]
    opened = f"with self.assertRaises({name}):" if unittest else f"with pytest.raises({name}):"
    return [opened, f"{_INDENT}{call}"]


def _plain(claim: Claim) -> str:
    steps, call = unfolded(claim.call)
    before = "".join(f"{step}\n" for step in steps)
    if claim.raises:
        return f"{before}{call}  # must raise {claim.raises}"
    value = literal(claim.returns)
    return f"{before}assert {call} {'is' if value is None or isinstance(value, bool) else '=='} {claim.returns}"


def _flat(unit: Unit) -> str:
    return unit.name.replace(".", "_").lower().strip("_")


def _class_name(unit: Unit) -> str:
    return "".join(part.capitalize() for part in _flat(unit).split("_")) + "ExamplesTest"


def _indented(text: str) -> str:
    return "\n".join(f"{_INDENT}{line}" if line else "" for line in text.splitlines())
