"""Conformance of a tree against the base: the project's own checks and ours over the changed files, new findings only."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from datetime import date
from pathlib import Path

from agentforge.canonical import digest_value
from agentforge.conformance import (
    Check,
    CheckReport,
    Comparison,
    Finding,
    Site,
    chosen_checks,
    compare,
    contracts_in,
    own_files,
    report_from,
    run_checks,
    surroundings,
    with_commands,
)
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.languages.test_parts import key_of, lines_of_tests
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import texts
from agentforge.suite import Rig, fresh_checkout

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


def compared(
    state: RunState, runtime: Runtime, *, tree: str, only: tuple[str, ...] = (), settled: Collection[str] = ()
) -> Comparison:
    """Run the checks on a fresh checkout of `tree` and of the base, over the files that differ.

    What the project does not pin, and what is found in files that nobody may change any more, is a note. A check that broke
    off is run once more: what the machine did is no finding.

    Args:
        only: restrict to these repository paths; () = all changed files.
        settled: what an earlier stage has accepted, such as frozen tests: files, and of product files the tests inside.
    """
    base = state.work.trees.get("baseline") or runtime.git.tree_of(state.identity.base_commit)
    changed = [item.path for item in runtime.git.changed(base, tree) if not only or item.path in only]
    found = compare(*reports(state, runtime, base=base, tree=tree, paths=changed))
    if found.crashed:
        found = compare(*reports(state, runtime, base=base, tree=tree, paths=changed, again=True))
    noted = tuple(one for one in found.new if one.ours or _is_settled(one, settled, runtime, tree))
    return replace(found, new=tuple(one for one in found.new if one not in noted), notes=(*noted, *found.notes))


def _is_settled(found: Finding, settled: Collection[str], runtime: Runtime, tree: str) -> bool:
    key = key_of(found.path)
    if key == found.path or key not in settled:
        return key in settled
    return bool(lines_of_tests(found.path, runtime.git.show(tree, found.path) or b"") >> found.line & 1)


def reports(
    state: RunState, runtime: Runtime, *, base: str, tree: str, paths: list[str], again: bool = False
) -> tuple[CheckReport, CheckReport]:
    """What the checks say of some files at the base, and of the same files of another tree by the base's configuration.

    Args:
        again: measure anew what is known of `tree`.
    """
    asked = (tuple(paths), state.progress.last_at[:10])
    known = runtime.check_reports
    if again:
        known.pop((tree, base, asked), None)
    of_base, of_tree = (base, "", asked), (tree, base, asked)
    kept = KeptReports.of(runtime)
    for name in (of_base, of_tree):
        if name not in known and (report := kept.recall(*name)):
            known[name] = report
    if of_base not in known or of_tree not in known:
        rig = runtime.rig()
        with fresh_checkout(rig, base) as old, fresh_checkout(rig, tree) as new:
            if of_base not in known:
                known[of_base] = report_on(old, state, runtime, paths=paths)
                kept.keep(*of_base, known[of_base])
            if of_tree not in known:
                known[of_tree] = report_on(new, state, runtime, paths=paths, base=old)
                kept.keep(*of_tree, known[of_tree])
    return known[of_base], known[of_tree]


def report_on(
    checkout: Path,
    state: RunState,
    runtime: Runtime,
    *,
    paths: list[str],
    base: Path | None = None,
    only: frozenset[str] | None = None,
) -> CheckReport:
    """Run the checks over files of a checkout.

    Args:
        base: a checkout whose configuration is used instead.
        only: names of the checks; None = all.
    """
    contracts = with_commands(contracts_in(base or checkout), texts(runtime.checks.get("commands")))
    return run_checks(
        checkout,
        mount_at=runtime.repo,
        sandbox=runtime.sandbox,
        paths=paths,
        checks=[check for check in checks_of(runtime) if only is None or check.name in only],
        interpreter=runtime.rig().plan.tools_python or None,
        base=base,
        contracts=contracts,
        today=date.fromisoformat(state.progress.last_at[:10]) if state.progress.last_at else None,
    )


def site_on(checkout: Path, runtime: Runtime, *, paths: list[str]) -> Site:
    """Where checks work on a checkout: what `report_on` looks at, for those who repair."""
    return Site(
        checkout=checkout,
        mount_at=runtime.repo,
        sandbox=runtime.sandbox,
        paths=own_files(checkout, paths),
        interpreter=runtime.rig().plan.tools_python or None,
        rules=with_commands(contracts_in(checkout), texts(runtime.checks.get("commands"))).rules,
    )


def checks_of(runtime: Runtime) -> list[Check]:
    """The checks but those that the settings switch off; the project's own where the settings trust them."""
    trusted = runtime.checks.get("project_code") is True
    return chosen_checks(disabled=texts(runtime.checks.get("disable")), project=runtime.repo if trusted else None)
