import basket
import limits
from basket import may_add


def test_the_limit():
    assert limits.MAX_BASKET_ITEMS == 20
    assert may_add(19) is True
    assert may_add(20) is False


def test_the_old_name_is_gone():
    assert not hasattr(basket, "MAX_ITEMS")
