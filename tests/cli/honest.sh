# What a run says of itself is what its model has: with copies of rows, a label that comes late, labels far from 0, and
# features that are too small to be learned.
. "$PRELUDE"

value() # NAME FILE: of a report
{
    awk -v name="$1" '$1 == name { print $2 }' "$2"
}
said()
{
    sed -n -E 's/.*(cross-validated|held-out) [a-z ]+ ([0-9.]+).*/\2/p' "$1"
}
near() # WHAT A B SHARE: A is at most SHARE above B
{
    awk -v what="$1" -v a="$2" -v b="$3" -v share="$4" 'BEGIN {
        ok = a != "" && b != "" && a <= b * (1 + share)
        print what (ok ? ": so it is" : ": NO, " a " beside " b) }'
}

echo "copies of rows, of a small file and of a long one"
greedystep generate --rows 7500 --features 300 --nnz 12 --seed 4 -o all.svm --quiet
tail -n 4000 all.svm >test.svm
for rows in 400 3500; do
    head -n $rows all.svm >once.svm
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat once.svm; done >copies.svm
    for name in once copies; do
        greedystep train $name.svm -o $name.model >$name.said 2>log
        greedystep evaluate $name.model test.svm >$name.is
    done
    near "$rows rows 20 times: new rows have the loss that was said" \
        "$(value log_loss copies.is)" "$(said copies.said)" 0.06
    near "$rows rows 20 times: and that of each row once" "$(value log_loss copies.is)" "$(value log_loss once.is)" 0.06
done

echo
echo "a label that comes late"
awk 'BEGIN { srand(3); for (i = 1; i <= 20000; i++) {
    a = rand() * 4 - 2; b = rand() * 4 - 2
    print (1 / (1 + exp(-a + b)) > rand()) " 1:" a " 2:" b } }' >two.svm
{ cat two.svm; echo "2 1:0.5"; } >late.svm
for name in two late; do
    greedystep train - -o $name.model --method gsa <$name.svm >$name.said 2>$name.log
    greedystep evaluate $name.model two.svm >$name.is
    grep note: $name.log
done
near "the loss is that of a run without it" "$(value log_loss late.is)" "$(value log_loss two.is)" 0.01
near "and so is what is said" "$(said late.said)" "$(said two.said)" 0.01

echo
echo "labels far from 0"
awk 'BEGIN { srand(5); print "y,a"; for (i = 1; i <= 3000; i++) {
    a = rand() * 4 - 2; printf "%.6f,%.6f\n", 1e9 + 3 * a + rand(), a } }' >far.csv
greedystep train far.csv --loss squared --label y -o far.model >far.said 2>log
greedystep evaluate far.model far.csv >far.is
near "the error that was said" "$(value rmse far.is)" "$(said far.said)" 0.05
near "is that of the noise" "$(value rmse far.is)" 0.289 0.05
greedystep export far.model -o far.c >log 2>&1 && grep -c 'static const double' far.c

echo
echo "features that are too small"
awk '{ for (i = 2; i <= NF; i++) { split($i, part, ":"); $i = part[1] ":" part[2] * 1e-30 }; print }' two.svm >tiny.svm
for options in "--method auto" "--method gsa --scale none"; do
    echo "\$ greedystep train tiny.svm $options"
    greedystep train tiny.svm -o tiny.model $options >log 2>&1 || fail tiny
    grep note: log
    greedystep evaluate tiny.model tiny.svm >tiny.is || fail tiny
    awk '$1 == "log_loss" { print ($2 < 0.6 ? "learned" : "not learned") }' tiny.is
done

echo
echo "labels that are too large, not features"
awk 'BEGIN { srand(3); print "y,a,b"; for (i = 0; i < 500; i++) { a = rand(); b = rand(); print (a - 2 * b) "e38," a "," b } }' >large.csv
for options in "--method gsa"; do
    try_line "greedystep train large.csv --label y -o never $options --quiet 2>&1 | grep -o 'finite.*'"
done
