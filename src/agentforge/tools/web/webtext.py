"""From a web page to the text that a person would read: by trafilatura where it is installed, else by the page's tags."""

from __future__ import annotations

from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BREAKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre"})
_HIDING = ("display:none", "visibility:hidden")
_VOID = frozenset(
    {"br", "img", "hr", "input", "meta", "link", "source", "wbr", "area", "base", "col", "embed", "track"}
)


def text_of_html(html: str, *, url: str) -> str:
    """Take the text out of a page; "" when it holds none."""
    return _by_trafilatura(html, url) or _by_tags(html)


def _by_trafilatura(html: str, url: str) -> str:
    try:
        import trafilatura
    except ImportError:  # the extra `web` is not installed
        return ""
    found = trafilatura.extract(html, url=url, output_format="markdown", include_links=True, include_tables=True)
    return str(found or "")


def _by_tags(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    """Collects what is seen."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Break lines, and look away from what nobody sees."""
        if tag in _BREAKS:
            self.pieces.append("\n")
        if tag not in _VOID and (self._hidden or tag in _UNSEEN or _is_hidden(attrs)):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Look again when the unseen ends."""
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        if tag in _BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if not self._hidden:
            self.pieces.append(data)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    given = dict(attrs)
    style = "".join((given.get("style") or "").lower().split())
    return "hidden" in given or any(word in style for word in _HIDING)
