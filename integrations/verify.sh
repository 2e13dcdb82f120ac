#!/usr/bin/env bash
# Verify every commit of a branch that was delivered by agentforge; the keys come from the branch that it is to be merged into.
#   HEAD_REF, BASE_REF: branches of the remote `origin`; KEYS: a glob within the base; RERUN: "true" measures again.
set -euo pipefail
: "${HEAD_REF:?the branch to verify}" "${BASE_REF:?the branch to merge into}"

git fetch --quiet --no-tags origin \
    "+refs/heads/$HEAD_REF:refs/remotes/origin/$HEAD_REF" "+refs/heads/$BASE_REF:refs/remotes/origin/$BASE_REF" \
    '+refs/notes/agentforge*:refs/notes/agentforge*' '+refs/agentforge/bundles/*:refs/agentforge/bundles/*'

trusted=$(mktemp -d)
trap 'rm -rf "$trusted"' EXIT
options=()
if [ -n "${KEYS:-}" ]; then
    number=0
    while IFS= read -r -d '' path; do
        # shellcheck disable=SC2053 # the right side is a pattern
        [[ $path == $KEYS ]] || continue
        number=$((number + 1))
        git show "origin/$BASE_REF:$path" >"$trusted/$number.pub"
        options+=(--key "$trusted/$number.pub")
    done < <(git ls-tree -r -z --name-only --full-tree "origin/$BASE_REF")
    [ "$number" -gt 0 ] || { echo "no key in $BASE_REF fits $KEYS: add one (agentforge keys show), or leave keys empty" >&2; exit 2; }
fi
[ "${RERUN:-false}" != true ] || options+=(--rerun)

commits=$(git rev-list --reverse "origin/$BASE_REF..origin/$HEAD_REF")
[ -n "$commits" ] || { echo "$HEAD_REF has no commit that $BASE_REF lacks" >&2; exit 2; }
worst=0
for commit in $commits; do
    echo "== $commit"
    code=0
    agentforge verify "$commit" "${options[@]}" || code=$?
    [ "$code" -le "$worst" ] || worst=$code
done
exit "$worst"
