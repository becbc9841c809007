#!/bin/sh
# headline.sh GREEDYSTEP [ROWS] [FEATURES]: so many distinct rows of 20 ones each, one pass, generator and training on the
# same machine: rows go through a pipe, nothing is on disk. Prints what train says, the wall time of all and the peak
# memory of train; results.json has what came out.
set -eu
greedystep=$1
rows=${2:-1000000000}
features=${3:-10000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
begun=$(date +%s)
"$greedystep" generate --rows "$rows" --features "$features" --nnz 20 --format gsac --quiet -o - |
    /usr/bin/time -f 'peak memory        %M kB' "$greedystep" train - -o "$folder/model" --quiet --json
echo "all                $(($(date +%s) - begun)) s"
date +'date               %F'
