#!/bin/sh
# command.sh COMMAND DIRECTORY: the command reads models and caches of every version that it should, and names version 1.
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

same "$here/v2/table.predictions" predict "$here/v2/table.model" "$here/table.csv"
same "$here/v2/table.predictions" predict "$here/v2/table.model" "$here/v2/table.gsac"
same "$here/rows.svm" convert "$here/v2/rows.gsac" -o -
refused "a model of format version 1, which was never released; train it again" predict "$here/v1/logistic.model" "$here/rows.svm"
refused "a state of format version 1, which was never released; train it again" \
    train "$here/rows.svm" --start-from "$here/v1/logistic.model" -o "$work/model"
