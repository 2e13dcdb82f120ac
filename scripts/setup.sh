#!/usr/bin/env bash
# Makes .venv with agentforge, its extras and the development tools: by uv when it is there, else by venv and pip from
# requirements.lock. Called by `make setup`, only when pyproject.toml or a lock file changed.
set -euo pipefail
cd "$(dirname "$0")/.."

# apt PACKAGE...: install Debian packages where that needs no question; 1 when it cannot be done.
apt() {
    command -v apt-get >/dev/null || return 1
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1
}

# find_python: print a Python of version 3.11 or newer.
find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "error: no Python 3.11 or newer was found; install one, or uv (https://docs.astral.sh/uv/)" >&2
    return 1
}

with_pip() {
    local python
    python=$(find_python)
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        rm -rf .venv
        apt python3-venv || true
        if ! "$python" -m venv .venv >"$log" 2>&1; then
            local remedy="look for free space in $PWD and ${TMPDIR:-/tmp} ($log)"
            "$python" -c 'import ensurepip, venv' 2>/dev/null || remedy="install what it lacks (apt install python3-venv), or uv"
            echo "error: $python cannot make a virtual environment; $remedy, then run make setup again" >&2
            return 1
        fi
    fi
    # the programs that an old pip writes import `re` first: half of what `agentforge --version` would cost
    pip --upgrade 'pip>=25.3' || echo "note: an older pip is used; commands start 6 ms later"
    pip --require-hashes -r requirements.lock || no_packages
    pip --no-deps -e . || no_packages
}

# What pip or uv says of a failure is kept there; one line of it is shown.
log=$(mktemp)

# pip ARGUMENTS...: install with the environment's own pip.
pip() { .venv/bin/python -m pip --disable-pip-version-check --quiet --retries 2 install "$@" 2>"$log"; }

# no_packages: say in one line why pip or uv failed and what to do, and end.
no_packages() {
    local remedy certificate=PIP_CERT index=PIP_INDEX_URL
    command -v uv >/dev/null && certificate=SSL_CERT_FILE index=UV_DEFAULT_INDEX
    case $(<"$log") in
    *CERTIFICATE_VERIFY_FAILED* | *"invalid peer certificate"*)
        remedy="the certificate of the Python index is not trusted here; name that of your proxy: export $certificate=/path/to/proxy.pem" ;;
    *"No space left"*) remedy="there is no space left on the disk of $PWD, of ${TMPDIR:-/tmp} or of the cache in $HOME" ;;
    *"Read-only file system"*) remedy="a folder cannot be written: $(grep -m1 'Read-only file system' "$log")" ;;
    *NameResolutionError* | *NewConnectionError* | *"timed out"* | *"Network is unreachable"* | *ProxyError* | *"error sending request"* | *"connectivity is disabled"*)
        remedy="the Python index cannot be reached; check the network and HTTPS_PROXY, or name an index of yours: export $index=..." ;;
    *) remedy=$(grep -m1 -i '^error' "$log" | sed 's/^[Ee][Rr][Rr][Oo][Rr]: *//') ;;
    esac
    echo "error: $remedy - then run make setup again (all that was said: $log)" >&2
    exit 1
}

command -v bwrap >/dev/null || apt bubblewrap || true

if command -v uv >/dev/null; then
    uv sync --locked --all-extras --compile-bytecode --quiet 2>"$log" || no_packages
else
    with_pip
fi
.venv/bin/python -m compileall -q src # starting is a budget, even where PYTHONDONTWRITEBYTECODE is set
# pytest rewrites its plugins, too; where it may not keep the result, each of the many inner test runs would do that again
empty=$(mktemp -d)
env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -m pytest --rootdir="$empty" -c /dev/null -p no:cacheprovider "$empty" >/dev/null || true
rmdir "$empty"
rm -f "$log"
touch .venv/.ready
echo "ready: $(.venv/bin/agentforge --version), $(.venv/bin/python --version)"
