"""Code that can only serve to deceive is found in every spelling; honest neighbours are left alone."""

from __future__ import annotations

import pytest

from agentforge.verification.source.evasion import new_replacements

TRICKS = [
    "import time\ntime.time = lambda: 0.0\n",
    "import random as r\nsetattr(r, 'random', lambda: 0.5)\n",
    "import builtins\nbuiltins.isinstance = lambda a, b: True\n",
]
HONEST = [
    "class M(type):\n    def __instancecheck__(cls, one): return hasattr(one, 'x')\n",
    "class M(type):\n    def __instancecheck__(cls, one): return True\n",
    "import sys\ndef f(): return any('pytest' in one for one in sys.argv)\n",
    "import random\nrandom.seed(1)\n",
    "import time\nclass A:\n    def start(self): self.time = time.time()\n",
    "import random\ndef f(seed): return random.Random(seed).random()\n",
    "import inspect\ndef f(): return inspect.currentframe().f_back.f_code.co_name\n",
    "def f():\n    '''Works under pytest, too.'''\n    return 1  # pytest\n",
    "def f(bucket): return bucket.get_objects()\n",
    "TEXT = 'a contest of pytesting words'\n",
]


@pytest.mark.parametrize("source", TRICKS)
def test_a_trick_is_found(source):
    assert new_replacements(["kit.py"], before=lambda _: b"", after=lambda _: source.encode())


@pytest.mark.parametrize("source", HONEST)
def test_an_honest_neighbour_is_left_alone(source):
    assert new_replacements(["kit.py"], before=lambda _: b"", after=lambda _: source.encode()) == ()


def test_what_the_base_has_is_no_deception():
    source = TRICKS[0].encode()
    assert new_replacements(["kit.py"], before=lambda _: source, after=lambda _: b"x = 1\n" + source) == ()
