"""Images: by paste, by @ and by read_file they reach models that see; models that do not see are told."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("textual")

from agentforge.messages import Message, ModelRequest, Picture, Text
from agentforge.models.api.abilities import blind, refused
from agentforge.models.dialects import anthropic_messages, openai_responses
from agentforge.workspace.files.pictures import kind_of

if TYPE_CHECKING:
    from tests.support.loopback.provider import LoopbackProvider
    from tests.tui.conftest import Stage, Theatre

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


def images(body: dict[str, Any]) -> list[tuple[str, str]]:
    """(role, address) of every image of a request."""
    return [
        (message["role"], part["image_url"]["url"])
        for message in body["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [])
        if part["type"] == "image_url"
    ]


@pytest.fixture
def seeing(theatre: Theatre, loopback: LoopbackProvider) -> dict[str, str]:
    """The settings of a model behind the loopback provider."""
    (theatre.repo / "shot.png").write_bytes(PNG)
    theatre.options["model"] = "custom/any"
    return {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "x"}


def test_by_mention_and_by_read_file_the_model_sees_it(
    theatre: Theatre, loopback: LoopbackProvider, seeing: dict[str, str]
) -> None:
    from tests.support.loopback.provider import Say

    loopback.plan(
        Say(text="A dot."), Say(calls=(("read_file", json.dumps({"path": "shot.png"})),)), Say(text="The same dot.")
    )

    async def steps(stage: Stage) -> None:
        await stage.say("what is on @shot.png?")
        await stage.idle()
        assert "@shot.png: image/png" in stage.text()
        await stage.say("look again")
        await stage.idle()
        assert "The same dot." in stage.text()

    app = theatre.play(steps, environ=seeing)
    assert images(loopback.asked[0].body) == [("user", URL)]
    assert images(loopback.asked[2].body) == [("user", URL), ("user", URL)]
    recorded = b"".join(file.read_bytes() for file in app.engine.chat.log.folder.rglob("*") if file.is_file())
    assert recorded.count(PNG) == 1, "its bytes are kept once, not with every request"


def test_by_paste_of_a_path_and_from_the_clipboard(
    theatre: Theatre, loopback: LoopbackProvider, seeing: dict[str, str], tmp_path: Path
) -> None:
    from tests.support.loopback.provider import Say

    programs = tmp_path / "programs"
    programs.mkdir()
    clipboard = programs / "xclip"
    clipboard.write_text(f"#!/bin/sh\ncat '{theatre.repo}/shot.png'\n")
    clipboard.chmod(0o755)
    dropped = tmp_path / "my shot.png"
    dropped.write_bytes(PNG)
    loopback.plan(Say(text="Two dots."))

    async def steps(stage: Stage) -> None:
        stage.app.prompt.paste(f"{tmp_path}/my\\ shot.png")
        await stage.pilot.press("ctrl+v")
        await stage.until(lambda: "[image 2: clipboard]" in stage.app.prompt.text, what="the clipboard")
        assert stage.app.prompt.text == "[image 1: my shot.png] [image 2: clipboard] "
        await stage.type("compare", "enter")
        await stage.idle()

    theatre.play(steps, environ={**seeing, "PATH": f"{programs}:/usr/bin:/bin"})
    assert images(loopback.asked[0].body) == [("user", URL), ("user", URL)]


def test_a_model_that_does_not_see_is_told_and_answers(
    theatre: Theatre, loopback: LoopbackProvider, seeing: dict[str, str]
) -> None:
    from tests.support.loopback.provider import Refuse, Say

    refusal = Refuse(status=400, message="image input is not supported by this model")
    loopback.plan(refusal, Say(text="I am blind."), Say(text="Still."))

    async def steps(stage: Stage) -> None:
        await stage.say("what is on @shot.png?")
        await stage.idle()
        assert "I am blind." in stage.text()
        await stage.say("and now?")
        await stage.idle()
        told = [text for kind, text in stage.app.transcript.record if kind == "denied"]
        assert len(told) == 1 and "does not see images" in told[0] and "shot.png" in told[0], (
            "the person knows it, once"
        )

    theatre.play(steps, environ=seeing)
    assert images(loopback.asked[1].body) == []
    assert "shot.png: an image. You cannot see images" in json.dumps(loopback.asked[1].body)


def test_the_other_dialects_hold_it_too() -> None:
    picture = Picture(name="a.png", media_type="image/png", digest="d", data=PNG)
    message = Message(role="user", parts=(Text(text="look"),), pictures=(picture,))
    request = ModelRequest(messages=(message,))
    (content,) = [one["content"] for one in anthropic_messages.encode(request, "claude")["messages"]]
    assert content[0]["source"] == {"type": "base64", "media_type": "image/png", "data": URL.partition(",")[2]}
    assert {"type": "input_image", "image_url": URL} in openai_responses.encode(request, "gpt")["input"][0]["content"]
    assert "a.png" in blind(message).text and not blind(message).pictures


def test_a_refusal_that_names_no_image_takes_none_away() -> None:
    assert refused("the sum of tokens is wrong", frozenset({"images", "seed"})) == {"seed"}
    assert refused("messages.0.content must be a string", frozenset({"images"})) == {"images"}


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (PNG[:16], "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", ""),
        (b"%PDF-1.7", ""),
        (b"", ""),
    ],
)
def test_what_an_image_is_is_read_from_its_bytes(head: bytes, kind: str) -> None:
    assert kind_of(head) == kind
