#!/bin/sh
# The effect of rounds of replicas on the model: test loss with rounds (--order shuffled) beside one learner (--order
# file, which has none; the rows are generated in random order, so that nothing else differs).
#
#   sh bench/quality/rounds.sh build/release/greedystep [ROWS...]
set -eu
greedystep=${1:?which greedystep}
shift
[ $# -gt 0 ] || set -- 2000000 3000000 5500000 10000000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

loss() { # model
    "$greedystep" evaluate "$1" "$folder/test.gsac" | awk '$1 == "log_loss" { print $2 }'
}

printf '%10s %10s %8s %10s %10s\n' rows features classes rounds one
for shape in "100000 2" "1000000 2" "1000 10"; do
    features=${shape% *} classes=${shape#* }
    for rows; do
        all="--features $features --classes $classes --nnz 20 --quiet"
        "$greedystep" generate $all --rows "$rows" -o "$folder/train.gsac"
        "$greedystep" generate $all --rows $((rows + 200000)) --format libsvm -o - | tail -n 200000 > "$folder/test.svm"
        "$greedystep" convert "$folder/test.svm" -o "$folder/test.gsac" > "$folder/log" 2>&1
        for order in shuffled file; do
            "$greedystep" train "$folder/train.gsac" -o "$folder/$order" --order $order --passes 1 --quiet > "$folder/log"
        done
        printf '%10s %10s %8s %10s %10s\n' "$rows" "$features" "$classes" "$(loss "$folder/shuffled")" "$(loss "$folder/file")"
    done
done
