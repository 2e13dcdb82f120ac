"""Drawing."""

from drawing.heavy import render

__all__ = ["render"]
