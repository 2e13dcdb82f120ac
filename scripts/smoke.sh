#!/usr/bin/env bash
# Build wheel and sdist, install each into clean environments, and try what a user tries first. Needs the package index; works
# with uv where it is, else with venv and pip.
#   scripts/smoke.sh [EXTRA...]      without names: the base on every Python, every extra, the sdist, `uv tool install`, and pipx
#   scripts/smoke.sh --pythons       the base on every Python alone
#   scripts/smoke.sh --base          wheel and sdist with the base set, on one Python
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

say() { printf '%-34s %s\n' "$1" "$2"; }

quiet() { "$@" >"$place/said" 2>&1; }

# What each extra is for: a module that it brings, and a command that needs it.
probe() {
    case $1 in
        base) "$2/agentforge" --version && "$2/agentforge" doctor --help ;;
        acp) "$2/python" -c 'import acp' ;;
        browser) "$2/python" -c 'import playwright' ;;
        dashboard) "$2/python" -c 'import jinja2, starlette, uvicorn' && "$2/agentforge" dashboard --help ;;
        fleet) "$2/python" -c 'import psycopg, sqlalchemy' && "$2/agentforge" worker --help ;;
        landlock) "$2/python" -c 'import landlock' || "$2/python" -c 'import landlockpy' ;;
        mcp) "$2/python" -c 'import mcp' ;;
        notify) "$2/python" -c 'import apprise' ;;
        otel) "$2/python" -c 'import opentelemetry.sdk' ;;
        pdf) "$2/python" -c 'import typst' ;;
        rules) "$2/python" -c 'import cel_expr_python' ;;
        sign) "$2/python" -c 'import cryptography' && AGENTFORGE_HOME="$place/home" "$2/agentforge" keys list ;;
        tui) "$2/python" -c 'import textual' ;;
        dev) "$2/python" -m pytest --version && "$2/python" -m mypy --version ;;
        web) "$2/python" -c 'import ddgs, trafilatura' ;;
        *) "$2/python" -c 'import agentforge' ;;
    esac >"$place/said" 2>&1
}

# The parts that are data and not code: they are missing first when a wheel is packed wrongly.
whole() {
    local bin=$1
    (
        cd "$place"
        "$bin/agentforge" --version
        "$bin/python" -m agentforge --version
        "$bin/agentforge" contracts list
        "$bin/agentforge" stages
        "$bin/agentforge" eval list impossible
        "$bin/agentforge" completion bash
        "$bin/agentforge" completion zsh
        "$bin/agentforge" completion fish
        test -f "$("$bin/python" -c 'import agentforge, pathlib; print(pathlib.Path(agentforge.__file__).parent / "py.typed")')"
        test -f "$("$bin/python" -c 'import sys; print(sys.prefix)')/share/man/man1/agentforge.1"
        AGENTFORGE_HOME="$place/home" "$bin/agentforge" demo
    ) >"$place/said" 2>&1
}

tried() {
    local name=$1
    shift
    if "$@"; then say "$name" ok; else
        say "$name" FAILED
        tail -20 "$place/said"
        exit 1
    fi
}

fresh() { # FOLDER WHAT...
    local folder=$1
    shift
    if command -v uv >/dev/null; then
        uv venv --quiet --python "${python:-${PYTHON:-3.11}}" "$folder"
        uv pip install --quiet --python "$folder/bin/python" --constraint "$place/versions" "$@"
    else
        "${python:-.venv/bin/python}" -m venv "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$place/versions" "$@"
    fi
}

# The Python of a version, where it is here and can make environments; uv would download one, but not from a package index.
python_of() {
    if command -v uv >/dev/null; then uv python find --no-python-downloads "$1" 2>/dev/null; else
        "python$1" -c 'import ensurepip, sys, venv; print(sys.executable)' 2>/dev/null
    fi
}

sed -n 's/^\([a-z0-9._-]*==[^ ;\\]*\).*/\1/p' requirements.lock >"$place/versions"
if command -v uv >/dev/null; then uv build --quiet --out-dir "$place/dist"; else
    .venv/bin/python -m hatchling build --directory "$place/dist" >/dev/null 2>&1
fi
wheel=$(echo "$place"/dist/*.whl)
sdist=$(echo "$place"/dist/*.tar.gz)
say "$(basename "$wheel")" "$(stat -c %s "$wheel") bytes"
say "$(basename "$sdist")" "$(stat -c %s "$sdist") bytes"

# The base on every Python that is promised and that is here.
promised=(3.11 3.12 3.13 3.14)
[ "${1:-}" != --base ] || promised=("$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')")
for version in "${promised[@]}"; do
    if ! python=$(python_of "$version"); then
        say "wheel on Python $version" "not tried: there is none here"
        continue
    fi
    fresh "$place/python" "$wheel"
    tried "wheel on $("$place/python/bin/python" -V)" whole "$place/python/bin"
    rm -rf "${place:?}/python"
done
unset python
[ "${1:-}" != --pythons ] || exit 0

extras=("$@")
if [ "${1:-}" = --base ]; then
    fresh "$place/sdist" "$sdist"
    tried "sdist" whole "$place/sdist/bin"
    exit 0
fi
if [ "${#extras[@]}" = 0 ]; then
    mapfile -t extras < <(sed -n '/^\[project.optional-dependencies\]/,/^\[/s/^\([a-z]*\) = .*/\1/p' pyproject.toml)
    fresh "$place/sdist" "$sdist"
    tried "sdist" whole "$place/sdist/bin"
    if command -v uv >/dev/null; then
        UV_TOOL_DIR="$place/tools" UV_TOOL_BIN_DIR="$place/bin" uv tool install --quiet "$wheel"
        tried "uv tool install" quiet "$place/bin/agentforge" --version
    else
        say "uv tool install" "not tried: uv is not installed"
    fi
    if command -v pipx >/dev/null; then
        PIPX_HOME="$place/pipx" PIPX_BIN_DIR="$place/pipxbin" pipx install --quiet "$wheel"
        tried "pipx install" quiet "$place/pipxbin/agentforge" --version
    else
        say "pipx install" "not tried: pipx is not installed"
    fi
fi
for extra in "${extras[@]}"; do
    fresh "$place/$extra" "$wheel[$extra]"
    tried "extra $extra" probe "$extra" "$place/$extra/bin"
    rm -rf "${place:?}/$extra"
done
.venv/bin/python scripts/sbom.py "$here/build/sbom.cdx.json"
say "build/sbom.cdx.json" "$(grep -c '"bom-ref"' build/sbom.cdx.json) packages"
