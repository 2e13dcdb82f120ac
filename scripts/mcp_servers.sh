#!/usr/bin/env bash
# Install the reference file server of MCP below the user's cache: a test of ours talks to it.
set -euo pipefail
command -v npm >/dev/null || { echo "npm is not installed: the test with the MCP file server is skipped"; exit 0; }
folder="${XDG_CACHE_HOME:-$HOME/.cache}/agentforge-tests/mcp"
name="@modelcontextprotocol/server-filesystem"
[ -d "$folder/node_modules/$name" ] && exit 0
mkdir -p "$folder"
echo '{"private": true}' > "$folder/package.json"
(cd "$folder" && npm install --silent --no-audit --no-fund "$name") || echo "note: $name could not be installed"
