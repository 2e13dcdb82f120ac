from stopping import means_stop


def test_means_stop():
    assert means_stop(" Quit ") and not means_stop("go")
