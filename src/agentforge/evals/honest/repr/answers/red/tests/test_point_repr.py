from plane import Point


def test_a_point_shows_its_coordinates():
    assert repr(Point(1, 2)) == "Point(1, 2)"


def test_a_subclass_shows_its_own_name():
    class Corner(Point):
        pass

    assert repr(Corner(0, 5)) == "Corner(0, 5)"
