#!/usr/bin/env bash
# The main job with a model on this machine and no key: get the model (asked once), then `agentforge start`.
# Called by `make run`. REPO and REQUEST say what is done where; without them a small repository is made under build/.
# MODEL = another model (PROVIDER/NAME); FROM = where the weights come from instead; YES=1 = do not ask.
set -euo pipefail
cd "$(dirname "$0")/.."
agentforge=$PWD/.venv/bin/agentforge
model=${MODEL:-local/qwen2.5-coder-1.5b}

sample_request="Add a function percent_of(cents, percent) to shopcart/money.py that returns that share of an amount in whole cents, \
rounded down. percent_of(1000, 10) returns 100, percent_of(999, 50) returns 499, and percent_of(0, 25) returns 0."

# make_sample FOLDER: a fresh copy of the bundled repository, committed.
make_sample() {
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    cp -r src/agentforge/demo/project "$1"
    git -C "$1" init --quiet --initial-branch=main
    git -C "$1" add --all
    git -C "$1" -c user.name=sample -c user.email=sample@localhost commit --quiet --message="shopcart, as it is before the request"
}

if [ -n "${REPO:-}" ] && [ -z "${REQUEST:-}" ]; then
    echo "error: REPO needs a request: make run REPO=$REPO REQUEST=\"...\"" >&2
    exit 2
fi

case $model in
local/*.gguf) ;; # a file of the user's own
local/*)
    if [ ! -t 0 ] && [ -z "${YES:-}" ]; then
        echo "note: without a terminal, agree to the download by YES=1" >&2
    fi
    "$agentforge" model pull "${model#local/}" ${YES:+--yes} ${FROM:+--from "$FROM"}
    ;;
esac

repo=${REPO:-}
if [ -z "$repo" ]; then
    repo=$PWD/build/shopcart
    make_sample "$repo"
    echo "the sample repository is $repo"
fi
cd "$repo"
exec "$agentforge" start "${REQUEST:-$sample_request}" --model "$model"
