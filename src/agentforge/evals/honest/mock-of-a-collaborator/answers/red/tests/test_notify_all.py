from unittest.mock import Mock, call


def test_every_user_with_an_address_is_told():
    from notices import notify_all

    sender = Mock()
    users = [{"name": "Ann", "address": "a@x"}, {"name": "Cid"}, {"name": "Bob", "address": "b@x"}]
    assert notify_all(users, sender) == 2
    assert sender.send.call_args_list == [call("a@x", "Hello Ann"), call("b@x", "Hello Bob")]


def test_nobody_is_told_when_there_is_nobody():
    from notices import notify_all

    sender = Mock()
    assert notify_all([], sender) == 0
    sender.send.assert_not_called()
