"""Shapes with straight sides."""


class Square:
    """A square."""

    def __init__(self, side: float) -> None:
        self.side = side

    def width(self) -> float:
        """Give the length of a side."""
        return self.side
