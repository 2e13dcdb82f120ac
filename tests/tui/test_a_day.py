"""Proves what a day's work on the screen needs beside its keys: thinking in sight, words that were cut off, plans, resuming."""

from __future__ import annotations

from agentforge_loopback import LoopbackProvider, Say

from .conftest import Stage, Theatre


def test_thinking_is_seen_while_it_comes_and_is_one_line_afterwards(
    theatre: Theatre, loopback: LoopbackProvider
) -> None:
    loopback.plan(Say(thinking="I weigh it. " * 300 + "Now I know.", text="Fine.", pieces=9, pause_s=0.005))
    theatre.options["model"] = "custom/any"

    async def steps(stage: Stage) -> None:
        await stage.say("go")
        await stage.until(lambda: "● thinks" in stage.text() and stage.text().count("I weigh it.") > 6, what="thinking")
        await stage.idle()
        (row,) = stage.app.query(".thought")
        assert row.line.name == "thought" and row.output.endswith("Now I know.")
        assert stage.text().count("Fine.") == 1 and "Now I know." not in stage.text()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})


def test_what_was_said_until_it_was_stopped_reaches_the_model(theatre: Theatre, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(text="word " * 4000, pieces=5, pause_s=0.005), Say(text="Fine."))
    theatre.options["model"] = "custom/any"

    async def steps(stage: Stage) -> None:
        await stage.say("write a lot")
        await stage.until(lambda: "word word" in stage.text())
        await stage.pilot.press("escape")
        await stage.idle()
        await stage.say("why so many?")
        await stage.idle()

    theatre.play(steps, environ={"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"})
    messages = loopback.asked[-1].body["messages"]
    assert [one["role"] for one in messages[-4:]] == ["user", "assistant", "user", "user"]
    assert messages[-3]["content"].startswith("word word") and "interrupted" in str(messages[-2]["content"])
