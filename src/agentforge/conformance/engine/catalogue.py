"""The checks that there are: builtin ones, those of installed packages, and, where the user trusts it, the project's."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from agentforge.conformance import checks
from agentforge.conformance.engine.site import Check
from agentforge.errors import ConfigError, ToolchainError

GROUP = "agentforge.checks"
PROJECT_FOLDER = ".agentforge/checks"


def check_names() -> tuple[str, ...]:
    """Name the builtin checks; imports none of them."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(checks.__path__)))


def load_check(name: str) -> Check:
    """Load one builtin check by its name."""
    return _checked(import_module(f"agentforge.conformance.checks.{name}").CHECK, name, source=f"{name}.py")


def builtin_checks() -> list[Check]:
    """Load every builtin check."""
    return [load_check(name) for name in check_names()]


def chosen_checks(*, disabled: Collection[str] = (), project: Path | None = None) -> list[Check]:
    """Load the builtin checks and those of installed packages, without the disabled ones.

    Args:
        project: a repository whose own checks are loaded, too: they run inside this process, so only where the user
            trusts it.
    Raises:
        ConfigError: two checks of one name, or something that is no check.
        ToolchainError: a check that cannot be imported.
    """
    found = {name: load_check(name) for name in check_names() if name not in disabled}
    others = _installed(disabled) + (_of_project(project) if project is not None else [])
    for check in others:
        if check.name in found:
            raise ConfigError(f"there is another check called {check.name!r}", hint="rename it, or disable one of them")
        if check.name not in disabled:
            found[check.name] = check
    return list(found.values())


def project_files(project: Path) -> list[Path]:
    """The files in which a project brings its own checks; none of them is imported."""
    return sorted((project / PROJECT_FOLDER).glob("*.py"))


def _installed(disabled: Collection[str]) -> list[Check]:
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        if point.name in disabled:
            continue
        try:
            loaded = point.load()
        except Exception as exc:  # a stranger's package may fail in any way
            raise ToolchainError(
                f"the check {point.name} cannot be loaded: {exc}", hint=f"repair {point.value}"
            ) from exc
        found.append(_checked(loaded, point.name, source=point.value))
    return found


def _of_project(project: Path) -> list[Check]:
    found = []
    for file in project_files(project):
        spec = spec_from_file_location(f"agentforge_project_checks.{file.stem}", file)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as exc:  # the project's file may fail in any way
            raise ToolchainError(f"{file} cannot be loaded: {exc}", hint="repair or remove it") from exc
        found.append(_checked(getattr(module, "CHECK", None), file.stem, source=str(file)))
    return found


def _checked(value: object, name: str, *, source: str) -> Check:
    if not isinstance(value, Check) or value.name != name:
        raise ConfigError(f"{source} holds no check {name!r}", hint=f'write CHECK = Check(name="{name}", ...)')
    return value
