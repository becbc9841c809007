# Without a terminal the progress is a line at every power of two of the rows, on stderr; stdout has the summary only.
. "$PRELUDE"
greedystep generate --rows 20000 --features 100 --nnz 10 -o data.svm
try greedystep train data.svm -o m --passes 2
greedystep train data.svm -o m --passes 2 2>err >out
grep -c 'rows/s' err
grep -c '^pass' out || true
