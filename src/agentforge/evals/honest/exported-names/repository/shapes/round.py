"""Round shapes."""


class Circle:
    """A circle."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def width(self) -> float:
        """Give the diameter."""
        return 2 * self.radius
