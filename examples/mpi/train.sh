#!/bin/sh
# Trains with several processes and shows that their number does not change the model. `greedystep` must be in the PATH
# and built with the MPI of mpirun (`greedystep --version` lists them).
#
#   sh train.sh
#   MPIRUN="mpirun --hostfile hosts --map-by ppr:1:node --bind-to none" sh train.sh      # machines, as in docs/mpi.md
#
# Prints the text of ../expected/mpi.txt.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

greedystep generate --rows 5000 --features 100 -o rows.gsac
greedystep train rows.gsac -o one.model -q
for n in 2 3; do
    ${MPIRUN:-mpirun} -n $n greedystep train rows.gsac -o many.model -q
    cmp one.model many.model
    cmp one.model.state many.model.state
    echo "$n processes: the model of one, byte for byte"
done
greedystep evaluate many.model rows.gsac
