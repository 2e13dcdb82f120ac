"""The tool web_fetch: the text of one page of the public web."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from agentforge.toolbox._arguments import number, text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, count_to, failed, takes
from agentforge.tools.web.fetch import FetchFailed, WebPage, fetch, text_of_html

_TIMEOUT_S = 20
_LONGEST_TIMEOUT_S = 60


def _run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
    timeout_s = number(arguments, "timeout", default=_TIMEOUT_S)
    try:
        return read_page(fetch(text(arguments, "url"), timeout_s=timeout_s))
    except FetchFailed as exc:
        retry = exc.kind not in ("refused-address", "bad-arguments")
        raise ToolError(failed(f"not fetched: {exc}", error_type=exc.kind, retryable=retry)) from exc


def read_page(page: WebPage) -> Observation:
    """What a model reads of a page: its text, or why there is none."""
    if page.elsewhere:
        return Observation(
            status="success",
            summary=f"{page.url} leads to another host, which was not asked",
            text=f"Redirect to {page.elsewhere}",
            next_actions=(f"web_fetch {page.elsewhere}",),
        )
    if not _is_text(page):
        raise ToolError(
            failed(f"{page.url} is {page.content_type or 'no text'}, not text", error_type="binary", retryable=False)
        )
    content = _text_of(page)
    cut = "; longer than what was read" if page.cut else ""
    if page.status >= 400:
        return failed(f"HTTP {page.status} from {page.url}", error_type="http-status", text=content[:2000])
    return Observation(status="success", summary=f"{page.url}: {len(content):,} characters{cut}", text=content)


def _is_text(page: WebPage) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    named = kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml", "toml"))
    return (named or not kind) and b"\0" not in page.body[:4096]


def _text_of(page: WebPage) -> str:
    raw = page.body.decode(_charset(page.content_type), "replace")
    if "html" not in page.content_type.lower():
        return raw

    return text_of_html(raw, url=page.url)


def _charset(content_type: str) -> str:
    from email.message import Message

    header = Message()
    header["Content-Type"] = content_type or "text/plain"
    name = header.get_content_charset() or "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:  # a charset that nobody knows
        return "utf-8"


TOOL = Tool(
    name="web_fetch",
    description="Text of a public web page.",
    parameters=takes("url", url=TEXT, timeout=count_to(_LONGEST_TIMEOUT_S)),
    effect="network",
    url=lambda arguments: text(arguments, "url"),
    run=_run,
)
