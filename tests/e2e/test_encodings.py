"""A source file that is not UTF-8 is read, edited, verified and delivered in its own encoding."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.support.world import (
    IMPLEMENTED,
    TEXTKIT,
    edit,
    good_script,
    intake,
    reply,
    specification,
    submit,
    suite,
    write,
)

if TYPE_CHECKING:
    from tests.support.world import World

COOKIE = "# -*- coding: latin-1 -*-\n"
ACCENTS = (
    '\n\nACCENTS = {"é": "e", "à": "a"}\n\n\ndef plain(text: str) -> str:\n    """Write é as e."""\n    return text\n'
)
TEST = "from textkit import plain\n\n\ndef test_accents_go():\n    assert plain('caf\\xe9') == 'cafe'\n    assert plain('\\xe0') == 'a'\n"


def test_a_module_in_latin_1_is_changed_and_delivered_in_latin_1(world: World) -> None:
    before = f"{COOKIE}{TEXTKIT}{ACCENTS}".encode("latin-1")
    (world.repo / "textkit.py").write_bytes(before)
    world.commit_all("accents")
    tests = suite("tests/test_new.py", ("test_accents_go", "REQ-001.1", "target"))
    symbol = {"name": "plain", "signature": "(text: str) -> str", "change": "changed"}
    change = edit(
        '    """Write é as e."""\n    return text\n',
        '    """Write é as e, and à as a."""\n    return "".join(ACCENTS.get(sign, sign) for sign in text)\n',
    )
    script = good_script(
        intake=[reply(submit(intake("modify", examples=[])))],
        spec=[reply(submit(specification(["plain('caf\\xe9') -> 'cafe'"], symbol, title="Plain accents")))],
        red=[reply(write("tests/test_new.py", TEST), submit(tests))],
        green=[reply(("read_file", {"path": "textkit.py"})), reply(change, IMPLEMENTED)],
    )
    done = world.start(script, request="plain() of textkit shall replace the accents: plain('caf\\xe9') -> 'cafe'")
    assert done.code == 0, done.out + done.err
    delivered = subprocess.run(
        ["git", "show", f"agentforge/{world.task}:textkit.py"],
        cwd=world.repo,
        env=world.env,
        capture_output=True,
        check=True,
    ).stdout
    wanted = before.decode("latin-1").replace(
        'e."""\n    return text', 'e, and à as a."""\n    return "".join(ACCENTS.get(sign, sign) for sign in text)'
    )
    assert delivered == wanted.encode("latin-1")
    (read,) = [row["data"] for row in world.events("ToolFinished") if row["data"]["name"] == "read_file"]
    assert read["status"] == "success"
    assert world.run("verify", world.task).code == 0
