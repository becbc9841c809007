# --compact: fewer weights, about the same loss, the same bits for any threads, and a state that goes on.
. "$PRELUDE"
awk 'BEGIN { srand(5); for (i = 0; i < 6000; i++) { m = 0; line = ""
    for (j = 1; j <= 400; j++) if (rand() < 0.05) { line = line " " j ":1"; m += j <= 10 ? (j % 2 ? 3 : -3) : 0.02 }
    print (m + 2 * rand() - 1 > 0.4 ? 1 : 0) line } }' >all.svm
head -n 5000 all.svm >train.svm
tail -n 1000 all.svm >test.svm

# kept MODEL: how many weights it has, and whether its loss is near that of the full model.
loss_of() { greedystep evaluate "$1" test.svm --json | sed -n 's/.*"log_loss": \([0-9.e-]*\).*/\1/p'; }
kept()
{
    greedystep inspect "$1" | sed -n 's/^nonzero weights *\([0-9]*\) of.*/\1/p' >n
    echo "$(loss_of full) $(loss_of "$1") $(cat n)" |
        awk -v name="$1" '{ print name ": " ($3 >= 8 && $3 < 100 ? "few weights" : "MANY WEIGHTS " $3) ", " ($2 < $1 + 0.05 ? "about the loss" : "LOSS " $2 " of " $1) }'
}
for method in optimum gsa; do
    greedystep train train.svm -o full -q --method $method || fail full
    greedystep train train.svm -o small -q --method $method --compact || fail small
    kept small
    greedystep train train.svm -o again -q --method $method --compact -j 3 || fail again
    same small again
    same small.state again.state
    [ "$(wc -c <small)" -lt "$(wc -c <full)" ] && [ "$(wc -c <small.state)" -lt "$(wc -c <full.state)" ] && echo "smaller files"
    greedystep train train.svm -o later -q --method $method --compact --start-from small || fail later
    kept later
done
echo "-- the summary and its numbers --"
try_line "greedystep train train.svm --compact -o m | grep -o '^compact.*features kept' | sed 's/[0-9][0-9]*/N/g'"
try_line "greedystep train train.svm --compact -o m --json | grep -c -e features_before -e standard_error"
echo "-- several classes, numbers, hinge --"
awk '{ n = 0; for (i = 2; i <= NF; i++) { split($i, f, ":"); if (f[1] <= 3) n = f[1] } $1 = n; print }' train.svm >four.svm
awk '{ n = 0.5; for (i = 2; i <= NF; i++) { split($i, f, ":"); if (f[1] <= 3) n += f[1] } $1 = n; print }' train.svm >number.svm
for each in four.svm number.svm 'train.svm --loss hinge' 'train.svm --loss huber' 'four.svm --loss squared_hinge'; do
    for method in optimum gsa; do
        [ "$each $method" = "train.svm --loss hinge optimum" ] && continue
        greedystep train $each --method $method --compact -o m --json -q >said 2>error || { cat error; fail "$each"; }
        echo "$each $method: $(grep -c '"features_before"' said)"
    done
done
echo "-- no held-out rows, and nothing to learn --"
try_line 'greedystep train train.svm --method gsa --holdout none --passes 1 --compact -o m 2>log | grep compact'
printf '1 1:1\n0 2:1\n' >two.svm
try_line 'greedystep train two.svm --compact -o m -q && greedystep inspect m | grep nonzero'
echo "-- huber with labels of which most are equal, which have no width to begin with --"
try_line 'greedystep train train.svm --loss huber -o m -q && echo solved'
echo "-- few rows: nothing is dropped below 30 held-out ones, and what was dropped does not seem to gain --"
head -n 150 train.svm >few.svm
for method in optimum gsa; do
    try_line "greedystep train few.svm --compact -o m --method $method 2>log | grep compact"
done
held_out() { greedystep train "$@" -o m -q --json | sed -n 's/.*"held_out_loss": \([0-9.e-]*\).*/\1/p'; }
awk 'function draw(n) { x = x * 16807 % 2147483647; return int(n * x / 2147483647) }
    BEGIN { x = 4; for (i = 0; i < 400; i++) { a = draw(9); line = " 1:" a
        for (j = 2; j <= 20; j++) line = line " " j ":" draw(9)
        print (a + draw(5) > 6 ? 1 : 0) line } }' >some.svm
echo "$(held_out some.svm) $(held_out some.svm --compact)" | awk '{ print ($2 >= $1 ? "no better than the full model" : "better: " $0) }'
try_line "greedystep train some.svm --compact -o m | grep -e '^limit' -e '^compact'"
echo "-- numbers are judged by the root of the mean squared error --"
try_line "greedystep train number.svm --compact -o m | grep -e '^quality' -e '^compact' | sed 's/[0-9.]*[0-9]/N/g'"
