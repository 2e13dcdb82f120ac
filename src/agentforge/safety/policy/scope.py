"""Which repository paths a stage may write: a pure judgement over paths, made before anything is touched."""

from __future__ import annotations

from agentforge.frozen import dataclass
from agentforge.globs import is_wild, matches
from agentforge.guarded import NEVER, ONLY_BY_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteScope:
    """What may be written.

    Attributes:
        allow: patterns (see agentforge.globs); a path that matches none is refused.
        deny: patterns that win over `allow`.
        instead: what is to be done about a denied path; "" = the patterns that are allowed are named.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    instead: str = ""

    def refusal(self, path: str) -> str | None:
        """Say why `path` may not be written, or None when it may.

        Args:
            path: relative to the workspace, `/` between the parts, with links already resolved.
        """
        return (
            _malformed(path)
            or _protected(path)
            or self._denied(path)
            or self._not_allowed(path)
            or self._not_spelled_out(path)
        )

    def _denied(self, path: str) -> str | None:
        found = next((pattern for pattern in self.deny if matches(pattern, path)), None)
        if found is None:
            return None
        return f"{path} is closed to this stage ({found}); {self.instead or f'it may write {self._allowed}'}"

    def _not_allowed(self, path: str) -> str | None:
        if any(matches(pattern, path) for pattern in self.allow):
            return None
        return f"{path} lies outside what this stage may write: {self._allowed}"

    @property
    def _allowed(self) -> str:
        return ", ".join(self.allow) or "nothing"

    def _not_spelled_out(self, path: str) -> str | None:
        lower = path.casefold()
        steering = next((name for name in ONLY_BY_NAME if matches(name, lower) or matches(f"**/{name}", lower)), None)
        if steering is None:
            return None
        if any(
            steering in pattern.casefold() and not is_wild(pattern) and matches(pattern, path) for pattern in self.allow
        ):
            return None
        return f"{path} steers tools of the project ({steering}); it may be written only where it is named"


def _malformed(path: str) -> str | None:
    parts = path.split("/")
    if not path or path.startswith("/") or "\0" in path or ".." in parts:
        return f"{path!r} is not a path inside the workspace"
    return None


def _protected(path: str) -> str | None:
    parts = {part.casefold() for part in path.split("/")}
    found = next((name for name in NEVER if name in parts), None)
    return f"{path} lies in {found}, which nobody writes" if found is not None else None
