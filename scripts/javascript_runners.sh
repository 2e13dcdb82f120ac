#!/usr/bin/env bash
# Install vitest, jest, mocha and axe-core, each in a folder of its own below the user's cache: the tests of these runners, and of
# the dashboard's accessibility, look there.
set -euo pipefail
command -v npm >/dev/null || { echo "npm is not installed: the tests of vitest, jest, mocha and accessibility are skipped"; exit 0; }
cache="${XDG_CACHE_HOME:-$HOME/.cache}/agentforge-tests"
for tool in vitest jest mocha axe-core; do
    [ -d "$cache/$tool/node_modules/$tool" ] && continue
    mkdir -p "$cache/$tool"
    echo '{"private": true}' > "$cache/$tool/package.json"
    (cd "$cache/$tool" && npm install --silent --no-audit --no-fund "$tool") || echo "note: $tool could not be installed"
done
