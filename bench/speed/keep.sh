#!/bin/sh
# Four passes over compressed rows with a spill file, beside four that read the input each time (TMPDIR names no folder,
# so there is no spill file), and over text and a cache. Processor seconds, the minimum of three.
#
#   sh bench/speed/keep.sh build/release/greedystep [ROWS]
set -eu
greedystep=$(realpath "${1:?which greedystep}")
rows=${2:-1000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$greedystep" generate --rows "$rows" --features 100000 --nnz 20 -o d.svm --quiet
"$greedystep" convert d.svm -o d.gsac > log 2>&1
gzip -k d.svm
xz -1 -k d.svm

least() { # folder for what is kept, file, threads
    for _ in 1 2 3; do
        TMPDIR=$1 /usr/bin/time -f '%U %S' "$greedystep" train "$2" -o m --passes 4 --threads "$3" --quiet 2>&1 > log |
            tail -n 1 | awk '{ print $1 + $2 }'
    done | sort -n | head -n 1
}

printf '%-10s %8s %12s %8s\n' input threads 'read again' kept
for file in d.svm.gz d.svm.xz d.svm d.gsac; do
    for threads in 1 2; do
        printf '%-10s %8s %12s %8s\n' "$file" $threads "$(least /nowhere $file $threads)" "$(least "$folder" $file $threads)"
    done
done
