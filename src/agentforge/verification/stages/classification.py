"""Why does a test fail at the base: because the behaviour is missing, or because the test itself is broken?

A failure that goes away when the change is there is a right reason, and that is measured later: GREEN must make every target
pass, and stubs must not. So only what execution shows to be the test's own mistake is refused here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from agentforge.languages.symbols import Symbol, concerned, concerned_module, modules, nearest, slip_of
from agentforge.testing.outcome import Failure, TestOutcome
from agentforge.workspace.code.relevance import is_test_path

_IMPORTS = ("ImportError", "ModuleNotFoundError")
_INTERFACE = ("AttributeError", "TypeError", "NotImplementedError")
_NAMES = ("NameError", "UnboundLocalError")
_PARSING = ("SyntaxError", "IndentationError", "TabError")
_ASSERTIONS = ("AssertionError", "Failed")
_ASIDE = ("CalledProcessError", "TimeoutExpired")  # another process failed, and nothing was traced in it
BROKEN = (*_NAMES, "FixtureLookupError", "NotAPass")
"""Types of failures that only the test's own text can end."""
ENDLESS = "DoesNotEnd"
"""Type of the failure of a test that its time limit stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the specification announces, and what there is.

    Attributes:
        modified: product files that it changes or creates.
        test_files: the files that RED wrote.
        present: paths of the base; () when they are not known.
        defined: names that the files to be changed define at the base.
        language: of the tests, as the plan names it.
        to_come: test file -> names that it will get by `from module import *` once they are there.
    """

    symbols: tuple[Symbol, ...]
    modified: Collection[str] = ()
    test_files: Collection[str] = ()
    present: Collection[str] = ()
    defined: Collection[str] = ()
    language: str = "python"
    to_come: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def touched(self) -> frozenset[str]:
        """The product files that the change may alter."""
        return frozenset([*self.modified, *(symbol.file for symbol in self.symbols)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Whether a test fails for the right reason, and the sentence that says so to its author.

    Attributes:
        absent: it fails for want of a symbol that is declared new, so that it says nothing of what the base does.
        if_reached: the failure rose in the test's own code: right only if the test had executed code of the project by then.
    """

    right: bool
    text: str
    absent: bool = False
    if_reached: bool = False


def classify(outcome: TestOutcome, expected: Expectation) -> Reason:
    """Judge how a test that does not pass at the base ended."""
    if outcome.outcome in ("skipped", "xfailed", "xpassed"):
        return Reason(right=False, text=f"is {outcome.outcome}: such a test proves nothing, remove the mark")
    if outcome.failure is None:
        return Reason(right=False, text="did not pass, and the runner does not say why")
    return classify_failure(outcome.failure, expected, running=True)


def classify_failure(failure: Failure, expected: Expectation, *, running: bool = False) -> Reason:
    """Judge the failure of a target, or of the collection of its file, at the base.

    Args:
        running: the test itself was running, so that its file could be read.
    """
    wrong = mistake(failure, expected, running=running)
    if wrong:
        return Reason(right=False, text=wrong)
    own = _is_own(failure, expected)
    if failure.exc_type in _ASSERTIONS and (own or _is_support(failure.file, expected)):
        return Reason(right=True, text=f"asserts what the base does not do ({failure.exc_type} in the test)")
    missing = failure.exc_type in (*_IMPORTS, *_INTERFACE) or _is_to_come(failure, expected)
    symbol = _concerned(failure, expected) if missing else None
    if symbol is not None:
        text = f"{failure.exc_type} about {symbol.name}, which is declared {symbol.change}"
        return Reason(right=True, text=text, absent=symbol.change == "new" or failure.exc_type in _IMPORTS)
    told = f"{failure.exc_type} at {_where(failure)} ({failure.message[:120]})"
    if failure.file in expected.touched:
        return Reason(right=True, text=f"{told}, which the specification changes")
    text = f"{told}: that is what the base does, and the change has to make this test pass"
    nowhere = not failure.file  # the runner itself raised it, as for a coroutine that nothing awaits
    doubtful = (own or nowhere) and running and failure.exc_type not in (*_INTERFACE, *_IMPORTS, *_ASIDE)
    return Reason(right=True, text=text, if_reached=doubtful and _is_python_alone(expected))


def unreached(failure_text: str) -> Reason:
    """What is said of a test that failed in its own code before it had executed any code of the project."""
    told = failure_text.partition(": that is what the base does")[0]
    return Reason(
        right=False,
        text=f"fails with {told} before it runs any code of the project: no change can make it pass, correct the test",
    )


def mistake(failure: Failure, expected: Expectation, *, running: bool = False) -> str:
    """Say what is wrong with a test that is broken whatever the implementation does; "" when that is not shown."""
    if failure.exc_type == "FixtureLookupError":
        return f"asks for a fixture that does not exist ({failure.message}): define it or take an existing one"
    if failure.exc_type == "NotAPass":
        return f"proves nothing: {failure.message}"
    own = _is_own(failure, expected)
    if failure.exc_type == ENDLESS and (own or not failure.file):
        return f"{failure.message} in {_where(failure)}: a test has to end, and what it waits for is not code of the project"
    if not own and failure.exc_type not in _IMPORTS:
        return ""
    if failure.exc_type in _NAMES:
        if _is_to_come(failure, expected):
            return ""
        return f"uses the undefined name {_name(failure)!r} at {_where(failure)}: define or import it"
    if failure.exc_type in _PARSING and not (running and failure.in_test):  # a test that runs was parsed before
        return f"cannot be parsed at {_where(failure)}: {failure.message}"
    if failure.exc_type in (*_IMPORTS, "AttributeError"):
        return _unknown(failure, expected)
    return ""


def masked_mistake(failure: Failure, expected: Expectation, *, running: bool) -> str:
    """Say what a missing symbol may have hidden and a stub lets show; "" when that is not shown.

    How a file reads is known before anything is missed, and what a test waits for may be what a stub never does.
    """
    return "" if failure.exc_type in (ENDLESS, *_PARSING) else mistake(failure, expected, running=running)


def _is_to_come(failure: Failure, expected: Expectation) -> bool:
    """Whether the test uses a name that the change has to bring to it."""
    return failure.exc_type == "NameError" and _name(failure) in expected.to_come.get(failure.file, ())


def _unknown(failure: Failure, expected: Expectation) -> str:
    """What a test needs that neither exists nor is announced, and that no file that will be changed can give it."""
    if _concerned(failure, expected) is not None:
        return ""
    name = _name(failure)
    slip = slip_of(name, expected.symbols, others=expected.defined)
    home = failure.names[1] if len(failure.names) > 1 else ""
    if not slip and failure.exc_type == "AttributeError":
        foreign = f"module '{home}'" in failure.message and not _is_of_project(home, expected)
        if not foreign:
            return ""
    if not slip and _may_come(failure, home, expected):
        return ""
    declared = ", ".join(symbol.name for symbol in expected.symbols[:8]) or "no symbol"
    near = slip or nearest(name, expected.symbols)
    hint = f"; did you mean {near}?" if near and near != name else ""
    return (
        f"needs {name!r} at {_where(failure)}, which the specification does not declare (it declares {declared}){hint}"
    )


def _may_come(failure: Failure, home: str, expected: Expectation) -> bool:
    """Whether a file that the specification changes or creates is the module that cannot be imported, or lacks the name."""
    if failure.exc_type == "AttributeError":
        return False
    wanted = _name(failure) if failure.exc_type == "ModuleNotFoundError" else home
    named = {wanted, f"{home}.{_name(failure)}"} if home else {wanted}
    if wanted and any(named & {*modules(path)} for path in expected.touched):
        return True
    if any(_name(failure) == _module_name(path) for path in expected.touched if path not in expected.present):
        return True
    # the import that fails stands in a file that is to be changed
    return not _is_own(failure, expected) and failure.file in expected.touched


def _module_name(path: str) -> str:
    """What a file is called as a module where its folders stand apart: `build` of src/build.rs and of src/build/mod.rs."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem in ("mod", "index", "__init__") else file.stem


def _is_of_project(module: str, expected: Expectation) -> bool:
    top = module.partition(".")[0]
    parts = {part for path in (*expected.present, *expected.touched) for part in path.replace(".py", "").split("/")}
    return not expected.present or top in parts


def _is_own(failure: Failure, expected: Expectation) -> bool:
    """Whether the innermost frame of the project is in the test's file or in another one that RED wrote."""
    return failure.in_test or failure.file in expected.test_files


def _is_support(path: str, expected: Expectation) -> bool:
    """A file of the project that serves its tests, like a base class with assertions, and that the work does not change."""
    return bool(path) and is_test_path(path) and path not in expected.modified


def _is_python_alone(expected: Expectation) -> bool:
    """Whether everything that is to be changed can be traced: data and other languages are read without a trace."""
    return expected.language == "python" and all(path.endswith(".py") for path in expected.touched)


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


def _name(failure: Failure) -> str:
    return failure.names[0] if failure.names else ""


def _where(failure: Failure) -> str:
    if failure.file:
        return f"{failure.file}:{failure.line}" if failure.line else failure.file
    return "the test runner"
