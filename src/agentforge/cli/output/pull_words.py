"""Pull requests in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from agentforge.cli.output.terminal import printable

if TYPE_CHECKING:
    from agentforge.app.pull_requests.review import CiResult, Found

_SIGNS = {"passed": "ok  ", "failed": "FAIL", "pending": "... "}
_STANDINGS = {
    "passed": "every check passed",
    "failed": "CI refused it",
    "pending": "CI is not finished",
    "none": "no CI has reported on it",
}


def pull_lines(made: Mapping[str, object]) -> list[str]:
    """What became of a pull request: its address, or the files that are ready and what to do with them."""
    commit = str(made["commit"])[:12]
    if made["outcome"] != "prepared":
        word = "opened" if made["outcome"] == "opened" else "brought up to date"
        return [
            f"pull request {word}: {printable(str(made['url']))}",
            f"    {made['branch']} at {commit} into {made['base']}, through {made['through']}",
            f"    what CI says of it: agentforge pr {made['task_id']} --checks --wait 30m",
        ]
    files, steps = (cast("Sequence[str]", made[name]) for name in ("files", "next"))
    return [
        f"no pull request was opened: {printable(str(made['reason']))}",
        "    ready:",
        *(f"    {file}" for file in files),
        "    by hand:",
        *(f"    {step}" for step in steps),
    ]


def ci_lines(result: CiResult) -> list[str]:
    """What CI says of the delivered commit, check by check."""
    lines = [f"{result.task_id} at {result.commit[:12]}: {_STANDINGS[result.standing]}"]
    lines += [
        f"  {_SIGNS[one.standing]}  {printable(one.name)}  {printable(one.url)}".rstrip() for one in result.checks
    ]
    if result.tip != result.commit:
        lines.append(f"  the branch stands on {result.tip[:12]} at the remote by now; that commit was not asked about")
    if result.standing == "failed":
        lines.append(f"  answer it: agentforge continue {result.task_id} --from-ci")
    return lines


def left_out_lines(found: Found) -> list[str]:
    """Who was not listened to, and what is left for the next time."""
    lines = []
    if found.strangers:
        names = ", ".join(printable(name) for name in found.strangers)
        lines.append(
            f"left out, because they may not change the repository: {names} (--reviewer NAME takes one's words)"
        )
    if found.later:
        lines.append(f"{found.later} more are left for the next time: agentforge continue, again")
    if found.ci == "pending":
        lines.append("CI is not finished; wait for it: agentforge pr ID --checks --wait 30m")
    return lines
