from notes import Note


def test_a_note_has_title_and_body():
    note = Note("a", "b")
    assert (note.title, note.body) == ("a", "b")
