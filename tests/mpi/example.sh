#!/bin/sh
# example.sh MPI GREEDYSTEP: examples/mpi/train.sh prints what examples/expected has.
. "$(dirname "$0")/prelude.sh"
examples=$here/../../examples
PATH=$(dirname "$greedystep"):$PATH
MPIRUN="$launcher $flags"
export PATH MPIRUN
printed=$(sh "$examples/mpi/train.sh" 2>&1) || {
    echo "$printed"
    fail "the example ends with an error"
}
echo "$printed" | diff -u "$examples/expected/mpi.txt" - || fail "it prints something else"
echo "examples/mpi prints what it should"
