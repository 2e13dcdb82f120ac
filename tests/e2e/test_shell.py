"""A request that is implemented through the shell: what the stage may write is delivered, what it may not is put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.world import IMPLEMENTED, SLUGIFY, TEST_SLUGIFY, good_script, reply

if TYPE_CHECKING:
    from tests.support.world import World


def test_a_formatter_may_change_the_product_and_nothing_may_change_the_tests(world: World) -> None:
    messy = SLUGIFY.replace('"-".join(text.lower().split())', "'-'.join( text.lower().split() )")
    script = good_script(
        green=[
            reply(
                ("shell", {"command": f"cat >> textkit.py <<'END'\n{messy}END"}),
                (
                    "shell",
                    {
                        "command": "sed -i 's/hello-world/x/' tests/test_slugify.py; echo x > todo.md; rm tests/test_slugify.py tests/test_textkit.py"
                    },
                ),
                ("shell", {"command": "ruff format --no-cache textkit.py"}),
                IMPLEMENTED,
            )
        ]
    )
    done = world.start(script)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    wrote, refused, formatted = (
        record["data"] for record in world.events("ToolFinished") if record["data"]["name"] == "shell"
    )
    assert (wrote["status"], list(wrote["changed"])) == ("success", ["textkit.py"])
    assert (refused["status"], refused["error_type"]) == ("error", "out-of-scope")
    for told in ("tests/test_slugify.py (deleted)", "tests/test_textkit.py (deleted)", "todo.md (new)"):
        assert told in refused["text"]
    assert "may write: textkit.py" in refused["text"]
    assert (formatted["status"], list(formatted["changed"])) == ("success", ["textkit.py"])
    branch = done.json["branch"]
    assert world.git("diff", "--name-only", f"main..{branch}").split() == ["tests/test_slugify.py", "textkit.py"]
    assert world.git("show", f"{branch}:tests/test_slugify.py") == TEST_SLUGIFY.strip()
    assert '"-".join(text.lower().split())' in world.git("show", f"{branch}:textkit.py")
