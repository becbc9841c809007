#!/bin/sh
# collectives.sh MPI PROGRAM: gather and exchange by 1, 2, 3, 5 and 8 ranks; the program stands where others have the command.
. "$(dirname "$0")/prelude.sh"
for n in 1 2 3 5 8; do
    on $n "$greedystep" || fail "$n ranks of $mpi"
done
