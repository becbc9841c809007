# Without a terminal the progress is a line at every power of two of the rows, on stderr; stdout has the summary only.
# There is no rate in the first second, and the loss of a run that learns falls, from pass to pass too.
. "$PRELUDE"
greedystep generate --rows 20000 --features 100 --nnz 10 -o data.svm
try greedystep train data.svm -o m --passes 2
greedystep train data.svm -o m --passes 2 2>err >out
grep -c '^pass' out || true

falls()
{
    awk '{for (i = 2; i < NF; i++) if ($i == "loss" || $i == "rmse") {if (n++ > 0 && $(i + 1) > 1.02 * last) print "RISES: " $0
        last = $(i + 1)}} END {print NR " lines, " n " losses"}' "$1"
}
falls err
greedystep generate --rows 20000 --features 1000 --nnz 10 --classes 1 --noise 0.01 -o numbers.svm
sed 's/^-*[0-9.e+-]*/&0/' numbers.svm >tens.svm
greedystep train tens.svm -o m --passes 3 2>err >out
falls err
seconds=$(sed -n 's/^time *\([0-9]*\)\..*/\1/p' out)
[ "$seconds" -gt 0 ] || ! grep 'rows/s' err || fail "a rate in the first second"
