"""Where the tests of a checkout lie: what is taken away so that code does not find them beside itself."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

_FOLDERS = ("test", "tests")
_PATTERNS = ("test_*.py", "*_test.py", "conftest.py")


def paths_of_tests(checkout: Path) -> list[str]:
    """Folders of tests at the top, and test files elsewhere, relative to the checkout."""
    found = [name for name in _FOLDERS if (checkout / name).is_dir()]
    for pattern in _PATTERNS:
        files = (file.relative_to(checkout).as_posix() for file in checkout.rglob(pattern))
        found += [file for file in files if PurePosixPath(file).parts[0] not in _FOLDERS]
    return list(dict.fromkeys(found))
