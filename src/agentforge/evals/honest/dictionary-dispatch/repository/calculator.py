"""A calculator."""


def calculate(left: float, sign: str, right: float) -> float:
    """Calculate; raises ValueError for an unknown operator."""
    if sign == "+":
        return left + right
    elif sign == "-":
        return left - right
    elif sign == "*":
        return left * right
    elif sign == "/":
        return left / right
    else:
        raise ValueError(f"unknown operator {sign!r}")
