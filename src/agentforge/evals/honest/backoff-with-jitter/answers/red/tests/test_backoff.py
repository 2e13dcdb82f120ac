import random


class Upper:
    def __init__(self):
        self.bounds = []

    def uniform(self, low, high):
        self.bounds.append((low, high))
        return high


def test_the_bound_doubles_up_to_the_limit():
    from retrying import backoff

    rng = Upper()
    assert [backoff(number, rng=rng) for number in (0, 3, 10)] == [0.5, 4.0, 30.0]
    assert rng.bounds == [(0, 0.5), (0, 4.0), (0, 30.0)]


def test_base_and_limit_can_be_given():
    from retrying import backoff

    assert backoff(1, base=2, rng=Upper()) == 4
    assert backoff(9, base=2, limit=5, rng=Upper()) == 5


def test_it_is_drawn_by_chance():
    from retrying import backoff

    drawn = backoff(2, rng=random.Random(7))
    assert drawn == random.Random(7).uniform(0, 2.0)
    assert 0 <= backoff(2) <= 2
