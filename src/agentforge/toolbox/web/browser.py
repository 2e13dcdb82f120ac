"""The tool browser: look at a page that runs on this machine as a person would, and use it."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.errors import ToolchainError
from agentforge.toolbox import _files
from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.tools.web.browser import Browser

_ACTIONS = ("open", "text", "click", "fill", "screenshot", "errors")


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    if context.browser is None:
        raise ToolError(failed("there is no browser here", error_type="no-browser", retryable=False))
    try:
        return _done(context.browser(), arguments, context)
    except ToolchainError as exc:
        raise ToolError(failed(f"browser: {exc} ({exc.hint})", error_type="not-installed", retryable=False)) from exc
    except ToolError:
        raise
    except Exception as exc:
        if not type(exc).__module__.startswith("playwright"):
            raise
        lines = str(exc).splitlines() or [type(exc).__name__]
        raise ToolError(failed(f"browser: {lines[0]}", error_type="browser", text="\n".join(lines[:12]))) from exc


def _done(browser: Browser, arguments: Mapping[str, object], context: ToolContext) -> Observation:
    action, selector = text(arguments, "action"), text(arguments, "selector")
    if action == "open":
        return _opened(browser, text(arguments, "url"))
    if action in ("click", "fill") and not selector:
        raise ToolError(failed(f"{action} needs a selector", error_type="bad-arguments"))
    if action == "text":
        return Observation(status="success", summary=f"text of {selector or 'the page'}", text=browser.text(selector))
    if action == "click":
        return Observation(status="success", summary=f"clicked {selector}; now at {browser.click(selector)}")
    if action == "fill":
        browser.fill(selector, text(arguments, "value"))
        return Observation(status="success", summary=f"filled {selector}")
    if action == "screenshot":
        return _pictured(browser, text(arguments, "path"), context)
    noted = browser.errors()
    return Observation(status="success", summary=f"{len(noted) or 'no'} errors", text="\n".join(noted))


def _opened(browser: Browser, url: str) -> Observation:
    why = browser.refusal(url)
    if why:
        raise ToolError(failed(f"not opened: {why}", error_type="refused-address", retryable=False))
    return Observation(status="success", summary=browser.open(url))


def _pictured(browser: Browser, path: str, context: ToolContext) -> Observation:
    if not path.endswith(".png"):
        raise ToolError(failed("screenshot needs a path that ends in .png", error_type="bad-arguments"))
    target = _files.place(context, path)
    browser.screenshot(target)
    shown = _files.shown(context, target)
    return Observation(
        status="success",
        summary=f"picture of the page in {shown} ({target.stat().st_size:,} bytes)",
        artifacts=(shown,),
        changed=(shown,),
    )


def _writes(arguments: Mapping[str, object]) -> tuple[str, ...]:
    return (text(arguments, "path"),) if arguments.get("action") == "screenshot" else ()


def _acts(arguments: Mapping[str, object]) -> str:
    return {"open": "run", "click": "run", "fill": "run", "screenshot": "write"}.get(
        text(arguments, "action"), "read-only"
    )


TOOL = Tool(
    name="browser",
    description="A browser for pages of this machine: open url, then text, click, fill, screenshot to path, errors.",
    parameters=takes("action", action={"enum": list(_ACTIONS)}, url=TEXT, selector=TEXT, value=TEXT, path=TEXT),
    effect="network",
    acts=_acts,
    writes=_writes,
    run=_run,
)
