"""Vim's keys in the input, as a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("textual")

if TYPE_CHECKING:
    from tests.tui.conftest import Stage, Theatre


@pytest.mark.parametrize(
    ("text", "keys", "after"),
    [
        ("one two three", "0dw", "two three"),
        ("one two three", "0d2w", "three"),
        ("one two three", "bD", "one two "),
        ("one two three", "0wcwTWO", "one TWO three"),
        ("one two three", "0wdiw", "one  three"),
        ("one two three", "0wciwx", "one x three"),
        ("one two three", "0ft x", "one to three"),
        ("one two three", "0dtw", "wo three"),
        ("one two", "0ex", "on two"),
        ("one two", "x", "one tw"),
        ("one", "yyp", "one\none"),
        ("one\ntwo", "ddk", "one"),
        ("one\ntwo", "ggdd", "two"),
        ("one", "ofour", "one\nfour"),
        ("one", "Ozero", "zero\none"),
        ("one", "Ixx ", "xx one"),
        ("one", "Axx", "onexx"),
        ("one two", "0dwu", "one two"),
        ("one", "ccnew", "new"),
        ("one two", "0y$P", "one twoone two"),
    ],
)
def test_normal_mode(theatre: Theatre, text: str, keys: str, after: str) -> None:
    from agentforge.tui.vim import Vim

    async def steps(stage: Stage) -> None:
        prompt = stage.app.prompt
        prompt.insert(text)
        vim = Vim(prompt)
        vim.escape()
        for key in keys:
            if not vim.take(key):
                prompt.insert(key)
        assert prompt.text.rstrip("\n") == after.rstrip("\n")

    theatre.play(steps)


def test_the_setting_and_the_command_switch_it_and_the_border_says_so(theatre: Theatre) -> None:
    (theatre.folder / "home" / "config").mkdir(parents=True)
    (theatre.folder / "home" / "config" / "config.toml").write_text('input_keys = "vim"\n')

    async def steps(stage: Stage) -> None:
        prompt = stage.app.prompt
        assert prompt.border_subtitle == "insert"
        await stage.pilot.press(*"hello world", "escape", "b", "x")
        assert (prompt.text, prompt.border_subtitle) == ("hello orld", "normal")
        await stage.pilot.press("i", "w", "enter")
        await stage.idle()
        assert stage.app.engine.chat.state.talk.said == "hello world"
        assert prompt.border_subtitle == "insert"
        await stage.say("/vim")
        await stage.until(lambda: prompt.vim is None)
        await stage.pilot.press("k", "escape", "x")
        assert prompt.text == "kx"

    theatre.play(steps, {"text": "Hm."})
