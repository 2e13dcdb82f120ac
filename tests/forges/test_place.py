"""Where a repository lives is read from its remote's address; the user's settings win."""

from __future__ import annotations

import pytest

from agentforge.errors import UsageError
from agentforge.forges.place import place_of


@pytest.mark.parametrize(
    ("address", "kind", "project", "api"),
    [
        ("git@github.com:acme/text.kit.git", "github", "acme/text.kit", "https://api.github.com"),
        ("https://user:secret@github.com/acme/textkit", "github", "acme/textkit", "https://api.github.com"),
        ("ssh://git@github.acme.org:2222/a/b.git", "github", "a/b", "https://github.acme.org/api/v3"),
        ("git@gitlab.com:group/sub/b.git", "gitlab", "group/sub/b", "https://gitlab.com/api/v4"),
        ("https://gitlab.acme.org:8443/a/b.git", "gitlab", "a/b", "https://gitlab.acme.org:8443/api/v4"),
        ("https://gitlab.acme.org/a/b/", "gitlab", "a/b", "https://gitlab.acme.org/api/v4"),
    ],
)
def test_an_address_names_forge_project_and_api(address, kind, project, api):
    place = place_of(address, {})
    assert (place.kind, place.project, place.api, place.own_api) == (kind, project, api, False)


@pytest.mark.parametrize("address", ["/srv/git/b.git", "file:///srv/b.git", "../b.git", "git@github.com:only", ""])
def test_an_address_that_names_no_repository_of_a_forge_is_an_error(address):
    with pytest.raises(UsageError, match="names no repository"):
        place_of(address, {})


def test_an_unknown_host_must_be_told_and_no_password_is_shown():
    with pytest.raises(UsageError, match=r"git\.acme\.org may be a GitHub or a GitLab"):
        place_of("https://git.acme.org/a/b", {})
    with pytest.raises(UsageError) as told:
        place_of("https://ann:secret@git.acme.org/only", {})
    assert "secret" not in str(told.value)
    assert place_of("https://git.acme.org/a/b", {"kind": "gitlab"}).api == "https://git.acme.org/api/v4"


def test_settings_win_over_the_address():
    place = place_of("/srv/b.git", {"kind": "github", "api": "http://127.0.0.1:1/", "project": "acme/textkit"})
    assert (place.host, place.project, place.api, place.own_api) == (
        "127.0.0.1",
        "acme/textkit",
        "http://127.0.0.1:1",
        True,
    )
