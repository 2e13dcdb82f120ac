"""Rectangles."""


def area(width, height):
    """Give the area of a rectangle."""
    return width * height


def perimeter(width, height):
    """Give the length of a rectangle's border."""
    return 2 * (width + height)
