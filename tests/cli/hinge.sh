# Linear support vector machines, and weights of classes.
. "$PRELUDE"
greedystep generate --rows 4000 --features 50 --nnz 10 -o all.svm
head -n 3000 all.svm >train.svm
tail -n 1000 all.svm >test.svm
for loss in hinge squared_hinge; do
    try greedystep train train.svm -o $loss.model --loss $loss --method gsa
    try greedystep evaluate $loss.model test.svm
    greedystep predict $loss.model test.svm -o $loss.out
    try head -n 3 $loss.out
done
echo "labels of predictions that are right:"
cut -d ' ' -f 1 hinge.out >predicted
cut -d ' ' -f 1 test.svm | paste -d ' ' - predicted | awk '$1 == $2 { n++ } END { print n }'
try greedystep inspect hinge.model --top 2

echo "three labels"
awk '{ if (NR % 3 == 0) $1 = $1 + 2; print }' train.svm >three.svm
greedystep train three.svm -o three --loss hinge --quiet >log || fail three
try greedystep evaluate three three.svm
try_line "head -n 2 three.svm | greedystep predict three -"

echo "going on and merging"
head -n 1500 train.svm >a.svm
tail -n 1500 train.svm >b.svm
for each in a b; do
    greedystep train $each.svm -o $each --loss hinge --class-weight balanced --quiet >log || fail $each
done
greedystep merge a b -o both >log || fail merge
try greedystep evaluate both test.svm
greedystep train a.svm -o half --loss hinge --class-weight balanced --passes 1 --method paper --quiet >log || fail half
greedystep train a.svm -o half --resume --passes 5 --quiet >log || fail resume
greedystep train a.svm -o full --loss hinge --class-weight balanced --passes 5 --method paper --quiet >log || fail full
same half full
same half.state full.state
greedystep train b.svm -o next --start-from a --quiet >log || fail start
try greedystep train b.svm -o refused --start-from a --loss logistic --quiet
greedystep train b.svm -o plain --loss logistic --class-weight balanced --quiet >log || fail plain
try greedystep merge a plain -o refused
try greedystep train a.svm -o refused --loss squared --class-weight balanced --quiet
absent refused

echo "few rows are learned, too: the margins of 0 that a fit begins with say nothing of its steps"
greedystep generate --rows 3000 --features 60 --nnz 8 -o few_all.svm
head -n 600 few_all.svm >few.svm
tail -n 2000 few_all.svm >others.svm
for method in optimum gsa; do
    greedystep train few.svm --loss hinge --method $method -o few_$method --quiet >log || fail few
    greedystep evaluate few_$method others.svm | awk '$1 == "accuracy" { print ($2 > 0.72 ? "above .72" : $2) }'
done
