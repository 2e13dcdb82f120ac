"""Product code that patches modules which are not its own."""

from __future__ import annotations

import pytest

from agentforge.runners.foreign_patches import foreign_patches


def _found(text: str, *, base: str = "", path: str = "a.py") -> list[str]:
    patches = foreign_patches([path], before=lambda _path: base.encode(), after=lambda _path: text.encode())
    return [f"{one.line} {one.text}" for one in patches]


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.time = lambda: 0.0\n",
        "import time as clock\nclock.sleep = print\n",
        "import datetime\ndatetime.datetime.now = print\n",
        "from datetime import datetime\ndatetime.now = print\n",
        "import builtins\nsetattr(builtins, 'len', print)\n",
        "import random\nrandom.seed(4)\n",
        "from random import seed\nseed(4)\n",
        "import builtins\nx, builtins.print = 1, 2\n",
        "def late():\n    import pytest\n    pytest.skip = print\n",
        "import random\ndel random.random\n",
    ],
)
def test_a_patch_is_found_in_every_form(text: str) -> None:
    assert len(_found(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import random\nCHANCE = random.Random(4)\n",
        "def shuffled(rows):\n    import random\n    random.seed(4)\n    return rows\n",
        "import os\nos.environ['A'] = 'b'\n",
        "import sys\nsys.excepthook = print\n",
        "import logging\nlogging.raiseExceptions = False\n",
        "import threading\nlocal = threading.local()\nlocal.x = 1\n",
        "import config\nconfig.DEBUG = True\n",
        "class A:\n    def __init__(self):\n        self.time = 1\n",
    ],
)
def test_what_modules_are_made_for_is_no_patch(text: str) -> None:
    assert _found(text) == []


def test_a_patch_that_the_base_has_is_not_new_and_other_files_are_not_read() -> None:
    text = "import time\ntime.time = print\n"
    assert _found(text, base=text) == []
    assert _found(text, path="a.txt") == []
