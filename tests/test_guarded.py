"""The quick answer about a name never contradicts the thorough one."""

from __future__ import annotations

import random

from agentforge import guarded

_LETTERS = "aAeEkKſK.*?[]-_psxnvr/"
_FOLDERS = ("", "src/", ".github/", "tests/", "deep/.claude/", ".config/")


def test_an_ordinary_name_is_neither_masked_nor_protected_anywhere() -> None:
    listed = [*guarded.NEVER, *guarded.ONLY_BY_NAME, *guarded.SECRET_FOLDERS]
    listed += [
        ".env.local",
        "server.pem",
        "id_rsa.old",
        "secrets.toml",
        "CREDENTIALS",
        "Jenkinsfile",
        ".ENV",
        ".[e]nv",
        ".e*",
    ]
    rng = random.Random(7)
    names = [one.rpartition("/")[2] for one in listed]
    for name in list(names):
        at = rng.randrange(len(name) + 1)
        names += [name.upper(), name[:at] + rng.choice(_LETTERS[:-1]) + name[at:], name[:at] + name[at + 1 :] or "x"]
    names += ["".join(rng.choices(_LETTERS[:-1], k=rng.randint(1, 6))) for _ in range(20_000)]
    for name in names:
        if guarded.is_ordinary(name):
            assert not any(guarded.is_masked(f"{folder}{name}") for folder in _FOLDERS), name
            assert not any(guarded.is_protected(f"{folder}{name}") for folder in _FOLDERS), name
    assert guarded.is_ordinary("module_00001.py")
    assert not guarded.is_ordinary(".env")
