# Counts and sizes as people write them.
. "$PRELUDE"
for count in 12 1_2 12e0 0012; do
    echo "$count: $(greedystep generate --rows $count -o - | wc -l | tr -d ' ') rows"
done
for count in 1__2 _12 12_ 1.2e1 120e-1 1e 0x10 -1 '' ' 12' 12k 18446744073709551616 1e20; do
    try greedystep generate --rows "$count" -o -
done
greedystep generate --rows 20 --features 10 --nnz 2 -o data.svm
for size in 64M 64m 64MB 65536K 0.0625G 64MiB 1e9 none; do
    greedystep train data.svm -o m --memory-limit $size --quiet >log && echo "$size: fine"
done
for size in 0 M 64X 64Mi 1.3 0x10 -1M 17179869184G; do
    try greedystep train data.svm -o m --memory-limit $size
done
for skew in 0 0.0 1 0.5 .5 5e-1; do
    echo "$skew: $(greedystep generate --rows 50 --skew $skew -o - | cksum)"
done
for skew in -1 11 . half 1e99 nan 0x1 1e999; do
    try greedystep generate --skew $skew -o -
done
try greedystep generate --noise 2 -o -
greedystep generate --rows 50 --noise 2 --classes 1 -o - | wc -l | tr -d ' '
