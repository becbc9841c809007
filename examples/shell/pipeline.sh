#!/bin/sh
# Rows through pipes, without a file between: made, learned, judged and predicted by `greedystep`, which must be in the PATH.
#
#   sh pipeline.sh
#
# Prints what ../expected/shell.txt has.
set -eu
export LC_ALL=C
model=$(mktemp -d)/model
trap 'rm -rf "${model%/*}"' EXIT

# 20000 rows are learned as they come, and 2000 that come after them are kept for judging. A pipe is read once; over a file
# `train` makes as many passes as help.
rows() {
    greedystep generate --rows "$1" --features 500 --nnz 10 -o -
}
rows 20000 | greedystep train - -o "$model" -q

echo "how good it is on rows that it has not seen:"
rows 22000 | tail -n 2000 | greedystep evaluate "$model" -

echo "the surest of them (row, label, probability):"
rows 22000 | tail -n 2000 | greedystep predict "$model" - --format csv |
    tail -n +2 | cut -d, -f1-3 | sort -t, -k3,3gr -k1,1n | sed 3q
