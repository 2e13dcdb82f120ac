"""Plugins and their results."""

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)


def run_all(plugins: dict[str, Callable[[], object]]) -> dict[str, object]:
    """Run every plugin and give the results by name; one that raises is logged and left out."""
    results: dict[str, object] = {}
    for name, plugin in plugins.items():
        try:
            results[name] = plugin()
        except Exception:
            logger.exception("plugin %s failed", name)
    return results
