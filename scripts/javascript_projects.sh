#!/usr/bin/env bash
# Fetch two small projects of npm with their own tests, for the tests that work on real projects: they look below the user's cache.
set -euo pipefail
command -v npm >/dev/null || { echo "npm is not installed: the tests on projects of npm are skipped"; exit 0; }
folder="${XDG_CACHE_HOME:-$HOME/.cache}/agentforge-tests/projects"
[ -d "$folder/node_modules/ts-dedent" ] && exit 0
mkdir -p "$folder"
echo '{"private": true}' > "$folder/package.json"
(cd "$folder" && npm install --silent --no-audit --no-fund object-path@0.11.8 ts-dedent@2.3.0 chai@4.5.0) ||
    echo "note: object-path, ts-dedent and chai could not be installed"
