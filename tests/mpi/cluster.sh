#!/bin/sh
# cluster.sh MPI GREEDYSTEP: bench/cluster/run.sh makes a row of the table of docs/scaling.md, with ranks and without, of
# the same loss.
. "$(dirname "$0")/prelude.sh"
row() { # LAUNCHER...
    THREADS=1 DIFFERENT=15000 sh "$here/../../bench/cluster/run.sh" "$greedystep" "$work" 30000 10^3 "$@" 2> said |
        tail -n 1
}
alone=$(row)
together=$(row $launcher $flags -n 2)
echo "$alone"
echo "$together"
case $alone in
"| 30000 | 15000 | 1000 | one process | 1 | "*) ;;
*) cat said; fail "this is no row of 30000 rows" ;;
esac
[ "${alone##*| 0.}" = "${together##*| 0.}" ] || fail "two ranks have another loss"
