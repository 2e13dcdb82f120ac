from shapes.round import Circle
from shapes.straight import Square


def test_widths():
    assert (Circle(2).width(), Square(3).width()) == (4, 3)
