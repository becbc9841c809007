# Rows sorted by label: harmless where they are solved, from a file or a pipe, and said where they are learned in order.
. "$PRELUDE"
greedystep generate --rows 6000 --features 60 --nnz 8 -o all.svm
head -n 4000 all.svm >mixed.svm
tail -n 2000 all.svm >test.svm
sort -n -s -k1,1 mixed.svm >sorted.svm
for data in mixed sorted; do
    for how in "$data.svm" "-" "$data.svm --order file" "- --method gsa"; do
        echo "$data, train $how"
        greedystep train $how -o m <$data.svm 2>err >log || fail train
        grep note: err
        greedystep evaluate m test.svm | grep -E 'log_loss|accuracy'
    done
done
# One row in a thousand of another class is no sorted file.
awk '{ sub(/^[^ ]*/, NR % 1000 == 0); print }' all.svm >rare.svm
greedystep train - -o m --method gsa <rare.svm 2>err >log
grep note: err || echo "rare class: no note"
