from pathlib import Path


def test_the_environment_names_it(monkeypatch):
    from places import config_folder

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    assert config_folder("x") == Path("/c/x")


def test_by_default_it_is_in_the_home(monkeypatch):
    from places import config_folder

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    assert config_folder("x") == Path("/home/ann/.config/x")


def test_windows(monkeypatch):
    from places import config_folder

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("APPDATA", "/a")
    assert config_folder("x") == Path("/a/x")
