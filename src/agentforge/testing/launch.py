"""What every test run has in common: its scratch folder, its environment, its box."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentforge.testing.plan import TestPlan
from agentforge.workspace.sandbox.box import Box, Sandbox
from agentforge.workspace.sandbox.toolchain import child_environment

_GIT_CONFIG = "[user]\n\tname = Test Run\n\temail = test@localhost\n[safe]\n\tdirectory = *\n"
"""What git reads in the home of a run: somebody to commit as, nobody real, and no question about who owns a folder."""
EVIDENCE = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSandbox:
    """Where a run takes place.

    Attributes:
        checkout: the folder whose tests run.
        mount_at: the user's repository; the sandbox shows the checkout there.
        scratch: home, temporary files and reports of this run; the only other place that it may write.
        protected: repository paths that the run must not change.
        built: a folder of ours with what was compiled before; None compiles everything anew.
    """

    __test__ = False  # no test class, whatever pytest thinks of the name

    checkout: Path
    mount_at: Path
    sandbox: Sandbox
    scratch: Path
    protected: tuple[str, ...] = ()
    built: Path | None = None

    @property
    def root(self) -> Path:
        """The checkout as the tests see it."""
        return self.mount_at if self.sandbox.kind == "bubblewrap" else self.checkout


@contextmanager
def ground(
    *,
    checkout: Path,
    mount_at: Path,
    sandbox: Sandbox,
    scratch: Path | None,
    protected: tuple[str, ...] = (),
    built: Path | None = None,
) -> Iterator[TestSandbox]:
    """Make the scratch folder of a run and remove it afterwards.

    Args:
        scratch: its parent; None is the system's temporary folder.
    """
    if scratch is not None:
        scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=scratch)).resolve()
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    (folder / "home" / ".gitconfig").write_text(_GIT_CONFIG, "utf-8")
    try:
        yield TestSandbox(
            checkout=checkout.resolve(),
            mount_at=mount_at,
            sandbox=sandbox,
            scratch=folder,
            protected=protected,
            built=built,
        )
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Delete a folder of ours, whatever modes the tests left in it."""

    def allow(function: object, path: str, _error: object) -> None:
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        if callable(function):
            function(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=allow)


def box(plan: TestPlan, ground: TestSandbox, *, env: Mapping[str, str], read_only: tuple[Path, ...] = ()) -> Box:
    """The box of a run: checkout writable (it is thrown away), network off, the user's environments read-only.

    Args:
        env: on top of what every run gets and of the plan's own variables.
    """
    outside = ground.mount_at
    lent = [name for name in plan.environments if (outside / name).exists() and outside != ground.checkout]
    links = [
        name for name in lent if (ground.checkout / name).is_symlink()
    ]  # git keeps the link: it leads there by itself
    overlays = tuple((outside / name, ground.mount_at / name) for name in lent if name not in links)
    overlays += tuple((Path(source), Path(place)) for source, place in plan.delivered)
    targets = tuple((outside / name).resolve() for name in links)
    guarded = tuple(ground.mount_at / name for name in ground.protected if (ground.checkout / name).is_file())
    return Box(
        workspace=ground.checkout,
        mount_at=ground.mount_at,
        env={**_environment(plan, ground), **plan.env, **env},
        read_only=(*read_only, *guarded, *(one for one in targets if not one.is_relative_to(ground.mount_at))),
        writable_paths=(ground.scratch,),
        overlays=overlays,
        interpreters=(Path(plan.interpreter),) if plan.interpreter else (),
    )


@contextmanager
def borrowed(plan: TestPlan, ground: TestSandbox) -> Iterator[None]:
    """Without bubblewrap nothing can be mounted: link the user's environments into the checkout while the tests run."""
    links = []
    if ground.sandbox.kind != "bubblewrap" and ground.mount_at != ground.checkout:
        for name in plan.environments:
            link, source = ground.checkout / name, ground.mount_at / name
            if source.exists() and not link.exists() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(source)
                links.append(link)
    try:
        yield
    finally:
        for link in links:
            link.unlink(missing_ok=True)


def _environment(plan: TestPlan, ground: TestSandbox) -> dict[str, str]:
    """Variables of every run. The hash seed is fixed, so that a set's order is no source of surprise."""
    scratch = ground.scratch
    path = child_environment(os.environ, {})["PATH"]
    if plan.interpreter:
        path = f"{Path(plan.interpreter).parent}{os.pathsep}{path}"
    return {
        "PATH": path,
        "HOME": str(scratch / "home"),
        "TMPDIR": str(scratch / "tmp"),
        "XDG_CACHE_HOME": str(scratch / "home" / ".cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": "",
        "COVERAGE_FILE": str(scratch / "coverage"),
    }
