# Models that were trained apart become one; a common start must be given.
. "$PRELUDE"
greedystep generate --rows 4000 --features 100 --nnz 10 -o all.svm
head -n 2000 all.svm >a.svm
tail -n 2000 all.svm >b.svm
for each in a b; do
    greedystep train $each.svm -o $each --quiet >log || fail train
done
try greedystep merge a b -o both
try greedystep evaluate both all.svm
try greedystep inspect both --top 3
greedystep merge a.state b.state -o again >log || fail merge
same both again
same both.state again.state
greedystep merge a -o one >log || fail "merge of one"
greedystep predict a all.svm -o a.out && greedystep predict one all.svm -o one.out
same a.out one.out

echo "a common ancestor"
greedystep train a.svm -o c --start-from both --quiet >log || fail start
greedystep train b.svm -o d --start-from both --quiet >log || fail start
try greedystep merge c d -o refused
try greedystep merge c d --base both -o accepted
try greedystep evaluate accepted all.svm
try greedystep merge c d --base a -o refused

echo "what does not fit"
try greedystep merge a a -o refused
greedystep train a.svm -o linear --loss squared --quiet >log || fail squared
try greedystep merge a linear -o refused
try greedystep merge a missing -o refused
try greedystep merge a b -o missing/both
absent refused

echo "over an input"
greedystep merge a b -o a >log || fail "merge over an input"
same a both
same a.state both.state

echo "-- labels that one of the models does not know --"
printf '1 1:1\n0 1:-1\n1 1:2\n0 1:-2\n' >zero.svm
printf '1 1:1 2:1\n-1 1:-1\n1 1:2\n-1 2:-2\n' >minus.svm
greedystep train zero.svm -o zero --quiet >log
greedystep train minus.svm -o minus --quiet >log
try greedystep merge zero minus -o both
