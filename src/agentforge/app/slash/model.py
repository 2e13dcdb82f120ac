"""/model, /models, /provider, /fallbacks: who answers in this session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.app.sessions.chat import Chat
from agentforge.app.setup.first_choice import ModelSuggestion, offer_of, suggestions
from agentforge.app.slash.command import Choice, SlashCommand, SlashReply
from agentforge.config.model_choice import choose, keyless_fallbacks, named
from agentforge.errors import AgentForgeError, UsageError
from agentforge.models import LOCAL_PORTS, PROVIDERS

_PAGE_ROWS = 20
_SERVED = ("custom", *LOCAL_PORTS)
"""Providers that are a server of the person's own: what it has, it says itself."""


def _model(chat: Chat, rest: str) -> SlashReply:
    if rest == "list" or rest.startswith("list "):
        return _models(chat, rest.removeprefix("list").strip())
    if not rest:
        return _offered(chat)
    name = "/".join(named(rest, chat.workshop.environ, now=_provider_now(chat)))
    before = chat.workshop.setting("model")
    chat.change(model=name)
    try:
        chosen = chat.workshop.model().name
    except Exception:
        chat.change(model=before)
        raise
    return SlashReply(text=f"Model: `{chosen}`.", data={"model": chosen})


def _known(chat: Chat) -> tuple[ModelSuggestion, ...]:
    """The models of the provider that answers now; a server of the person's own is asked for them."""
    provider = _provider_now(chat)
    if provider not in _SERVED:
        return suggestions(provider)
    shop = chat.workshop
    try:
        spec = choose(shop.settings, shop.environ, flag=shop.setting("model") or chat.options.model or None)
        served = offer_of(spec.base_url, key=spec.api_key or "").names
    except AgentForgeError:  # what is wrong with the server is told where it is asked to answer
        return suggestions(provider)
    return tuple(ModelSuggestion(name=name) for name in served)


def _offered(chat: Chat) -> SlashReply:
    """The model that answers now, and those of its provider to choose from."""
    name = chat.workshop.model().name
    found = _known(chat)
    choices = tuple(
        Choice(
            value=one.name,
            label=one.name,
            about=f"{one.context_window or '?'} tokens, $ {_shown(one.usd_in)} in, {_shown(one.usd_out)} out per million"
            if one.context_window or one.usd_in is not None
            else "",
            current=name.endswith(f"/{one.name}") or name == one.name,
        )
        for one in found
    )
    return SlashReply(
        text=f"`{name}`",
        data={"model": name},
        action="choose" if choices else "",
        title=f"Which model? Now: {name}. Any PROVIDER/NAME can be typed.",
        choices=choices,
        then="/model",
        free=True,
    )


def _models(chat: Chat, rest: str) -> SlashReply:
    page, limit = _numbers(rest)
    provider = _provider_now(chat)
    found = _known(chat)
    if not found:
        return SlashReply(text=f"No list of models is known for {provider}; `/model NAME` takes any name.")
    shown = found[(page - 1) * limit : page * limit]
    if not shown:
        raise UsageError(f"there is no page {page}", hint=f"there are {-(-len(found) // limit)}")
    head = ["| model | context | $ in / out per million |", "| --- | --- | --- |"]
    rows = [
        f"| `{one.name}` | {one.context_window or '?'} | {_shown(one.usd_in)} / {_shown(one.usd_out)} |"
        for one in shown
    ]
    more = "" if page * limit >= len(found) else f"\n\n`/models --page {page + 1}` shows more of {len(found)}."
    return SlashReply(
        text="\n".join([*head, *rows]) + more, data={"provider": provider, "models": [one.name for one in shown]}
    )


