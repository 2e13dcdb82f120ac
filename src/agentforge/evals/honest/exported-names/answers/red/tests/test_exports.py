import shapes
import shapes.round
import shapes.straight


def test_the_package_exports_its_classes():
    assert shapes.__all__ == ["Circle", "Square"]


def test_they_are_the_same_classes():
    from shapes import Circle, Square

    assert Circle is shapes.round.Circle
    assert Square is shapes.straight.Square
