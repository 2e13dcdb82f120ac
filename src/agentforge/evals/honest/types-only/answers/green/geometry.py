"""Rectangles."""


def area(width: float, height: float) -> float:
    """Give the area of a rectangle."""
    return width * height


def perimeter(width: float, height: float) -> float:
    """Give the length of a rectangle's border."""
    return 2 * (width + height)
