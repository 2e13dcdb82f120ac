"""Reading the results of a verdict: which of them refuse, and which are only told to the reviewer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Result = Mapping[str, object]


def refuses(result: Result) -> bool:
    """Whether a result is why the artifact was not accepted; where no sort was recorded, every broken rule was a reason."""
    return not result.get("passed") and result.get("sort", "fact") == "fact"


def refusals(results: Iterable[Result]) -> tuple[Result, ...]:
    """List the results that refuse the artifact."""
    return tuple(result for result in results if refuses(result))


def notes(results: Iterable[Result]) -> tuple[Result, ...]:
    """List the results that do not hold and refuse nothing: a reviewer should know them."""
    return tuple(result for result in results if not result.get("passed") and not refuses(result))
