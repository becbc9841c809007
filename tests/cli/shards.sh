# A file learned as the partitions of a cluster are: in parts that are merged once a pass.
. "$PRELUDE"
greedystep generate --rows 30000 --features 300 --nnz 10 --skew 1 -o rows.svm
for n in 1 4 20; do
    greedystep train rows.svm -o by$n --shards $n --quiet >log || fail train
done
different by1 by4
greedystep train rows.svm -o one --threads 1 --shards 20 --quiet >log || fail train
same by20 one
try_line 'cat rows.svm | greedystep train - -o piped --shards 4'
try greedystep train rows.svm -o by4 --resume --shards 4
try greedystep train rows.svm -o none --shards 70000
absent piped none
