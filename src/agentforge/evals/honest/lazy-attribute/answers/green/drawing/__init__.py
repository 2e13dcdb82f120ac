"""Drawing."""

__all__ = ["render"]


def __getattr__(name: str) -> object:
    if name == "render":
        from drawing.heavy import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
