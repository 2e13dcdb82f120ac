"""Where a repository lives at a forge, read from the address of a git remote and the user's settings. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, cast
from urllib.parse import unquote, urlsplit

from agentforge.errors import UsageError
from agentforge.frozen import dataclass

Kind = Literal["github", "gitlab"]

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^/\s].*)")
_PROJECT = re.compile(r"[\w.-]+(?:/[\w.-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgePlace:
    """A repository at a forge.

    Attributes:
        host: of the forge, without a port.
        project: OWNER/NAME; at GitLab with all groups.
        api: where its REST API begins, without a slash at the end.
        own_api: the user's settings name the API, so that `gh` and `glab` would ask elsewhere.
    """

    kind: Kind
    host: str
    project: str
    api: str
    own_api: bool = False

    @property
    def owner(self) -> str:
        """Whose repository it is."""
        return self.project.split("/", 1)[0]


def place_of(address: str, settings: Mapping[str, object]) -> ForgePlace:
    """Read where a remote's repository lives.

    Args:
        address: of the git remote.
        settings: the table `forge`: kind, api, project; each wins over what the address says.
    Raises:
        UsageError: the address names no forge, or one of unknown kind.
    """
    host, path, origin = _read(address)
    project = str(settings.get("project") or path)
    api = str(settings.get("api") or "").rstrip("/")
    host = host or urlsplit(api).hostname or ""
    kind = str(settings.get("kind") or "") or _kind_of(host)
    if not host or not _PROJECT.fullmatch(project):
        raise UsageError(
            f"the remote {_shown(address)} names no repository at a forge",
            hint="set forge.kind, forge.api and forge.project (agentforge config set), or push by hand",
        )
    if not kind:
        raise UsageError(
            f"{host} may be a GitHub or a GitLab", hint="agentforge config set forge.kind github (or gitlab)"
        )
    return ForgePlace(
        kind=cast("Kind", kind), host=host, project=project, api=api or _api(kind, host, origin), own_api=bool(api)
    )


def _read(address: str) -> tuple[str, str, str]:
    """The host, OWNER/NAME, and where the host's pages begin; three times "" of a folder."""
    if "://" in address:
        parts = urlsplit(address)
        if parts.scheme in ("", "file"):
            return "", "", ""
        web = parts.scheme in ("http", "https")
        origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if web else f"https://{parts.hostname}"
        return parts.hostname or "", _name(unquote(parts.path)), origin
    match = _SCP.fullmatch(address)
    return (match["host"], _name(match["path"]), f"https://{match['host']}") if match else ("", "", "")


def _name(path: str) -> str:
    return path.strip("/").removesuffix(".git")


def _kind_of(host: str) -> str:
    words = host.lower().split(".")
    return next((kind for kind in ("github", "gitlab") if kind in words), "")


def _api(kind: str, host: str, origin: str) -> str:
    if kind == "gitlab":
        return f"{origin}/api/v4"
    return "https://api.github.com" if host == "github.com" else f"{origin}/api/v3"


def _shown(address: str) -> str:
    return re.sub(r"://[^/@\s]+@", "://", address) or "(without an address)"
