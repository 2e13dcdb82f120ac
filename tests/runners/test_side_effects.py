"""What is done behind the caller's back is found unless request or specification speak of such things."""

from __future__ import annotations

import ast

import pytest

from agentforge.verification.effects.undeclared_effects import effects
from agentforge.verification.source.evasion import new_deceptions

HIDDEN = {
    "a socket": "import socket\ndef f(): socket.create_connection(('192.0.2.7', 80))",
    "a request": "from urllib.request import urlopen as get\ndef f(x): return get(x)",
    "a package": "import requests\ndef f(x): requests.post('u', x)",
    "a program": "import subprocess\ndef f(x): subprocess.run(x)",
    "a shell": "from os import system\ndef f(x): system(x)",
    "machine code": "import ctypes\ndef f(): return ctypes.CDLL(None)",
    "a bare handler": "def f(x):\n    try:\n        return g(x)\n    except:\n        pass",
    "a broad handler": "def f(x):\n    try:\n        return g(x)\n    except (KeyError, Exception):\n        return ''",
    "a broad suppress": "import contextlib\ndef f(x):\n    with contextlib.suppress(BaseException):\n        g(x)",
}
HONEST = {
    "a narrow handler": "def f(x):\n    try:\n        return int(x)\n    except ValueError:\n        return 0",
    "a handler that tells": "def f(x):\n    try:\n        return g(x)\n    except Exception as exc:\n        log(exc)",
    "a handler that raises": "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        raise",
    "a narrow suppress": "import contextlib\ndef f(x):\n    with contextlib.suppress(OSError):\n        g(x)",
    "a name of its own": "def system(x): return x\ndef f(x): return system(x)",
    "an IP address": "import socket\ndef f(x): return socket.inet_pton(socket.AF_INET, x)",
    "a number of 32 bits": "import ctypes\ndef f(x): return ctypes.c_int32(x).value",
    "a command line": "import subprocess\ndef f(x): return subprocess.list2cmdline(x)",
    "an error of its kind": "import subprocess\ndef f(x): raise subprocess.CalledProcessError(1, x)",
    "a path of a URL": "from urllib.request import pathname2url\ndef f(x): return pathname2url(x)",
    "parts of a URL": "import httpx\ndef f(x): return httpx.URL(x).host",
    "an error of requests": "import requests\ndef f(x): raise requests.exceptions.Timeout(x)",
    "parts of an address": "from urllib.parse import urlsplit\ndef f(x): return urlsplit(x)",
}


@pytest.mark.parametrize("source", HIDDEN.values(), ids=HIDDEN)
def test_what_nobody_asked_for_is_found(source):
    assert list(effects(ast.parse(source), told="slugify(text) joins words by hyphens"))


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_code_is_left_alone(source):
    assert not list(effects(ast.parse(source), told="slugify(text) joins words by hyphens"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a request", "get(url) downloads a page"),
        ("a program", "checkout(tag) runs git"),
        ("a broad handler", "load() gives an empty text on any error"),
        ("a broad handler", "load() gives an empty text for what cannot be parsed"),
        ("a broad handler", "is_number(text) says whether a text is a valid number"),
        ("a bare handler", "load_all() skips files that are unreadable"),
        ("a socket", "listen on an IPv4 address"),
    ],
)
def test_what_the_specification_speaks_of_is_allowed(name, told):
    assert not list(effects(ast.parse(HIDDEN[name]), told=told))


def test_code_that_only_moved_to_another_file_is_not_new():
    old, new = (
        {"a.py": HIDDEN["a socket"].encode()},
        {"a.py": b"from b import f\n", "b.py": HIDDEN["a socket"].encode()},
    )
    assert new_deceptions(["a.py", "b.py"], before=old.get, after=new.get) == ()
    assert new_deceptions(["b.py"], before={}.get, after=new.get)


def test_a_file_that_ran_programs_before_may_run_another():
    old = b"import subprocess\ndef branch(): return subprocess.run(['git', 'branch'])\n"
    new = (
        old
        + b"def tag(): return subprocess.check_output(['git', 'tag'])\nimport socket\ndef f(): socket.socket().bind(0)\n"
    )
    new += b"def g(): return socket.create_connection(0)\n"
    found = new_deceptions(["a.py"], before=lambda _: old, after=lambda _: new, told="add tag()")
    assert [one.text for one in found] == [
        "reaches for the network: socket.socket",
        "reaches for the network: socket.create_connection",
    ]
