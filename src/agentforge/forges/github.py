"""GitHub's REST API, version 2022-11-28, as far as pull requests need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from agentforge.forges.forge import CiCheck, Comment, Pull, Standing
from agentforge.forges.place import ForgePlace
from agentforge.forges.wire import ForgeWire, ask, ask_text, pages

_WRITERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_GOOD = frozenset({"success", "neutral", "skipped"})
_SAYS_NOTHING = frozenset({"APPROVED", "DISMISSED", "PENDING"})


class GitHub:
    """One repository at GitHub."""

    def __init__(self, place: ForgePlace, wire: ForgeWire) -> None:
        self._owner = place.owner
        self._repo = f"repos/{place.project}"
        self._wire = wire

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch of this repository."""
        asked = urlencode({"head": f"{self._owner}:{branch}", "state": "open"})
        return next((_pull(row) for row in pages(self._wire, f"{self._repo}/pulls?{asked}")), None)

    def open(self, branch: str, *, base: str, title: str, body: str, draft: bool) -> Pull:
        """Open a pull request."""
        sent = {"title": title, "body": body, "head": branch, "base": base, "draft": draft}
        return _pull(ask(self._wire, "POST", f"{self._repo}/pulls", sent))

    def update(self, pull: Pull, *, body: str) -> Pull:
        """Write its body anew; the title stays as people have it."""
        return _pull(ask(self._wire, "PATCH", f"{self._repo}/pulls/{pull.number}", {"body": body}))

    def default_branch(self) -> str:
        """The branch that pull requests go to."""
        return str(ask(self._wire, "GET", self._repo)["default_branch"])

    def checks(self, commit: str) -> tuple[CiCheck, ...]:
        """Check runs, and the statuses of older services; of each context the newest."""
        place = f"{self._repo}/commits/{quote(commit)}"
        runs = [
            _run(row) for row in pages(self._wire, f"{place}/check-runs?filter=latest", key="check_runs", optional=True)
        ]
        return (*runs, *(_status(row) for row in pages(self._wire, f"{place}/status", key="statuses", optional=True)))

    def details(self, check: CiCheck) -> str:
        """The annotations of a check run, and the end of the log where GitHub Actions ran it."""
        if not check.id:
            return ""
        lines = [
            f"{row.get('path')}:{row.get('start_line')}: {row.get('message')}"
            for row in pages(self._wire, f"{self._repo}/check-runs/{check.id}/annotations", optional=True)
        ]
        if "/actions/runs/" in check.url:  # the job of Actions has the number of its check run
            lines.append(ask_text(self._wire, f"{self._repo}/actions/jobs/{check.id}/logs") or "")
        return "\n".join(line for line in lines if line)

    def comments(self, pull: Pull) -> tuple[Comment, ...]:
        """Reviews, comments on lines, comments on the whole; what stands on a line that is gone is left out."""
        place = f"{self._repo}/pulls/{pull.number}"
        reviews = [
            _comment("review", row)
            for row in pages(self._wire, f"{place}/reviews")
            if row.get("state") not in _SAYS_NOTHING
        ]
        lines = [
            _comment("line", row)
            for row in pages(self._wire, f"{place}/comments")
            if row.get("position", 1) is not None
        ]
        whole = [_comment("whole", row) for row in pages(self._wire, f"{self._repo}/issues/{pull.number}/comments")]
        return tuple(item for item in (*reviews, *lines, *whole) if item.body.strip())


def _pull(row: Mapping[str, Any]) -> Pull:
    return Pull(
        number=int(row["number"]),
        url=str(row["html_url"]),
        title=str(row["title"]),
        head=str(row["head"]["sha"]),
        base=str(row["base"]["ref"]),
    )


def _run(row: Mapping[str, Any]) -> CiCheck:
    output = row.get("output") or {}
    good = row.get("conclusion") in _GOOD
    result: Standing = "pending" if row.get("status") != "completed" else "passed" if good else "failed"
    told = [str(row.get("conclusion") or ""), str(output.get("title") or ""), str(output.get("summary") or "")]
    return CiCheck(
        id=str(row["id"]),
        name=str(row.get("name", "")),
        standing=result,
        url=str(row.get("html_url") or row.get("details_url") or ""),
        summary="\n".join(line for line in told if line),
    )


def _status(row: Mapping[str, Any]) -> CiCheck:
    words: dict[str, Standing] = {"success": "passed", "pending": "pending"}
    return CiCheck(
        id="",
        name=str(row.get("context", "")),
        standing=words.get(str(row.get("state")), "failed"),
        url=str(row.get("target_url") or ""),
        summary=str(row.get("description") or ""),
    )


def _comment(kind: str, row: Mapping[str, Any]) -> Comment:
    user = row.get("user") or {}
    return Comment(
        id=f"{kind}-{row['id']}",
        author=str(user.get("login", "")),
        may_write=row.get("author_association") in _WRITERS and user.get("type") != "Bot",
        body=str(row.get("body") or ""),
        path=str(row.get("path") or ""),
        line=int(row.get("line") or row.get("original_line") or 0),
    )
