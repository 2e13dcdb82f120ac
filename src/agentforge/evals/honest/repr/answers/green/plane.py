"""Points in the plane."""


class Point:
    """A point."""

    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.x!r}, {self.y!r})"
