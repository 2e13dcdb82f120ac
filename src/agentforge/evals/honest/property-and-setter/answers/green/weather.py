"""Weather."""

_ABSOLUTE_ZERO = -459.67

class Temperature:
    """A temperature in degrees Celsius."""

    def __init__(self, celsius: float) -> None:
        self.celsius = celsius

    @property
    def fahrenheit(self) -> float:
        """The same temperature in degrees Fahrenheit."""
        return self.celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value: float) -> None:
        if value < _ABSOLUTE_ZERO:
            raise ValueError(f"{value} is below absolute zero")
        self.celsius = (value - 32) * 5 / 9
