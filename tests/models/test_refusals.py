"""Proves models/refusals.py."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest

from agentforge import errors
from agentforge.models.dialects.refusals import back_off_s, error_for_status, retry_after_s


def body(message: str, **fields: object) -> str:
    """A provider's error body."""
    return json.dumps({"error": {"message": message, **fields}})


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, body("Incorrect API key"), errors.ModelAuthError),
        (403, "", errors.ModelAuthError),
        (404, body("no such model"), errors.ModelNotFound),
        (400, body("nope", code="context_length_exceeded"), errors.ContextTooLong),
        (400, body("prompt is too long: 210000 tokens > 200000 maximum"), errors.ContextTooLong),
        (400, body("This model's maximum context length is 8192 tokens."), errors.ContextTooLong),
        (413, body("whatever"), errors.ContextTooLong),
        (500, body("x", type="exceed_context_size_error"), errors.ContextTooLong),
        (400, body("temperature is wrong"), errors.ModelRequestRejected),
        (422, body("bad"), errors.ModelRequestRejected),
        (302, "", errors.ModelRequestRejected),
        (429, body("slow down"), errors.ModelRateLimited),
        (500, "", errors.ModelUnavailable),
        (503, "", errors.ModelUnavailable),
        (529, body("Overloaded"), errors.ModelUnavailable),
    ],
)
def test_a_status_stands_for_the_narrowest_error(status: int, text: str, kind: type[errors.ModelError]) -> None:
    assert type(error_for_status(status, text, model="p/m")) is kind


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (body("what went wrong"), "p/m rejected the request (400): what went wrong"),
        ('{"message": "flat"}', "p/m rejected the request (400): flat"),
        ('{"detail": [{"loc": "x"}]}', 'p/m rejected the request (400): [{"loc": "x"}]'),
        ("<html>\n  <b>bad</b></html>", "p/m rejected the request (400): <html> <b>bad</b></html>"),
        ("x" * 400, f"p/m rejected the request (400): {'x' * 300}..."),
        ("", "p/m rejected the request (400)"),
    ],
)
def test_the_providers_words_are_shown_in_bounds(text: str, shown: str) -> None:
    assert error_for_status(400, text, model="p/m").message == shown


def test_the_key_is_never_shown() -> None:
    error = error_for_status(401, body("the key sk-12345 is wrong"), model="p/m", secret="sk-12345")
    assert "sk-12345" not in str(error)
    assert "the key *** is wrong" in str(error)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-4", 0.0),
        ("3600", 60.0),
        ("inf", 60.0),
        ("nan", None),
        ("soon", None),
        ("", None),
        (formatdate(1_000_007, usegmt=True), 7.0),
        (formatdate(999_000, usegmt=True), 0.0),
        (formatdate(2_000_000, usegmt=True), 60.0),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_at_most_a_minute(value: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": value}, now=1_000_000.0) == seconds


def test_without_retry_after_the_wait_doubles_less_the_jitter() -> None:
    assert retry_after_s({}, now=0.0) is None
    assert [back_off_s(number, jitter=0.0) for number in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert back_off_s(2, jitter=1.0) == 1.0
    assert back_off_s(50, jitter=0.0) == 60.0


@pytest.mark.parametrize(
    ("status", "said", "hint"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", "calls no tools"),
        (404, "No endpoints found that support tool use", "calls no tools"),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "calls no tools",
        ),
        (500, "tools param requires --jinja flag", "calls no tools"),
        (400, "streaming is not supported by this model", "whole replies"),
    ],
)
def test_a_model_without_tools_or_without_streaming_is_told_as_such(status: int, said: str, hint: str) -> None:
    error = error_for_status(status, json.dumps({"error": {"message": said}}), model="custom/m")
    assert isinstance(error, errors.ModelRequestRejected) and said in error.message and hint in error.hint
