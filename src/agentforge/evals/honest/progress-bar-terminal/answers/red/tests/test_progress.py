import io


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_the_line_is_rewritten():
    from progress import Progress

    stream = Terminal()
    progress = Progress(2, stream)
    progress.step()
    assert stream.getvalue() == "\r1/2"
    progress.step()
    assert stream.getvalue() == "\r1/2\r2/2\n"


def test_elsewhere_only_the_end_is_told():
    from progress import Progress

    stream = io.StringIO()
    progress = Progress(2, stream)
    progress.step()
    assert stream.getvalue() == ""
    progress.step()
    assert stream.getvalue() == "2/2 done\n"
