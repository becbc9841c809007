#!/bin/sh
# A stream of text with 10^6 features trains by gsa within 300 MB of address space, which bounds resident memory too.
# usage: stream_memory.sh path/to/greedystep ROWS     (28 million rows are 5 GB of text)
set -eu
greedystep=$1
rows=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$greedystep" generate --rows "$rows" --features 1000000 --nnz 20 --seed 1 -o - |
    (
        # shellcheck disable=SC3045 # dash has it
        ulimit -v 307200 # KiB
        "$greedystep" train - -o "$work/model" --method gsa --quiet --json
    ) > "$work/json"
cat "$work/json"
grep -q "\"rows\": $rows\b" "$work/json" || { echo "not every row was learned"; exit 1; }
