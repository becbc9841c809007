# Which states contain rows (SECURITY.md, docs/formats/model.md): those of runs that hold rows out.
. "$PRELUDE"
holds_rows()
{
    if head -c 20000 "$1" | grep -aq '"sample.hash"'; then echo "$2: rows"; else echo "$2: no rows"; fi
}
greedystep generate --rows 70000 --features 50 --nnz 3 -o long.svm
head -n 3000 long.svm >short.svm
greedystep train long.svm -o m --passes 1 --quiet >log && holds_rows m.state "a long file"
holds_rows m "its model"
greedystep train long.svm -o m --passes 1 --holdout none --quiet >log && holds_rows m.state "a long file, --holdout none"
greedystep train - -o m --quiet <short.svm >log && holds_rows m.state "a stream"
greedystep train short.svm -o m --quiet >log && holds_rows m.state "a short file"
