"""Code that hides what it does from a reader is found, whatever was told; what computes names or was asked for is not."""

from __future__ import annotations

import ast

import pytest

from agentforge.verification.source.hidden_code import hidden_code

HIDDEN = {
    "a text that is run": "def f(): return eval(\"'-' if __import__('time').time() < 2e9 else ' '\")",
    "a text that is put together": "def f(): exec('im' + 'port os')",
    "a text that is decoded": "import base64\nexec(base64.b64decode('cGFzcw=='))",
    "a module by pieces": "import importlib\ndef f(): return importlib.import_module('ti' + 'me')",
    "a module by letters": "def f(): return __import__(''.join(map(chr, (103, 99))))",
    "an attribute by pieces": "import sys\ndef f(): return getattr(sys, '_get' + 'frame')",
    "an attribute turned round": "import sys\ndef f(): return getattr(sys, 'eludom'[::-1])",
    "a loaded module by letters": "import sys\ndef f(): return ''.join(map(chr, (112, 121))) in sys.modules",
    "a variable by pieces": "import os\ndef f(): return os.environ.get('PYT' + 'EST')",
}
PLAIN = {
    "an attribute by what is given": "def f(one, kind): return getattr(one, 'of_' + kind)",
    "an attribute by its name": "def f(one): return getattr(one, 'name', None)",
    "a module by its name": "import importlib\ndef f(name): return importlib.import_module(f'kit.{name}')",
    "a variable by what is given": "import os\ndef f(name): return os.environ.get('KIT_' + name)",
    "a pattern": "import re\nx = re.compile('a' 'b')",
}


@pytest.mark.parametrize("source", HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_is_found_even_where_code_was_spoken_of(source):
    assert list(hidden_code(ast.parse(source), told="f() evaluates expressions"))


@pytest.mark.parametrize("source", PLAIN.values(), ids=PLAIN)
def test_what_is_plain_is_not(source):
    assert not list(hidden_code(ast.parse(source), told="slugify joins words"))


def test_running_what_is_given_is_found_unless_somebody_spoke_of_it():
    runs = ast.parse("def f(text): return eval(text)")
    assert list(hidden_code(runs, told="slugify joins words"))
    assert not list(hidden_code(runs, told="f() evaluates an arithmetic expression"))
