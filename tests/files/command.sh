#!/bin/sh
# command.sh COMMAND DIRECTORY: the command reads models and caches of every version that it should, and names older ones.
set -eu
command=$1
here=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same EXPECTED ARGUMENTS...: the output of the command
same() {
    expected=$1
    shift
    "$command" "$@" > "$work/out" || { echo "FAILED: greedystep $*"; exit 1; }
    cmp "$expected" "$work/out" || { echo "DIFFERENT: greedystep $*"; exit 1; }
}

# refused TEXT ARGUMENTS...: it fails with this text in its message
refused() {
    text=$1
    shift
    if "$command" "$@" > "$work/out" 2>&1 || ! grep -q "$text" "$work/out"; then
        echo "NOT REFUSED: greedystep $*"
        cat "$work/out"
        exit 1
    fi
}

same "$here/v3/table.predictions" predict "$here/v3/table.model" "$here/table.csv"
same "$here/v3/table.predictions" predict "$here/v3/table.model" "$here/v3/table.gsac"
same "$here/rows.svm" convert "$here/v3/rows.gsac" -o -
for version in 1 2; do
    refused "a model of format version $version, which was never published; train it again" \
        predict "$here/v$version/logistic.model" "$here/rows.svm"
    refused "a state of format version $version, which was never published; train it again" \
        train "$here/rows.svm" --start-from "$here/v$version/logistic.model" -o "$work/model"
done
