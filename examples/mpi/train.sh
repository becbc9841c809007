#!/bin/sh
# Learns with several processes and shows that their number changes no bit of the model. `greedystep` must be in the PATH,
# built with the MPI that mpirun is of (`greedystep --version` tells which it has).
#
#   sh train.sh
#   MPIRUN="mpirun --hostfile hosts --map-by ppr:1:node --bind-to none" sh train.sh      # machines, as in docs/mpi.md
#
# Prints what ../expected/mpi.txt has.
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
