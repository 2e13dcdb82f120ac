collect_ignore_glob = ["tests/test_slugify*"]
