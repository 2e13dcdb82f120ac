"""Plugins and their results."""

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)


def run_all(plugins: dict[str, Callable[[], object]]) -> dict[str, object]:
    """Run every plugin and give the results by name."""
    return {name: plugin() for name, plugin in plugins.items()}