def _provider(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        now = _provider_now(chat)
        return SlashReply(text=f"`{now}`; known: {', '.join(PROVIDERS)}", data={"provider": now})
    name, *others = rest.split()
    if name not in PROVIDERS:
        raise UsageError(f"there is no provider {name!r}", hint="one of " + ", ".join(PROVIDERS))
    url = next((word for word in others if "://" in word), "")
    model = next((word for word in others if "://" not in word), "") or PROVIDERS[name].name
    if not model:
        raise UsageError(f"{name}: which model?", hint=f"/provider {name} [url] MODEL")
    overrides: dict[str, object] = {"model.provider": name, "model.name": model, "model.base_url": url or None}
    chosen = _switched(chat, overrides, model=f"{name}/{model}")  # the model wins over --model, too
    return SlashReply(text=f"Model: `{chosen}`.", data={"provider": name, "model": chosen})


def _fallbacks(chat: Chat, rest: str) -> SlashReply:
    now = [str(name) for name in cast("list[object]", chat.workshop.settings.get("model.fallbacks") or [])]
    verb, *names = rest.split() if rest else [""]
    if verb == "add" and names:
        now += [name for name in names if name not in now]
    elif verb == "remove" and names:
        unknown = [name for name in names if name not in now]
        if unknown:
            raise UsageError(f"{unknown[0]} is not a fallback", hint=", ".join(now) or "there are none")
        now = [name for name in now if name not in names]
    elif verb == "clear" and not names:
        now = []
    elif verb == "set":
        now = names
    elif verb:
        raise UsageError(f"/fallbacks {rest}: not understood", hint="/fallbacks [add|remove|set NAME...] | clear")
    if verb:
        _switched(chat, {"model.fallbacks": now})
    text = "\n".join(f"{number}. `{name}`" for number, name in enumerate(now, 1)) or "No fallbacks."
    for name, key in keyless_fallbacks(chat.workshop.settings, chat.workshop.environ, now=_provider_now(chat)):
        text += f"\n\n`{name}` is left out: it has no key (set {key})."
    return SlashReply(text=text, data={"fallbacks": now})


def _switched(chat: Chat, overrides: Mapping[str, object], **changes: object) -> str:
    """Put settings on top and name the model that answers then; where none can, everything stays as it was."""
    before = dict(chat.state.talk.settings)
    _override(chat, overrides, **changes)
    try:
        return chat.workshop.model().name
    except Exception:
        chat.change(overrides=before.get("overrides") or {}, model=before.get("model") or "")
        chat.workshop.reload()
        raise


def _override(chat: Chat, values: Mapping[str, object], **changes: object) -> None:
    """Put settings on top for this session, durably."""
    before = cast("Mapping[str, object]", chat.state.talk.settings.get("overrides") or {})
    chat.change(overrides={**before, **values}, **changes)
    chat.workshop.reload()


def _provider_now(chat: Chat) -> str:
    return chat.workshop.model().name.partition("/")[0]


def _numbers(rest: str) -> tuple[int, int]:
    """Page and rows of "--page N --limit N".

    Raises:
        UsageError: something else, or no number greater than zero.
    """
    page, limit = 1, _PAGE_ROWS
    words = rest.split()
    for flag, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if flag not in ("--page", "--limit") or not value.isdigit() or int(value) < 1:
            raise UsageError(f"{flag} {value}: not understood", hint="/models [--page N] [--limit N]")
        page, limit = (int(value), limit) if flag == "--page" else (page, int(value))
    return page, limit


def _shown(price: float | None) -> str:
    return "?" if price is None else f"{price:g}"


COMMANDS = (
    SlashCommand(name="model", usage="[name|list]", summary="Show or change the model of this session.", run=_model),
    SlashCommand(
        name="models", usage="[--page N] [--limit N]", summary="List models of the current provider.", run=_models
    ),
    SlashCommand(
        name="provider",
        usage="[name] [url] [model]",
        summary="Show or switch the provider of this session.",
        run=_provider,
    ),
    SlashCommand(
        name="fallbacks",
        usage="[add|remove|set NAME...|clear]",
        summary="Show or edit the models that are asked when one fails.",
        run=_fallbacks,
    ),
)
