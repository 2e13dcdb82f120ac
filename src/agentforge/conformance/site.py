"""Where a check works: a checkout, the files to look at, and the two ways to run a program there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agentforge.conformance.finding import Finding
from agentforge.conformance.sarif import relative_path
from agentforge.workspace import process
from agentforge.workspace.process import Completed
from agentforge.workspace.sandbox import Box, Sandbox

_OUTPUT_LIMIT_BYTES = 8_000_000
_ENVIRONMENTS = (".venv", "venv", "node_modules")


class CheckCrashedError(Exception):
    """A check could not do its work: it crashed, hung, or said something that cannot be read. That is not "passed"."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A checkout that is looked at.

    Attributes:
        checkout: a folder made from git objects, or the agent's workspace.
        mount_at: the user's repository path, where sandboxed programs find the checkout.
        paths: files of the checkout to look at, relative to its top.
        interpreter: the project's own Python, absolute; None when none is known.
    """

    checkout: Path
    mount_at: Path
    sandbox: Sandbox
    paths: tuple[str, ...]
    interpreter: str | None = None
    timeout_s: float = 300.0

    @cached_property
    def python_paths(self) -> tuple[str, ...]:
        """The Python files among `paths`."""
        return self.paths_with(".py", ".pyi")

    def paths_with(self, *suffixes: str) -> tuple[str, ...]:
        """Those of `paths` that end in one of the suffixes."""
        return tuple(path for path in self.paths if path.endswith(suffixes))

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders by which programs may name the checkout."""
        return (self.checkout, self.checkout.resolve(), self.mount_at, self.mount_at.resolve())

    def relative(self, path: str) -> str:
        """Make a path that a program printed relative to the checkout."""
        return relative_path(path, self.roots)

    def within(self, findings: Sequence[Finding]) -> list[Finding]:
        """Drop findings about files that nobody asked about."""
        asked = set(self.paths)
        return [finding for finding in findings if finding.path in asked]

    def run_own(self, argv: Sequence[str]) -> Completed:
        """Run a program of AgentForge's that runs no project code: outside the sandbox, without the user's settings."""
        env = {"PATH": os.defpath, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "LANG": "C.UTF-8"}
        return self._bounded(
            process.run(
                argv,
                cwd=self.checkout,
                env=env,
                timeout_s=self.timeout_s,
                output_limit_bytes=_OUTPUT_LIMIT_BYTES,
                merge_stderr=False,
            )
        )

    def run_project(self, argv: Sequence[str]) -> Completed:
        """Run a program of the project's environment inside the sandbox, over a read-only checkout."""
        return self._bounded(
            self.sandbox.run(
                argv,
                box=self._box(),
                timeout_s=self.timeout_s,
                output_limit_bytes=_OUTPUT_LIMIT_BYTES,
                merge_stderr=False,
            )
        )

    def _box(self) -> Box:
        """The checkout at the user's path, with the user's environments over it."""
        overlays = [
            (self.mount_at / name, self.mount_at / name)
            for name in _ENVIRONMENTS
            if (self.mount_at / name).is_dir() and not _holds_files(self.checkout / name)
        ]
        return Box(
            workspace=self.checkout,
            mount_at=self.mount_at,
            writable=False,
            overlays=tuple(overlays),
            interpreters=(Path(self.interpreter),) if self.interpreter else (),
        )

    def _bounded(self, done: Completed) -> Completed:
        """Refuse a run whose output is not whole."""
        if done.timed_out:
            raise CheckCrashedError(f"did not end within {self.timeout_s:.0f} s")
        if done.omitted_bytes:
            raise CheckCrashedError(f"printed {_OUTPUT_LIMIT_BYTES + done.omitted_bytes} bytes, too much to be read")
        return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the catalogue.

    Attributes:
        skip: why it has nothing to do here; None = it applies.
        run: look at the site's paths.
    """

    name: str
    skip: Callable[[Site], str | None]
    run: Callable[[Site], list[Finding]]


def _holds_files(folder: Path) -> bool:
    """Whether the checkout brings the folder itself; an empty one is the mount point of an earlier run."""
    return folder.is_dir() and any(folder.iterdir())


def own_program(name: str) -> str:
    """Find a program that was installed together with AgentForge, beside its interpreter; else on PATH.

    Raises:
        CheckCrashedError: it is in neither place.
    """
    import shutil

    beside = Path(sys.executable).parent / name
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if found is None:
        raise CheckCrashedError(f"{name} is not installed beside agentforge")
    return found


def crash_of(done: Completed) -> CheckCrashedError:
    """The error of a program that ended in a way that means nothing."""
    told = (done.stderr or done.output).decode("utf-8", "replace").strip()
    return CheckCrashedError(f"ended with {done.exit_code}: {told[-400:] or 'no output'}")


def has_module(site: Site, module: str) -> bool:
    """Whether the project's interpreter can import a module, without importing it."""
    if site.interpreter is None:
        return False
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return site.run_project([site.interpreter, "-I", "-c", code]).exit_code == 0
