"""What the packer shows when not everything fits: whole things, the important first, every gap named."""

from __future__ import annotations

from agentforge.context.packer import fill, law_tokens
from agentforge.context.sections import Level, Piece, View, Want, row_of, section_of, view_of, without_secrets

CODE = "".join(f"value_{number} = compute(other, {number})\n" for number in range(1, 401))
ABOVE = fill([], room=0)  # nothing stands above, and no page follows


def view(*wants: Want, path: str = "a.py", text: str = CODE) -> View:
    return view_of(path, text, wants, digest="d", names={50: "parse", 150: "Emitter"})


def shown(*sections: Piece | View, room: int = 2000) -> str:
    return fill(sections, room=room, above=ABOVE).text


def test_ranges_of_one_file_are_united_numbered_and_the_gap_names_what_it_holds() -> None:
    text = shown(view(Want(first=10, last=20), Want(first=15, last=25), Want(first=200, last=202)))
    assert text.count("## a.py") == 1
    assert text.count("value_17 = ") == 1
    assert " 25 value_25 = compute(other, 25)\n... 26-199: parse, Emitter ...\n200 value_200" in text


def test_a_gap_is_shown_where_naming_it_would_cost_more() -> None:
    text = shown(view(Want(first=1, last=3), Want(first=5, last=6), text="a\nb\nc\nd\ne\nf\n"))
    assert "4 d" in text and "..." not in text


def test_what_was_asked_for_is_cut_at_its_end_with_the_call_that_shows_the_rest() -> None:
    page = fill(
        [view(Want(first=101, last=400, level=Level.ASKED, why="the model asked for it"))], room=1000, above=ABOVE
    )
    last = max(page.shown["a.py"])
    call = f"read_file path=a.py offset={last + 1} limit={400 - last}"
    assert f"{last} value_{last}" in page.text and call in page.text
    assert list(page.shown["a.py"]) == list(range(101, last + 1))
    assert [(row.lines, row.level) for row in page.left] == [(f"{last + 1}-400", "asked")]


def test_how_to_see_what_was_cut_is_told_once_for_each_file() -> None:
    wants = [Want(first=line - 8, last=line + 40, focus=line) for line in (100, 200, 300)]
    text = shown(view(*wants), room=900)
    assert text.count("read_file path=a.py") == 1
    assert " (no room) ..." in text
    assert all(f"{line} value_{line} = " in text for line in (100, 200, 300))


def test_two_things_of_one_step_share_the_room_and_the_small_one_is_whole() -> None:
    small = view(Want(first=1, last=20, level=Level.ASKED), path="small.py")
    large = view(Want(first=1, last=400, level=Level.ASKED), path="large.py")
    page = fill([large, small], room=1500, above=ABOVE)
    assert len(page.shown["small.py"]) == 20
    assert len(page.shown["large.py"]) > 50


def test_a_long_list_gives_way_to_what_was_read_and_says_how_much_is_missing() -> None:
    hits = Piece(name="grep", text="a hit of many words\n" * 400, level=Level.ASKED, ends=True, share=30)
    read = view(Want(first=1, last=60, level=Level.ASKED), path="read.py")
    page = fill([hits, read], room=1500, above=ABOVE)
    assert len(page.shown["read.py"]) == 60
    assert "more lines left out for lack of room" in page.text


def test_the_source_of_likely_places_comes_before_the_rest_of_a_long_list() -> None:
    hits = Piece(
        name="grep", text="a hit of many words\n" * 400, level=Level.ASKED, ends=True, share=20, beyond=Level.SKETCH
    )
    likely = view(Want(first=1, last=60, level=Level.LIKELY), path="likely.py")
    page = fill([hits, likely], room=1500, above=ABOVE)
    assert len(page.shown["likely.py"]) == 60
    assert 20 < page.text.count("a hit") < 400 and page.tokens > 1300  # and the room is filled


def test_a_list_gets_all_of_the_room_when_nothing_else_wants_it() -> None:
    hits = Piece(name="grep", text="a hit\n" * 300, level=Level.ASKED, order=1, ends=True, share=30)
    assert shown(hits, room=1000).count("a hit") == 300


def test_around_the_line_that_matters_comes_first_where_a_function_is_too_long() -> None:
    page = fill([view(Want(first=1, last=400, focus=200))], room=700, above=ABOVE)
    numbers = sorted(page.shown["a.py"])
    assert numbers[0] < 200 < numbers[-1]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_half_of_a_function_that_nobody_named_is_not_shown() -> None:
    likely = view(Want(first=1, last=400, level=Level.LIKELY), Want(first=10, last=20, level=Level.LIKELY, order=1))
    assert sorted(fill([likely], room=500, above=ABOVE).shown["a.py"]) == list(range(10, 21))


