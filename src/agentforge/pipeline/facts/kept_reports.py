"""What the checks said of a tree, kept between tasks beside the results of test runs, where the tree alone decides it."""

from __future__ import annotations

import json

from agentforge.canonical import digest_value
from agentforge.conformance import CheckReport, chosen_checks, report_from, surroundings
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import texts
from agentforge.suite import Rig

_PYTHON = (".py", ".pyi")
Asked = tuple[tuple[str, ...], str]
"""The files that are looked at, and the day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReports:
    """Reports of one repository, as far as they may be kept.

    Attributes:
        surroundings: what they depend on beside the trees; () = that cannot be known, so that none is kept.
    """

    rig: Rig | None = None
    surroundings: tuple[object, ...] = ()

    @classmethod
    def of(cls, runtime: Runtime) -> KeptReports:
        """The reports that a task may use; none where the project's own code takes part in the checks."""
        rig = runtime.rig()
        found = surroundings(rig.plan.tools_python or None)
        if rig.cache is None or not found or runtime.checks.get("project_code") is True:
            return cls()
        checks = [check.name for check in chosen_checks(disabled=texts(runtime.checks.get("disable")))]
        settings = json.dumps(dict(runtime.checks), sort_keys=True, default=str)
        return cls(rig=rig, surroundings=(str(rig.mount_at), rig.confinement, settings, checks, *found))

    def recall(self, tree: str, base: str, asked: Asked) -> CheckReport | None:
        """What was said of these files of the tree, under the configuration of the base ("" = its own)."""
        key = self._key(tree, base, asked)
        value = self.rig.cache.recall(key) if key and self.rig and self.rig.cache else None
        try:
            whole = value and value["digest"] == digest_value(value["report"])
            return report_from(value["report"]) if value and whole else None
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, tree: str, base: str, asked: Asked, report: CheckReport) -> None:
        """Keep a report that will be the same the next time.

        Side effects: writes a file among the results of test runs.
        """
        key = self._key(tree, base, asked)
        if key and report.lasting and self.rig and self.rig.cache:
            value = report.value()
            self.rig.cache.keep(key, {"report": value, "digest": digest_value(value)})

    def _key(self, tree: str, base: str, asked: Asked) -> dict[str, object]:
        paths, day = asked
        if not self.surroundings or not all(path.endswith(_PYTHON) for path in paths):
            return {}
        return {"report": tree, "base": base, "paths": list(paths), "day": day, "under": list(self.surroundings)}
