#!/bin/sh
# Two builds of the command give the same data, the same models and the same states, byte for byte.
# usage: same_bytes.sh "COMMAND" "OTHER COMMAND"
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for classes in 1 2 7; do
    for side in one other; do
        [ "$side" = one ] && command=$1 || command=$2
        data=$work/$side.$classes.svm
        $command generate --rows 20000 --features 3000 --classes "$classes" --seed 5 -o "$data"
        $command train "$data" -o "$work/$side.$classes" --passes 2 --holdout 100 --quiet > /dev/null
    done
    for file in .svm "" .state; do
        cmp "$work/one.$classes$file" "$work/other.$classes$file"
    done
done
echo "same bytes: data, models and states of 1, 2 and 7 classes"
