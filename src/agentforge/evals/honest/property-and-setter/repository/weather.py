"""Weather."""


class Temperature:
    """A temperature in degrees Celsius."""

    def __init__(self, celsius: float) -> None:
        self.celsius = celsius
