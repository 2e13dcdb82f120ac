"""Programs that checks run: ruff, ast-grep, node tools and our own."""
