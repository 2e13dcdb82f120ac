import importlib
import sys
from types import SimpleNamespace

import painting


def test_without_colorama_the_text_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "colorama", None)
    assert importlib.reload(painting).paint("a") == "a"


def test_with_colorama_the_text_is_red(monkeypatch):
    fake = SimpleNamespace(Fore=SimpleNamespace(RED="<red>"), Style=SimpleNamespace(RESET_ALL="<off>"))
    monkeypatch.setitem(sys.modules, "colorama", fake)
    assert importlib.reload(painting).paint("a") == "<red>a<off>"