def test_a_law_that_is_too_long_becomes_one_line_part_by_part_and_goes_on_below() -> None:
    parts = tuple((f"REQ-{number} " + "does this and that " * 40, f"REQ-{number} in short") for number in range(1, 8))
    law = Piece(name="specification", text="", level=Level.LAW, parts=parts)
    front = fill([law], room=700)
    assert "REQ-1 does this" in front.text and "REQ-7 in short" in front.text
    tail = fill(front.rest, room=2000, above=front)
    assert tail.text.startswith("## specification, continued\n")
    assert "REQ-7 does this" in tail.text and "REQ-1 does this" not in tail.text
    assert tail.left == ()


def test_a_long_text_of_the_law_goes_on_below_word_for_word() -> None:
    words = " ".join(f"word{number}" for number in range(900))
    front = fill([Piece(name="the request", text=words, level=Level.LAW)], room=800)
    tail = fill(front.rest, room=8000, above=front)
    both = (front.text + tail.text).split()
    assert [word for word in both if word.startswith("word")] == words.split()


def test_what_the_law_costs_is_known_before() -> None:
    law = Piece(name="law", text="it must\n" * 50, level=Level.LAW)
    cost = law_tokens([law, view(Want(first=1, last=9))])
    assert fill([law], room=cost).text.count("it must") == 50


def test_a_piece_without_room_is_told_and_never_vanishes() -> None:
    page = fill(
        [Piece(name="first", text="a " * 180), Piece(name="second", text="b " * 900, order=1)], room=230, above=ABOVE
    )
    assert "## second" not in page.text
    assert [(left.name, left.why) for left in page.left] == [("second", "no room")]


def test_everything_that_one_reply_asked_for_is_shown_a_short_result_whole() -> None:
    reads = [view(Want(first=1, last=300, level=Level.ASKED), path=f"read_{number}.py") for number in range(3)]
    hits = Piece(name="grep", text="a hit of many words\n" * 400, level=Level.ASKED, ends=True, share=10)
    said = Piece(name="shell", text="one line", level=Level.ASKED, share=10)
    page = fill([*reads, hits, said], room=4000, above=ABOVE)
    assert "## shell\none line" in page.text
    assert page.text.count("a hit") > 10 and "more lines left out for lack of room" in page.text
    assert min(len(page.shown[one.path]) for one in reads) > 60
    assert page.tokens <= 4000


def test_what_was_asked_for_and_has_no_room_is_named() -> None:
    new = view(Want(first=1, last=400, level=Level.ASKED), path="new.py")
    old = view(Want(first=7, last=300, level=Level.ASKED, order=2), path="old.py")
    hits = Piece(name="grep (step 1): 9 hits", text="a hit\n" * 90, level=Level.ASKED, order=1, ends=True, share=10)
    page = fill([old, new, hits], room=1500, above=ABOVE)
    named = page.text.partition("## no room in this step for")[2].split("\n")[1:3]
    assert named == ["- grep (step 1): 9 hits", "- old.py 7-300"]
    assert page.tokens <= 1500


def test_what_was_cut_in_the_middle_says_how_to_see_the_rest() -> None:
    long = Piece(name="code", text="x = 1\n" * 500, note="read_file path=a.py offset=N")
    page = fill([long], room=120, above=ABOVE)
    assert "read_file path=a.py offset=N" in page.text
    assert page.tokens <= 120
    assert fill([Piece(name="nothing", text="")], room=100, above=ABOVE).text == ""


def test_sections_are_read_back_as_they_were_written() -> None:
    wants = (Want(first=1, last=4, level=Level.LAW, why="w"), Want(first=9, last=12, order=3, focus=10))
    law = Piece(name="law", text="", level=Level.LAW, parts=(("whole", "short"),), foreign=True, share=30)
    for section in (view(*wants), law, Piece(name="a", text="b", note="n", order=2, ends=True)):
        assert section_of(row_of(section)) == section


def test_a_row_of_an_older_record_is_a_piece() -> None:
    assert section_of({"name": "a", "text": "b", "limit": 100, "note": "n"}) == Piece(name="a", text="b", note="n")


def test_a_secret_of_several_lines_takes_the_lines_around_it_and_the_others_keep_their_numbers() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 30))
    plain = lambda words: words.replace("line 5\nline 6\n", "***\n").replace("line 20", "***")  # noqa: E731
    hidden = without_secrets(view(Want(first=4, last=6), Want(first=20, last=21), text=text), plain)
    assert isinstance(hidden, View)
    assert "secret" in hidden.lines[4]
    assert (hidden.lines[20], hidden.lines[21]) == ("***", "line 21")
