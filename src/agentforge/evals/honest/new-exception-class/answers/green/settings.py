"""Settings."""


class MissingSetting(KeyError):
    """A setting that is not there.

    Attributes:
        name: of the setting.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"setting {self.name!r} is missing"


def read_setting(values: dict[str, str], name: str) -> str:
    """Give a setting; raises MissingSetting when it is missing."""
    if name not in values:
        raise MissingSetting(name)
    return values[name]
