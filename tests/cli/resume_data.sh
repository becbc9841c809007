# --resume goes on with the data that the run began with: other rows are refused wherever they stand.
. "$PRELUDE"
for size in 3000 70000; do
    echo "-- $size rows, and a run that has ended --"
    greedystep generate --rows $size --features 100 --nnz 5 -o data.svm
    greedystep generate --rows $size --features 100 --nnz 5 --seed 9 -o other.svm
    sed '$ s/:1/:2/' data.svm >changed.svm
    head -n $((size - 1)) data.svm >shorter.svm
    { cat data.svm; tail -n 1 data.svm; } >longer.svm
    greedystep train data.svm -o m --quiet >log || fail train
    greedystep train other.svm -o o --quiet >log || fail train
    cp m before && cp m.state before.state
    for each in changed shorter longer other; do
        try greedystep train $each.svm -o m --resume --quiet
    done
    cp o.state m.state
    try greedystep train data.svm -o m --resume --quiet
    cp before.state m.state
    same before m
    greedystep train data.svm -o m --resume >log || fail "the same data"
    same before m
    same before.state m.state
done

echo "-- one more pass --"
greedystep train data.svm -o m --passes 1 --quiet >log || fail train
cp m before
try greedystep train changed.svm -o m --resume --passes 2 --quiet
try greedystep train shorter.svm -o m --resume --passes 2 --quiet
same before m

echo "-- a stream that was read to its end --"
cat data.svm | greedystep train - -o s --quiet >log || fail train
try_line "cat shorter.svm | greedystep train - -o s --resume --quiet"
try_line "cat data.svm | greedystep train - -o s --resume >log"
