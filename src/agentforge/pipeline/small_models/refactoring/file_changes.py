"""Files that the harness itself writes on the road of small models: rendered tests, renamed tests, renamed code."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.small_models.generation.suite_template import rendered_suite
from agentforge.pipeline.small_models.refactoring.requests import changed_products, changed_tests


def given_tests(state: RunState, runtime: Runtime) -> dict[str, bytes | None]:
    """The tests that need no model: rendered from examples, and those of the base that the tree changes; None = the file goes."""
    files: dict[str, bytes | None] = {path: text.encode() for path, text in rendered_suite(state).items()}
    return {**files, **changed_tests(state, runtime)}


def put_tests(state: RunState, runtime: Runtime) -> bool:
    """Write what RED needs no model for: the user's tests, else those of the examples; and tests that the tree changes.

    Returns:
        whether there is any.
    """
    files: dict[str, bytes | None] = dict(runtime.supplied)
    files = {**changed_tests(state, runtime), **files} if files else given_tests(state, runtime)
    put(runtime, files)
    return bool(files)


def carry_out(state: RunState, runtime: Runtime) -> None:
    """Write the product files of a mechanical change into the workspace; done twice it is the same."""
    put(runtime, changed_products(state, runtime))


def put(runtime: Runtime, files: Mapping[str, bytes | None]) -> None:
    """Write files into the workspace, and take away those that go (None)."""
    for path, data in files.items():
        file = runtime.worktree / path
        if data is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
