"""No secret reaches a file of ours: twenty kinds are planted everywhere, then every byte that was written is searched."""

from __future__ import annotations

import json
import random
import string
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import world as w

if TYPE_CHECKING:
    from tests.support.world import World

_RNG = random.Random(20)
_MIXED = string.ascii_letters + string.digits


def _some(count: int, signs: str = _MIXED) -> str:
    return "".join(_RNG.choice(signs) for _ in range(count - 2)) + "7" + "b"


_HEX = "0123456789abcdef"
SECRETS = {
    "anthropic": "sk-" + "ant-api03-" + _some(40),
    "openai": "sk-" + "proj-" + _some(40),
    "openrouter": "sk-" + "or-v1-" + _some(48),
    "github": "gh" + "p_" + _some(36),
    "github fine-grained": "github" + "_pat_" + _some(22) + "_" + _some(59),
    "gitlab": "gl" + "pat-" + _some(24),
    "slack": "xo" + "xb-1" + _some(40, string.digits) + "-" + _some(24),
    "aws id": "AK" + "IA" + _some(14, "ABCDEFGHJKLMNPQRSTUVWXYZ").upper().replace("7", "3") + "QZ",
    "google": "AI" + "za" + _some(35),
    "stripe": "sk_" + "live_" + _some(28),
    "npm": "np" + "m_" + _some(36),
    "pypi": "py" + "pi-AgE" + _some(60),
    "huggingface": "h" + "f_" + "".join(_RNG.choice(string.ascii_letters) for _ in range(34)),
    "sendgrid": "S" + "G." + _some(22) + "." + _some(43),
    "shopify": "shp" + "at_" + _some(32, _HEX),
    "digitalocean": "do" + "p_v1_" + _some(64, _HEX),
    "databricks": "da" + "pi" + _some(32, _HEX),
    "vault": "hv" + "s." + _some(30),
    "jwt": "ey" + "J" + _some(20) + ".ey" + "J" + _some(30) + "." + _some(40),
    "url password": "Tr0ub4dor-" + _some(8),
    "variable": "Xq9" + _some(21),
}
_SHOWN = "\n".join(
    f"postgres://app:{value}@db.example.org/x" if kind == "url password" else value
    for kind, value in SECRETS.items()
    if kind != "variable"
)
_LISTED = _SHOWN.replace("\n", " ")
_TEXTKIT = w.TEXTKIT.replace(
    "    return text.lower()\n", '    return text.lower()\n\n\n_KEYS = """\n' + _SHOWN + '\n"""\n'
)
_OLD_TEST = (
    w.TEST_TEXTKIT
    + f"""

def test_it_tells_too_much():
    print({_SHOWN!r})
    assert {_LISTED!r} == ""
"""
)


def test_no_secret_is_in_any_file_that_a_run_writes(world: World, tmp_path: Path) -> None:
    (world.repo / "textkit.py").write_text(_TEXTKIT)
    (world.repo / "tests" / "test_textkit.py").write_text(_OLD_TEST)
    world.commit_all("secrets of the user's own")
    script = w.good_script(
        analyze=[
            w.reply(("read_file", {"path": "textkit.py"}), text=_SHOWN),
            w.reply(("shell", {"command": "cat textkit.py; echo $SERVICE_TOKEN"})),
            w.reply(w.submit(w.analysis(summary=_LISTED))),
        ],
        spec=[w.reply(("ask_human", {"question": _LISTED})), *w.good_script()["spec"]],
        green=[
            w.reply(("run_tests", {"tests": ["tests/test_textkit.py"]})),
            w.reply(w.edit('_KEYS = """\n', f'{w.SLUGIFY.strip()}\n\n\n_KEYS = """\n'), w.IMPLEMENTED),
        ],
    )
    env = {"SERVICE_TOKEN": SECRETS["variable"]}
    asked = world.start(script, "--output-format", "json", request=f"{w.REQUEST}\n{_SHOWN}", env=env)
    assert asked.code == 3, asked.err
    answered = world.run("resolve", "E1", "--answer", _LISTED, env=env)
    assert answered.code == 0, answered.err
    done = world.run("resume", world.task, "--json", env=env)
    assert done.code == 0, done.err
    audits = [tmp_path / f"audit.{form}" for form in ("md", "html", "json")]
    for path in audits:
        assert world.run("audit", world.task, "-o", str(path)).code == 0
    ours = [*_files(world.repo / ".agentforge"), *_files(world.home / "af"), *audits]
    note = world.git("notes", "--ref=agentforge", "show", json.loads(done.out)["commit"])
    texts = {str(path): _content(path) for path in ours} | {
        "note": note.encode(),
        "output": (done.out + done.err).encode(),
    }
    leaks = _leaks(texts)
    assert not leaks, "\n".join(leaks)


def _files(folder: Path) -> Iterator[Path]:
    """Every file but those of the task's worktree, which are the user's own."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not (
            inside[:2] == ("data", "worktrees") and len(inside) > 4 and inside[3].startswith("task-")
        ):
            yield path


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return zlib.decompress(data) if path.suffix == ".z" else data


def _leaks(texts: dict[str, bytes]) -> list[str]:
    return [
        f"{kind} in {name}" for name, data in texts.items() for kind, value in SECRETS.items() if value.encode() in data
    ]
