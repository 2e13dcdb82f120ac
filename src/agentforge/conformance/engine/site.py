"""Where a check works: a checkout, the files to look at, and the two ways to run a program there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agentforge import __version__
from agentforge.conformance.contracts.code_contract import CodeRule, RuleKind
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.sarif import relative_path
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box, Sandbox

_OUTPUT_LIMIT_BYTES = 8_000_000
_ENVIRONMENTS = (".venv", "venv", "node_modules")
_PROGRAMS = ("ruff", "ty")
_answers: dict[tuple[str, str, tuple[tuple[str, int], ...]], bool] = {}  # has_module's, by the state of the packages


class CheckCrashedError(Exception):
    """A check could not do its work: it crashed, hung, or said something that cannot be read. That is not "passed"."""


class NotInstalledError(CheckCrashedError):
    """A tool that the project configures cannot be run in its environment, whatever the checkout holds."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A checkout that is looked at.

    Attributes:
        checkout: a folder made from git objects, or the agent's workspace.
        mount_at: the user's repository path, where sandboxed programs find the checkout.
        paths: files of the checkout to look at, relative to its top.
        interpreter: the project's own Python, absolute; None when none is known.
        rules: of the contracts for code.
        timeout_s: for each program.
    """

    checkout: Path
    mount_at: Path
    sandbox: Sandbox
    paths: tuple[str, ...]
    interpreter: str | None = None
    rules: tuple[CodeRule, ...] = ()
    timeout_s: float = 300.0

    def rules_of(self, kind: RuleKind) -> list[tuple[CodeRule, tuple[str, ...]]]:
        """The rules of a kind, each with the files among `paths` that it speaks of; rules without such files are left out."""
        found = [(rule, tuple(path for path in self.paths if rule.holds(path))) for rule in self.rules]
        return [(rule, paths) for rule, paths in found if rule.kind == kind and paths]

    @cached_property
    def top(self) -> Path:
        """The folder by which the programs that are run know the checkout."""
        return self.checkout if self.sandbox.kind == "none" else self.mount_at

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

    def finding(
        self, check: str, rule_id: str, message: str, path: str, line: int = 0, column: int = 0, *,
        level: Level = "error", fixable: bool = False, ours: bool = False,
    ) -> Finding:  # fmt: skip
        """Make a finding of what a program printed: its path is made relative to the checkout."""
        return Finding(
            check=check, rule_id=rule_id, level=level, message=message, path=self.relative(path), line=line, column=column,
            fixable=fixable, ours=ours,
        )  # fmt: skip

    def within(self, findings: Sequence[Finding]) -> list[Finding]:
        """Drop findings about files that nobody asked about."""
        asked = set(self.paths)
        return [finding for finding in findings if finding.path in asked]

    def run_own(self, argv: Sequence[str], *, stdin: bytes | None = None) -> Completed:
        """Run a program of AgentForge's inside the sandbox, over a read-only checkout and without the user's settings."""
        return self._run(argv, env={"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}, stdin=stdin)

    def run_project(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        writable: tuple[Path, ...] = (),
    ) -> Completed:
        """Run a program of the project's environment inside the sandbox, over a read-only checkout.

        Args:
            writable: folders of ours, outside of the checkout, for what a compiler builds.
        """
        return self._run(argv, env=env or {}, stdin=stdin, writable=writable)

    def _run(
        self, argv: Sequence[str], *, env: Mapping[str, str], stdin: bytes | None, writable: tuple[Path, ...] = ()
    ) -> Completed:
        for _ in range(_TRIES):
            done = self.sandbox.run(
                argv,
                box=self._box(env, writable),
                timeout_s=self.timeout_s,
                output_limit_bytes=_OUTPUT_LIMIT_BYTES,
                stdin=stdin,
                merge_stderr=False,
            )
            if done.exit_code not in _KILLED or done.timed_out:
                break
        if done.timed_out:
            raise CheckCrashedError(f"did not end within {self.timeout_s:.0f} s")
        if done.omitted_bytes:
            raise CheckCrashedError(f"printed {_OUTPUT_LIMIT_BYTES + done.omitted_bytes} bytes, too much to be read")
        return done

    def _box(self, env: Mapping[str, str], writable: tuple[Path, ...]) -> Box:
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
            writable_paths=writable,
            env=env,
            overlays=tuple(overlays),
            interpreters=(Path(self.interpreter),) if self.interpreter else (),
        )


_KILLED = (-9, 137)
_TRIES = 3
"""What the machine ended (no memory left, somebody's `kill -9`) says nothing about the work: it is measured again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the catalogue.

    Attributes:
        skip: why it has nothing to do here; None = it applies. A tool that the project configures and that is not
            installed is no reason to skip: raise.
        run: look at the site's paths.
        fix: repair findings of this check where that needs no thought: path -> new content of each file that it changes.
            Writes nothing; what it cannot repair it leaves. None = the check repairs nothing.
    """

    name: str
    skip: Callable[[Site], str | None]
    run: Callable[[Site], list[Finding]]
    fix: Callable[[Site, Sequence[Finding]], Mapping[str, bytes]] | None = None


def skipping(
    name: str,
    suffixes: Sequence[str] = (".py", ".pyi"),
    files: str = "Python file",
    *,
    configured: Callable[[Site], object] = lambda _site: True,
    there: Callable[[Site], object] = lambda _site: None,
) -> Callable[[Site], str | None]:
    """Make the `skip` of a check whose tool the project configures.

    Args:
        suffixes: endings of the files that it looks at; files: what they are, in words.
        configured: gives something where the project asks for the check.
        there: raises where the tool is not installed.
    """

    def skip(site: Site) -> str | None:
        if not site.paths_with(*suffixes):
            return f"no {files} among the changed files"
        if not configured(site):
            return f"the project does not configure {name}"
        there(site)
        return None

    return skip


def _holds_files(folder: Path) -> bool:
    """Whether the checkout brings the folder itself; an empty one is the mount point of an earlier run."""
    return folder.is_dir() and any(folder.iterdir())


def own_program(name: str) -> str:
    """Find a program that was installed together with AgentForge, beside its interpreter; else on PATH.

    Raises:
        CheckCrashedError: it is in neither place.
    """
    beside = Path(sys.executable).parent / name
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if found is None:
        raise CheckCrashedError(f"{name} is not installed beside agentforge")
    return found


def not_installed(what: str, *, check: str) -> NotInstalledError:
    """The error of a tool that the project configures and that cannot be run: nobody looked, so nothing has passed."""
    return NotInstalledError(f'configured, but {what} - install it, or disable the check: checks.disable = ["{check}"]')


def crash_of(done: Completed) -> CheckCrashedError:
    """The error of a program that ended in a way that means nothing."""
    told = (done.stderr or done.output).decode("utf-8", "replace").strip()
    return CheckCrashedError(f"ended with {done.exit_code}: {told[-400:] or 'no output'}")


def has_module(site: Site, module: str) -> bool:
    """Whether the project's interpreter can import a module, without importing it; asked once while its packages stay."""
    if site.interpreter is None:
        return False
    key = (site.interpreter, module, _packages(Path(site.interpreter)))
    if key in _answers:
        return _answers[key]
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    told = site.run_project([site.interpreter, "-I", "-c", code]).exit_code
    if key[2] and told in (0, 1):
        _answers[key] = told == 0
    return told == 0


def needs_module(module: str, *, name: str = "", check: str = "") -> Callable[[Site], None]:
    """Make a `there` of `skipping`: the project's interpreter has a module, which people may call by another name."""

    def there(site: Site) -> None:
        if not has_module(site, module):
            raise not_installed(f"the project's interpreter has no {name or module}", check=check or module)

    return there


def _packages(interpreter: Path) -> tuple[tuple[str, int], ...]:
    """When packages last came to or left an environment that sees no others; () where that cannot be known."""
    top = interpreter.parent.parent
    try:
        closed = "include-system-site-packages = false" in (top / "pyvenv.cfg").read_text("utf-8")
        folders = sorted(top.glob("lib/python3*/site-packages")) if closed else []
        return tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders)
    except (OSError, UnicodeDecodeError):
        return ()


def surroundings(interpreter: str | None) -> list[object]:
    """Name what the answers of AgentForge's own checks depend on beside the files: its programs, and the project's packages.

    Returns:
        [] where that cannot be known.
    """
    packages = _packages(Path(interpreter)) if interpreter else ()
    try:
        files = [Path(own_program(name)) for name in _PROGRAMS]
        programs = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    except (CheckCrashedError, OSError):
        return []
    return [__version__, str(interpreter), *map(list, (*packages, *programs))] if packages else []
