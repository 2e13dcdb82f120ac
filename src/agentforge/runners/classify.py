"""RED's right reason: does a test fail because the behaviour is missing, or because the test itself is broken?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from agentforge.runners.outcome import Failure, TestOutcome
from agentforge.runners.symbols import Symbol, concerned, concerned_module, nearest
from agentforge.workspace.relevance import is_test_path

_ABOUT_SYMBOLS = ("NotImplementedError", "AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
_NEVER = (
    "NameError",
    "UnboundLocalError",
    "SyntaxError",
    "IndentationError",
    "TabError",
    "FixtureLookupError",
    "NotAPass",
)
ENDLESS = "DoesNotEnd"
"""Type of the failure of a test that its time limit stopped."""
_CRASH_ACTIONS = ("create", "fix", "modify")  # what a file that will be changed refuses today may be what is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the specification announces.

    Attributes:
        action: create, modify, delete, refactor, fix or analyze.
        modified: existing product files that it will change.
        test_files: the files that RED wrote.
    """

    symbols: tuple[Symbol, ...]
    action: str = "create"
    modified: Collection[str] = ()
    test_files: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Whether a test fails for the right reason, and the sentence that says so to its author."""

    right: bool
    text: str


def classify(outcome: TestOutcome, expected: Expectation) -> Reason:
    """Judge the failure of a target at the base."""
    if outcome.passed:
        return Reason(
            right=False,
            text="passes at the base, so it asserts nothing new: assert the behaviour that is missing, or mark it guard",
        )
    if outcome.outcome in ("skipped", "xfailed", "xpassed"):
        return Reason(right=False, text=f"is {outcome.outcome}: such a test proves nothing, remove the mark")
    if outcome.failure is None:
        return Reason(right=False, text="did not pass, and the runner does not say why")
    return classify_failure(outcome.failure, expected)


def classify_failure(failure: Failure, expected: Expectation) -> Reason:
    """Judge the failure of a target, or of the collection of its file, at the base."""
    if _is_assertion(failure, expected):
        return Reason(right=True, text=f"asserts what the base does not do ({failure.exc_type} in the test)")
    if failure.exc_type in _ABOUT_SYMBOLS:
        symbol = _concerned(failure, expected)
        if symbol is not None:
            return Reason(right=True, text=f"{failure.exc_type} about {symbol.name}, which is declared {symbol.change}")
    if failure.exc_type == ENDLESS:
        return _endless(failure, expected)
    crash = failure.exc_type not in (*_NEVER, "ImportError", "ModuleNotFoundError")
    if expected.action in _CRASH_ACTIONS and crash and failure.file in expected.modified:
        return Reason(right=True, text=f"{failure.exc_type} in {failure.file}, which the specification changes")
    return Reason(right=False, text=_advice(failure, expected))


def _endless(failure: Failure, expected: Expectation) -> Reason:
    """A test that was stopped by its time limit: in code that is to be changed that is what is wrong with it."""
    right = not failure.in_test and expected.action in _CRASH_ACTIONS and failure.file in expected.modified
    where = f"{failure.file}:{failure.line}" if failure.file else "code outside of the project"
    told = ", which the specification changes" if right else ": a test has to end, and this is not what is changed"
    return Reason(right=right, text=f"{failure.message} in {where}{told}")


def is_mistake(failure: Failure, expected: Expectation) -> bool:
    """Whether the test itself is broken, whatever the implementation does: an undefined name, a value returned."""
    if failure.exc_type in ("FixtureLookupError", "NotAPass"):
        return True
    if not failure.in_test and failure.file not in expected.test_files:
        return False
    undeclared = failure.exc_type in ("ImportError", "ModuleNotFoundError") and _concerned(failure, expected) is None
    return undeclared or failure.exc_type in _NEVER


def _is_assertion(failure: Failure, expected: Expectation) -> bool:
    """An assertion of the test's own frame, of a function that RED wrote beside it, or of the project's own test support;
    `pytest.raises` counts."""
    if not (failure.in_test or failure.file in expected.test_files or _is_support(failure.file, expected)):
        return False
    return failure.exc_type in ("AssertionError", "Failed")


def _is_support(path: str, expected: Expectation) -> bool:
    """A file of the project that serves its tests, like a base class with assertions, and that the work does not change."""
    return bool(path) and is_test_path(path) and path not in expected.modified


def _concerned(failure: Failure, expected: Expectation) -> Symbol | None:
    if failure.exc_type == "ModuleNotFoundError":
        return concerned_module(failure.names, expected.symbols)
    if failure.exc_type in ("ImportError", "AttributeError"):
        return concerned(failure.names[:1], expected.symbols) or _submodule(failure, expected)
    return concerned(failure.names, expected.symbols)


def _submodule(failure: Failure, expected: Expectation) -> Symbol | None:
    """`from a import new_module` and `a.new_module` name the module in two parts."""
    if len(failure.names) < 2:
        return None
    return concerned_module((f"{failure.names[1]}.{failure.names[0]}",), expected.symbols)


def _advice(failure: Failure, expected: Expectation) -> str:
    """Say what is wrong with the test and what its author should do."""
    name = failure.names[0] if failure.names else ""
    declared = ", ".join(symbol.name for symbol in expected.symbols[:8]) or "no symbol"
    where = f"{failure.file}:{failure.line}" if failure.file else "the test runner"
    if failure.exc_type in ("NameError", "UnboundLocalError"):
        return f"uses the undefined name {name!r} at {where}: define or import it"
    if failure.exc_type in ("SyntaxError", "IndentationError", "TabError"):
        return f"cannot be parsed at {where}: {failure.message}"
    if failure.exc_type == "FixtureLookupError":
        return f"asks for a fixture that does not exist ({failure.message}): define it or take an existing one"
    if failure.exc_type == "NotAPass":
        return f"proves nothing: {failure.message}"
    if failure.exc_type in ("ImportError", "ModuleNotFoundError", "AttributeError"):
        near = nearest(name, expected.symbols)
        hint = f"; did you mean {near}?" if near and near != name else ""
        return f"needs {name!r} at {where}, which the specification does not declare (it declares {declared}){hint}"
    if failure.exc_type == "AssertionError":
        return f"fails by an assertion inside {where}, not by one of its own: assert in the test what is expected"
    return (
        f"fails with {failure.exc_type} at {where} ({failure.message[:120]}) before it asserts anything: "
        "assert on the result, or expect the exception with pytest.raises"
    )
