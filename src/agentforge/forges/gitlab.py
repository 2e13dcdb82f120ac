"""GitLab's REST API, version 4, as far as merge requests need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from agentforge.forges.forge import CiCheck, Comment, Pull, Standing
from agentforge.forges.place import ForgePlace
from agentforge.forges.wire import ForgeWire, ask, ask_text, pages

_DEVELOPER = 30
_GOOD = frozenset({"success", "skipped", "manual"})
_BAD = frozenset({"failed", "canceled", "canceling"})


class GitLab:
    """One project at GitLab."""

    def __init__(self, place: ForgePlace, wire: ForgeWire) -> None:
        self._project = f"projects/{quote(place.project, safe='')}"
        self._wire = wire

    def find(self, branch: str) -> Pull | None:
        """The open merge request of a branch of this project."""
        asked = urlencode({"source_branch": branch, "state": "opened"})
        return next((_pull(row) for row in pages(self._wire, f"{self._project}/merge_requests?{asked}")), None)

    def open(self, branch: str, *, base: str, title: str, body: str, draft: bool) -> Pull:
        """Open a merge request."""
        sent = {
            "source_branch": branch,
            "target_branch": base,
            "title": f"Draft: {title}" if draft else title,
            "description": body,
        }
        return _pull(ask(self._wire, "POST", f"{self._project}/merge_requests", sent))

    def update(self, pull: Pull, *, body: str) -> Pull:
        """Write its description anew; the title stays as people have it."""
        return _pull(ask(self._wire, "PUT", f"{self._project}/merge_requests/{pull.number}", {"description": body}))

    def default_branch(self) -> str:
        """The branch that merge requests go to."""
        return str(ask(self._wire, "GET", self._project)["default_branch"])

    def checks(self, commit: str) -> tuple[CiCheck, ...]:
        """The jobs of the commit's pipelines, and what other services reported; of each the newest."""
        place = f"{self._project}/repository/commits/{quote(commit)}/statuses"
        found = tuple(_check(row) for row in pages(self._wire, place, optional=True))
        return found or tuple(self._jobs(commit))

    def _jobs(self, commit: str) -> Iterator[CiCheck]:
        """The jobs of its pipelines; one that has none yet stands for itself."""
        for row in pages(self._wire, f"{self._project}/pipelines?{urlencode({'sha': commit})}", optional=True):
            jobs = [
                _check(job) for job in pages(self._wire, f"{self._project}/pipelines/{row['id']}/jobs", optional=True)
            ]
            yield from jobs or [replace(_check({"name": "pipeline", **row}), id="")]

    def details(self, check: CiCheck) -> str:
        """The output of the job."""
        return (ask_text(self._wire, f"{self._project}/jobs/{check.id}/trace") if check.id else None) or ""

    def comments(self, pull: Pull) -> tuple[Comment, ...]:
        """The notes of people in discussions that nobody has resolved."""
        members = pages(self._wire, f"{self._project}/members/all", optional=True)  # unknown: nobody counts unnamed
        writers = {row.get("username") for row in members if int(row.get("access_level") or 0) >= _DEVELOPER}
        place = f"{self._project}/merge_requests/{pull.number}/discussions"
        notes = (note for talk in pages(self._wire, place) for note in talk.get("notes", []))
        kept = (note for note in notes if not note.get("system") and not note.get("resolved"))
        return tuple(_comment(note, writers) for note in kept if str(note.get("body") or "").strip())


def _pull(row: Mapping[str, Any]) -> Pull:
    return Pull(
        number=int(row["iid"]),
        url=str(row["web_url"]),
        title=str(row["title"]),
        head=str(row.get("sha") or ""),
        base=str(row["target_branch"]),
    )


def _check(row: Mapping[str, Any]) -> CiCheck:
    status = str(row.get("status"))
    good = status in _GOOD or (status in _BAD and row.get("allow_failure") is True)
    result: Standing = "passed" if good else "failed" if status in _BAD else "pending"
    return CiCheck(
        id=str(row["id"]),
        name=str(row.get("name", "")),
        standing=result,
        url=str(row.get("target_url") or row.get("web_url") or ""),
        summary="\n".join(text for text in (status, str(row.get("description") or "")) if text),
    )


def _comment(note: Mapping[str, Any], writers: set[Any]) -> Comment:
    author = (note.get("author") or {}).get("username", "")
    position = note.get("position") or {}
    return Comment(
        id=f"note-{note['id']}",
        author=str(author),
        may_write=author in writers,
        body=str(note["body"]),
        path=str(position.get("new_path") or ""),
        line=int(position.get("new_line") or 0),
    )
