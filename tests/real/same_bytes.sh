#!/bin/sh
# Builds of the command give the same data, caches, models, states and predictions, byte for byte, and read each other's
# files. The first command is compared with all others; a command may be several words (an emulator).
# usage: same_bytes.sh [--rows N] [--rounds] "COMMAND" "OTHER COMMAND"...
#   N: rows of each data set (20000); --rounds: also a million rows, which copies learn side by side, and a table so long
#   that means of squares are rounded as those of many rows are (learn/kernel/kernel.h, K5)
set -eu
rows=20000
rounds=no
while :; do
    case $1 in
    --rows)
        rows=$2
        shift 2
        ;;
    --rounds)
        rounds=yes
        shift
        ;;
    *) break ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=$1

# A table with words, decimals of all lengths, gaps and weights: the same on every side, since awk makes it here.
table_rows=$((rows / 4))
[ "$rounds" = no ] || table_rows=100000
awk -v rows="$table_rows" 'BEGIN {
    print "label,city,age,price,share,weight"
    for (i = 1; i <= rows; i++) {
        a = (i * 7919) % 1009; b = (i * 104729) % 99991
        printf "%s,city %d,%d,%d.%02d,%s,%d.5\n", (a * 3 > b % 3000 ? "yes" : "no"), a % 37, b % 90, b, a % 100,
            (b % 11 ? sprintf("%.7ge-%d", b / 7, a % 9) : ""), a % 3
    }
}' > "$work/table.csv"

# train SIDE NAME DATA [OPTIONS]: a model, its state and its predictions
train() {
    side=$1 name=$2 data=$3
    shift 3
    $command train "$data" -o "$work/$side/$name" --passes 2 --quiet "$@" > /dev/null
    $command predict "$work/$side/$name" "$data" --threads 2 -o "$work/$side/$name.csv"
}

# everything SIDE: what the command makes, into a folder of that name
everything() {
    mkdir "$work/$1"
    for classes in 1 2 7; do
        data=$work/$1/$classes.svm
        $command generate --rows "$rows" --features 3000 --classes "$classes" --seed 5 -o "$data"
        train "$1" "held-out.$classes" "$data"
    done
    data=$work/$1/2.svm
    $command convert "$data" -o "$work/$1/2.gsac" --quiet > /dev/null
    train "$1" team "$data"
    train "$1" hinge "$data" --loss hinge
    train "$1" squared-hinge "$work/$1/7.svm" --loss squared_hinge --holdout none
    train "$1" paper "$data" --method paper --average suffix
    train "$1" shards "$data" --shards 3
    if [ "$rounds" = yes ]; then
        $command generate --rows 700000 --features 300 --nnz 5 --seed 5 --noise 0.1 -o "$work/$1/long.gsac"
        train "$1" rounds "$work/$1/long.gsac"
    fi
    train "$1" table "$work/table.csv" --weight weight --cross city:age --bits 14 --class-weight balanced
}

command=$first
everything one
n_others=0
shift
for other in "$@"; do
    command=$other
    rm -rf "$work/other"
    everything other
    for file in "$work"/one/*; do
        cmp "$file" "$work/other/$(basename "$file")" || {
            echo "not the same bytes: $first and $other" >&2
            exit 1
        }
    done
    # What one wrote the other reads.
    $other predict "$work/one/held-out.2" "$work/one/2.gsac" -o "$work/read.csv"
    cmp "$work/one/held-out.2.csv" "$work/read.csv"
    $first predict "$work/other/held-out.2" "$work/other/2.gsac" -o "$work/read.csv"
    cmp "$work/one/held-out.2.csv" "$work/read.csv"
    n_others=$((n_others + 1))
    echo "same bytes: $(find "$work/one" -type f | wc -l) files of $first and $other"
done
[ "$n_others" -gt 0 ]
