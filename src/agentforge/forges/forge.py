"""What every forge can do, and what it tells: pull requests, results of CI, comments."""

from __future__ import annotations

from typing import Literal, Protocol

from agentforge.frozen import dataclass

Standing = Literal["passed", "failed", "pending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """An open pull request (GitLab: merge request).

    Attributes:
        head: the commit that its branch stands on at the forge.
        base: the branch that it is to be merged into.
    """

    number: int
    url: str
    title: str
    head: str
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CiCheck:
    """What one job of CI came to on one commit.

    Attributes:
        id: by which the forge gives its details, "" = it has none.
        summary: what the job itself said of its result, in short.
    """

    id: str
    name: str
    standing: Standing
    url: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """What a person wrote on a pull request and nobody has marked as settled.

    Attributes:
        id: names it for ever.
        may_write: the author may change the repository: an owner, a member, a collaborator.
        path, line: what it is about; "" and 0 = the whole.
    """

    id: str
    author: str
    may_write: bool
    body: str
    path: str = ""
    line: int = 0


class Forge(Protocol):
    """One repository at a forge. Every method raises ForgeError when the forge cannot be asked, or refuses."""

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch."""

    def open(self, branch: str, *, base: str, title: str, body: str, draft: bool) -> Pull:
        """Open a pull request."""

    def update(self, pull: Pull, *, body: str) -> Pull:
        """Write its body anew."""

    def default_branch(self) -> str:
        """The branch that pull requests go to."""

    def checks(self, commit: str) -> tuple[CiCheck, ...]:
        """What CI says of one commit, and of no other."""

    def details(self, check: CiCheck) -> str:
        """What is known of a failed check: places, and the end of its output. Foreign text; "" = nothing."""

    def comments(self, pull: Pull) -> tuple[Comment, ...]:
        """What people wrote, oldest first."""


def standing(checks: tuple[CiCheck, ...]) -> Literal["passed", "failed", "pending", "none"]:
    """What the checks of a commit come to: one that failed is enough; "none" = nobody has reported."""
    found = {check.standing for check in checks}
    if "failed" in found:
        return "failed"
    if "pending" in found:
        return "pending"
    return "passed" if found else "none"
