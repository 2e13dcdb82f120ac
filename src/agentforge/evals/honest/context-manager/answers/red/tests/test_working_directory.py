from pathlib import Path

import pytest


def test_it_changes_into_the_folder_and_back(tmp_path):
    from folders import working_directory

    before = Path.cwd()
    with working_directory(str(tmp_path)) as inside:
        assert Path.cwd() == tmp_path.resolve()
        assert inside == tmp_path
    assert Path.cwd() == before


def test_it_changes_back_after_an_exception(tmp_path):
    from folders import working_directory

    before = Path.cwd()
    with pytest.raises(ValueError, match="no"), working_directory(tmp_path):
        raise ValueError("no")
    assert Path.cwd() == before
