"""Names the tests of a source file without running it, in every language that can tell them."""

from __future__ import annotations

from collections.abc import Iterator

from agentforge.languages.catalogue import of_path
from agentforge.workspace.code.symbols import language_of, parse_tree


def named_tests(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name as the runner tells it, source text) of each test; nothing for a language that does not tell them.

    A title that is computed is left out.
    """
    language = of_path(path)
    if language is None or language.named_tests is None:
        return
    root = parse_tree(data.decode("utf-8", "replace"), language_of(path) or "")
    if root is not None:
        yield from language.named_tests(root)


def has_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests, those with a computed title included; False for a language that does not tell them."""
    language = of_path(path)
    if language is None or language.holds_tests is None:
        return any(True for _ in named_tests(path, data))
    root = parse_tree(data.decode("utf-8", "replace"), language_of(path) or "")
    return root is not None and language.holds_tests(root)
