"""Resources of MCP servers that a message names by `@server:uri`, beside files; and what a begun name could become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.app.sessions.mentions import Notes, as_mention, fitting, notes_of
from agentforge.safety.text.boundary import wrap
from agentforge.tools.base import ToolError

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat
    from agentforge.app.sessions.services import Workshop
    from agentforge.tools.mcp.servers import Servers


def mentioned(chat: Chat, text: str) -> Notes:
    """Read the files, folders and resources that a message names by @.

    Side effects: a server whose resource is named is started.
    """
    found = notes_of(text, chat.workshop.root, resource=Resources(chat.workshop).read)
    pasted = tuple(picture for name, picture in chat.pasted.items() if name in text)
    return replace(found, pictures=(*found.pictures, *pasted))


class Resources:
    """What the servers of a session offer to read. What was listed once is remembered until `forget`."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._listed: dict[str, list[str]] = {}

    def fitting(self, word: str) -> list[str]:
        """The mentions that a begun one (`@od`, `@odd:mem`) could become, as far as they are known without asking a server."""
        servers = self._servers
        begun = word.removeprefix("@").strip('"')
        if servers is None:
            return []
        server, colon, _ = begun.partition(":")
        if not colon:
            return [f"@{one.name}:" for one in servers.statuses() if one.name.startswith(begun)]
        return [as_mention(name) for name in fitting(self._listed.get(server, []), begun, most=20)]

    def wants(self, word: str) -> str:
        """The server that has to be asked before `fitting` knows more; "" = none."""
        server, colon, _ = word.removeprefix("@").strip('"').partition(":")
        return server if colon and server not in self._listed and self._knows(server) else ""

    def ask(self, server: str) -> None:
        """List what a server offers; nothing when it does not answer.

        Side effects: starts it.
        """
        try:
            found: Sequence[str] = self._servers.listing(server)["resources"] if self._servers is not None else ()
        except ToolError:  # /mcp says why
            found = ()
        self._listed[server] = [f"{server}:{row.partition(' (')[0]}" for row in found]

    def read(self, name: str) -> tuple[str, str] | None:
        """Read the resource `server:uri`.

        Returns:
            The note for the model, fenced as untrusted ("" = it could not be read), and the line for the person; None when no
            server is called so.
        """

        server, colon, uri = name.partition(":")
        servers = self._servers
        if servers is None or not colon or not uri or not self._knows(server):
            return None
        try:
            text = servers.read(server, uri).text
        except ToolError as error:
            return "", f"@{name}: cannot be read: {error.observation.summary}"
        fenced = wrap(text, nonce=self._workshop.nonce)
        return f'<resource server="{server}" uri="{uri}">\n{fenced}\n</resource>', f"@{name}: {len(text):,} characters"

    def _knows(self, server: str) -> bool:
        return self._servers is not None and server in {one.name for one in self._servers.statuses()}

    @property
    def _servers(self) -> Servers | None:
        return None if self._workshop.options.bare else self._workshop.shed.servers
