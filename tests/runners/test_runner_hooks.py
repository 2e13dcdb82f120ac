"""Hooks that RED's files add: found in every form, fixtures and imports of plugins are none."""

from __future__ import annotations

import pytest

from agentforge.verification.source.runner_hooks import new_runner_hooks

PATH = "tests/conftest.py"


def _found(text: str, *, base: str = "") -> tuple[str, ...]:
    return new_runner_hooks([PATH], before=lambda _path: base.encode(), after=lambda _path: text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "def pytest_runtest_makereport(item, call): pass\n",
        "async def pytest_pyfunc_call(pyfuncitem): pass\n",
        "pytest_runtest_setup = print\n",
        "from elsewhere import pytest_runtest_setup\n",
        "from elsewhere import anything as pytest_runtest_setup\n",
        "if True:\n    from elsewhere import pytest_runtest_setup\n",
        "def fixture(config):\n    class Plugin:\n        def pytest_runtest_call(self, item): pass\n",
        "pytest_plugins = ['elsewhere']\n",
        "collect_ignore = ['test_slow.py']\n",
        "def load_tests(loader, tests, pattern): return None\n",
    ],
)
def test_a_hook_is_found_in_every_form(text: str) -> None:
    (found,) = _found(text)
    assert found.startswith(f"{PATH}: ")


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n\n@pytest.fixture\ndef phrase(): return 'a'\n",
        "import pytest_asyncio\nfrom pytest_mock import MockerFixture\n",
        "def test_a():\n    pytest_arguments = ['-q']\n    assert pytest_arguments\n",
        "pytest_plugins = 'pytester'\n",
        "def pytest_addoption(parser): pass\n",
        "this is no python(\n",
    ],
)
def test_what_steers_nothing_is_no_hook(text: str) -> None:
    assert _found(text) == ()


def test_a_hook_that_the_base_has_is_not_new() -> None:
    hook = "def pytest_configure(config): pass\n"
    assert _found(hook + "X = 1\n", base=hook) == ()
