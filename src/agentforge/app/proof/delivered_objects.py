"""What git shows of a delivery: the branch stands on it, nothing stands in its place, its objects are what their ids say."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from agentforge.events.state.run_state import RunState
from agentforge.proof.report import Check, told as checked
from agentforge.workspace.git.objects import has_object
from agentforge.workspace.git.repository import Git

_REPLACED = "refs/replace/"
_AT_ONCE = 500


def delivery_checks(git: Git, state: RunState, *, told: Collection[str] = ()) -> list[Check]:
    """Look at the delivery of a run in its repository.

    Args:
        told: names of the checks that were made already.
    """
    made = str((state.work.delivered or {}).get("commit", ""))
    found = []
    if (
        "branch" not in told and state.identity.branch and git.branch_exists(state.identity.branch)
    ):  # else it was merged and removed
        found.append(branch_check(git.resolve(f"refs/heads/{state.identity.branch}"), made))
    if has_object(git, made):
        found.append(_objects_check(git, made, base=state.identity.base_commit))
    return found


def branch_check(oid: str, made: str) -> Check:
    """Whether a branch stands on the delivered commit."""
    detail = f"the branch stands on {oid[:12]}, and the delivered commit is {made[:12]}"
    if made == oid:
        detail = "the branch stands on the delivered commit"
    return Check(name="branch", ok=made == oid, detail=detail, altered=False)


def _objects_check(git: Git, made: str, *, base: str) -> Check:
    """Read what the delivery adds to its base as git has it, and hash it here; look for what is shown in place of it."""
    listed = git.command.run("rev-list", "--objects", "--no-object-names", made, f"^{base}")
    names = listed.output.decode("ascii", "replace").split()
    problems = [] if listed.exit_code == 0 else ["git cannot list the objects of the delivery"]
    problems += [f"object {name} was altered" for name in _altered(git, names)]
    problems += [f"git shows another object in the place of {name}" for name in _replaced(git, made)]
    return checked("objects", problems, held=f"{len(names)} of the delivery, each as its id says")


def _altered(git: Git, names: list[str]) -> Iterator[str]:
    """Objects whose content has another hash than their name, or that cannot be read."""
    for start in range(0, len(names), _AT_ONCE):
        wanted = names[start : start + _AT_ONCE]
        done = git.command.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode())
        rest = done.output
        for name in wanted:
            head, _, rest = rest.partition(b"\n")
            parts = head.split(b" ")
            if len(parts) != 3 or not parts[2].isdigit():
                yield name
                continue
            size = int(parts[2])
            content, rest = rest[:size], rest[size + 1 :]
            algorithm = hashlib.sha1 if len(name) == 40 else hashlib.sha256
            if algorithm(parts[1] + b" %d\0" % len(content) + content).hexdigest() != name:
                yield name


def _replaced(git: Git, made: str) -> list[str]:
    """Objects of the delivery that whoever uses this repository does not see, because a ref names others for them."""
    rows = git.command.run("for-each-ref", "--format=%(refname)", _REPLACED).text.split()
    names = {row.removeprefix(_REPLACED) for row in rows}
    if not names:
        return []
    tree = (
        git.command.run("rev-list", "--objects", "--no-object-names", f"{made}^{{tree}}").output.decode("ascii").split()
    )
    return sorted(names & {made, *tree})
