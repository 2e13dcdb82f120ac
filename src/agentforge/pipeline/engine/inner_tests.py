"""What a stage may make of a product file that holds tests: RED writes these alone, and later stages leave what RED froze."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentforge.events.state.run_state import RunState
from agentforge.languages.test_parts import inner_tests, key_of, may_hold_tests, reads_whole, without_tests
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage

MayHold = Callable[[str, str], str | None]


def may_hold(state: RunState, stage: Stage, runtime: Runtime) -> MayHold:
    """Judge the new text of a file: None when it may have it, else why not.

    A text that cannot be parsed is let through: the next edit may mend it, and what is handed in is measured.
    """
    judge = _of_red if stage.writes == "tests" else _of_product

    def judged(path: str, text: str) -> str | None:
        return judge(path, text.encode(), state, runtime) if may_hold_tests(path) and reads_whole(path, text) else None

    return judged


def _of_red(path: str, text: bytes, state: RunState, runtime: Runtime) -> str | None:
    base = _text(state.work.trees["baseline"], path, runtime)
    if base is None:
        return f"{path} does not exist, and a new file of the product is not written here: put the tests into a file of tests"
    if without_tests(path, base) == without_tests(path, text):
        return None
    return (
        f"{path} is a file of the product, and here only tests are written into it: inside of a module behind #[cfg(test)], "
        "or in such a module at its end. Everything else has to stay byte for byte"
    )


def _of_product(path: str, text: bytes, state: RunState, runtime: Runtime) -> str | None:
    frozen = state.work.facts.get("red", {}).get("frozen_files")
    if not isinstance(frozen, Mapping) or key_of(path) not in frozen or "red" not in state.work.trees:
        return None
    if inner_tests(path, _text(state.work.trees["red"], path, runtime)) == inner_tests(path, text):
        return None
    return f"the tests inside of {path} are frozen: its modules behind #[cfg(test)] stay as they are, and none is added"


def _text(tree: str, path: str, runtime: Runtime) -> bytes | None:
    """A file of a tree with the line ends that tools give to texts."""
    data = runtime.git.show(tree, path)
    return None if data is None else data.replace(b"\r\n", b"\n")
