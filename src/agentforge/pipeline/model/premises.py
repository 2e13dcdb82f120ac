"""Whether what a stage's earlier work follows from is what it was. Pure."""

from __future__ import annotations

from agentforge.events.fold.revisits import draft_kept
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, items, texts


def understood_alike(state: RunState) -> bool:
    """Tell whether the questions and the analysis behind a specification are what they were."""
    return all(_had(state, name) == dict(state.work.artifacts.get(name, {})) for name in ("clarify", "analyze"))


def demanded_alike(state: RunState) -> bool:
    """Tell whether the requirements behind the tests are what they were.

    Tests say what the requirements say: where one of these changed, nobody but the model can tell whether the tests still do.
    What the specification only lists more than before, tests that change or symbols, takes nothing from them.
    """
    from agentforge.workspace.code.relevance import is_test_path

    kept = state.review.kept["red"]
    older = not kept.get("work")  # a log that was written when every word of a signature counted
    (rows, symbols), (rows_now, symbols_now) = (
        _demands(spec, results=older) for spec in (_had(state, "spec"), state.work.artifacts.get("spec", {}))
    )
    if not kept.get("lists_apart"):
        return (rows, symbols) == (rows_now, symbols_now)
    return rows == rows_now and all(one in symbols_now for one in symbols if not is_test_path(str(one[0] or "")))


def _had(state: RunState, stage: str) -> Json:
    """What a stage had then; what it has where it was not done again."""
    return draft_kept(state, stage) or state.work.artifacts.get(stage, {})


def _demands(spec: Json, *, results: bool) -> tuple[list[object], list[tuple[object, ...]]]:
    """What tests are written from: the criteria, and how what they use is called.

    Args:
        results: with the types that Python's signatures tell of results, which change no call.
    """
    rows: list[object] = [
        (row.get("id"), texts(row.get("acceptance_criteria"))) for row in items(spec.get("requirements"))
    ]
    symbols: list[tuple[object, ...]] = [
        (row.get("file"), row.get("name"), _call(row, results=results), row.get("change"))
        for row in items(spec.get("symbols"))
    ]
    return rows, symbols


def _call(symbol: Json, *, results: bool) -> object:
    signature = symbol.get("signature")
    if results or not isinstance(signature, str) or not str(symbol.get("file")).endswith(".py"):
        return signature
    call, arrow, _ = signature.rpartition(") ->")
    return f"{call})" if arrow else signature
