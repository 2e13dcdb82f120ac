"""Pull requests at a forge: GitHub or GitLab, through `gh`, `glab` or their REST API. What is in one is decided elsewhere."""
