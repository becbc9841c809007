#!/bin/sh
# Generates, trains on, evaluates and predicts rows through pipes, without files. `greedystep` must be in the PATH.
#
#   sh pipeline.sh
#
# Prints the text of ../expected/shell.txt.
set -eu
export LC_ALL=C
model=$(mktemp -d)/model
trap 'rm -rf "${model%/*}"' EXIT

# 20000 rows are learned as they arrive; the 2000 after them are kept for evaluation. A pipe is read once; over a file
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
