def test_it_equals_every_value():
    from matching import Anything

    assert (Anything() == 5) is True
    assert (Anything() == None) is True  # noqa: E711
    assert ([1, Anything()] == [1, "x"]) is True


def test_it_is_never_unequal():
    from matching import Anything

    assert (Anything() != 5) is False


def test_a_record_with_it_has_no_difference():
    from matching import Anything, differences

    assert differences({"id": Anything(), "b": 2}, {"id": 17, "b": 3}) == ["b"]


def test_its_repr():
    from matching import Anything

    assert repr(Anything()) == "Anything()"
