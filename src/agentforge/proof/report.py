"""What a verification says: one line for each thing that was checked."""

from __future__ import annotations

from agentforge.frozen import dataclass

EXIT_HELD, EXIT_REFUSED, EXIT_ALTERED = 0, 4, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        detail: what was found; where it does not hold, what is wrong with which thing.
        altered: a failure means that the files are not what was written, not merely that a promise does not hold.
    """

    name: str
    ok: bool
    detail: str
    altered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All checks of one verification, in the order in which they were made."""

    subject: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether everything held, and something was looked at."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def exit_code(self) -> int:
        """0 all held, 9 something was altered or damaged, 4 something does not hold."""
        if self.ok:
            return EXIT_HELD
        return EXIT_ALTERED if any(check.altered and not check.ok for check in self.checks) else EXIT_REFUSED

    def value(self) -> dict[str, object]:
        """The report as it is printed for machines."""
        rows = [{"name": check.name, "ok": check.ok, "detail": check.detail} for check in self.checks]
        return {"ok": self.ok, "subject": self.subject, "checks": rows}


def told(name: str, problems: list[str], *, held: str, altered: bool = True) -> Check:
    """A check that holds when there are no problems.

    Args:
        held: what to say then.
    """
    if not problems:
        return Check(name=name, ok=True, detail=held, altered=altered)
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    return Check(name=name, ok=False, detail="; ".join(problems[:5]) + more, altered=altered)
