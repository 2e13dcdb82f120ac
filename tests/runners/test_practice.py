"""A suppression is told instead of refused where its file practises it for a rule of taste, or where it is of coverage alone."""

from __future__ import annotations

import pytest

from agentforge.verification.source.evasion import by_practice, new_suppressions

BASE = (
    "def Odd():  # noqa: N802\n    pass\n\n\nx = f(1)  # type: ignore[arg-type]\ny = 1  # noqa: F821\nz = 2  # noqa\n"
)


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("def Other(): pass  # noqa: N802", True),
        ("def Other(): pass  # noqa: n802", True),
        ("def Other(): pass  # noqa: N802, E501", False),
        ("def Other(): pass  # noqa: E501", False),
        ("def Other(): pass  # noqa", False),
        ("def Other(): pass  # noqa: N802  # type: ignore[arg-type]", False),
        ("x = f(2)  # type: ignore[arg-type]", False),
        ("y = undefined  # noqa: F821", False),
        ("import pytest; pytest.skip('x')  # noqa: N802", False),
        ('if __name__ == "__main__":  # pragma: no cover', True),
        ("except ImportError:  # pragma: no cover  # type: ignore[misc]", False),
    ],
)
def test_taste_that_the_file_practises_and_coverage_are_told(line: str, *, is_told: bool) -> None:
    texts = {"before": BASE.encode(), "after": f"{BASE}{line}\n".encode()}
    found = new_suppressions(["a.py"], before=lambda _: texts["before"], after=lambda _: texts["after"])
    refused, told = by_practice(found, before=lambda _: texts["before"])
    assert (len(refused), len(told)) == ((0, 1) if is_told else (1, 0))


def test_another_files_practice_excuses_nothing() -> None:
    line = b"def Other(): pass  # noqa: N802\n"
    found = new_suppressions(["b.py"], before=lambda _: b"", after=lambda _: line)
    assert by_practice(found, before=lambda _: b"")[1] == []
