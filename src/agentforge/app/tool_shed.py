"""The tools of a session that are not built in, and what its tools hold open: browser, servers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.app.chat_wiring import Workshop
    from agentforge.tools.base import Tool
    from agentforge.tools.browsing import Browser


class ToolShed:
    """What a session's tools come from beside the toolbox; each part is made when it is first needed."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    def with_others(self, built_in: Mapping[str, Tool]) -> dict[str, Tool]:
        """All tools that may be offered now: the built-in ones and those of the user, the project and servers."""
        return dict(built_in)

    @cached_property
    def browser(self) -> Browser:
        """The browser of the session."""
        from agentforge.tools.browsing import Browser

        return Browser(environ=self._workshop.environ)

    def close(self) -> None:
        """End what was started."""
        if "browser" in self.__dict__:
            self.browser.close()


def is_allowed(name: str, allowed: Collection[str] | None) -> bool:
    """Whether the user's list of tools, names or patterns, holds this one; no list holds all."""
    return allowed is None or any(fnmatchcase(name, pattern) for pattern in allowed)


def left_out(workshop: Workshop) -> frozenset[str]:
    """The built-in tools that cannot work here, so that a model is not told of them."""
    missing = set()
    if workshop.sandbox.kind == "none":
        missing.add("shell")
    if not workshop.desk.present:
        missing.add("ask_human")
    if not (workshop.root / ".git").exists() and workshop.git is None:
        missing |= {"git_diff", "git_status", "git_log", "git_show", "git_blame", "git_commit", "git_branch"}
    if not _is_installed("playwright"):
        missing.add("browser")
    if not _is_installed("ddgs"):
        missing.add("web_search")
    return frozenset(missing)


def _is_installed(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None
