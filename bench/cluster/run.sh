#!/bin/sh
# run.sh GREEDYSTEP FOLDER ROWS FEATURES [LAUNCHER...]: one measured row for the table of docs/scaling.md, on any cluster.
#
#   sh bench/cluster/run.sh greedystep /shared/bench 10^9 10^7 mpirun -n 16 --map-by node
#   sh bench/cluster/run.sh greedystep /shared/bench 10^9 10^7 srun --mpi=pmix -N 16 --cpus-per-task 32
#   sh bench/cluster/run.sh greedystep /tmp/bench 10^8 10^6           # one process
#
# FOLDER is on a file system that all processes see. Rows of 20 ones out of FEATURES are generated there, once, as a cache
# of up to DIFFERENT (10^8) rows, which is read as often as ROWS asks for. THREADS: of a process (all of its machine).
# Prints the row as Markdown, measured, and what the run itself says on standard error.
set -eu
[ $# -ge 4 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
greedystep=$1 folder=$2 asked_rows=$3 asked_features=$4
shift 4

number() { # 10^9 or 1000000000
    case $1 in
    10^*) awk -v power="${1#10^}" 'BEGIN { printf "%.0f\n", 10 ^ power }' ;;
    *) echo "$1" ;;
    esac
}
rows=$(number "$asked_rows") features=$(number "$asked_features") different=$(number "${DIFFERENT:-10^8}")
[ "$different" -lt "$rows" ] || different=$rows
times=$(((rows + different - 1) / different))

launcher="$*"
mkdir -p "$folder"
data=$folder/clicks-$different-$features.gsac
[ -e "$data" ] || "$greedystep" generate --rows "$different" --features "$features" --skew 1 --noise 0.1 --quiet -o "$data"

set -- "$@" "$greedystep" train
again=0
while [ "$again" -lt "$times" ]; do
    set -- "$@" "$data"
    again=$((again + 1))
done
"$@" -o "$folder/model" --method gsa --passes 1 --threads "${THREADS:-auto}" --json --quiet > "$folder/said.json"
sed 's/^/  /' "$folder/said.json" >&2

field() { sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p" "$folder/said.json" | head -n 1; }
awk -v rows=$((times * different)) -v different="$different" -v features="$features" -v threads="${THREADS:-all}" \
    -v seconds="$(field seconds)" -v loss="$(field held_out_loss)" -v launcher="${launcher:-one process}" '
    BEGIN {
        printf "| rows | different | features | by | threads each | seconds | rows per second | held-out loss |\n"
        printf "|--:|--:|--:|---|--:|--:|--:|--:|\n"
        printf "| %d | %d | %d | %s | %s | %.1f | %.0f | %s |\n", rows, different, features, launcher, threads,
               seconds, rows / seconds, loss
    }'
