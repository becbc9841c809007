# Columns with which predictions never fall, or never rise.
. "$PRELUDE"
# a raises y and c lowers it, b does both, d acts on b, s is 0 or 1, w a word; the noise is larger than most steps.
rows() {
    awk -v n="$1" -v from="$2" 'BEGIN {
        print "y,a,b,c,d,s,w"
        for (i = from; i < from + n; i++) {
            a = (i * 7919 % 4001) / 1000 - 2; b = (i * 104729 % 3989) / 1000 - 2; c = (i * 1299709 % 4003) / 1000 + 5
            d = (i * 32452843 % 4007) / 1000 - 2; e = ((i * 15485863) % 4013) / 4013 * 4 - 2; s = i * 31 % 7 < 3
            y = (a > 0 ? a * a : 0) + b * b / 2 - (c > 7 ? 2 : c / 5) + b * d / 2 + s / 4 + (i % 2 ? 1 : 0) + e
            printf "%.4f,%s,%.3f,%.3f,%.3f,%d,%s\n", y, (i % 13 ? sprintf("%.3f", a) : ""), b, c, d, s, (i % 2 ? "odd" : "even")
        }
    }'
}
rows 2000 0 >train.csv
rows 1000 5000 >test.csv
awk -F, 'NR == 1 || $1 != ""' OFS=, train.csv | awk -F, 'NR > 1 { $1 = $1 > 2 ? "yes" : "no" } 1' OFS=, >classes.csv
# The largest fall of predictions of MODEL, in SIGN, along column NUMBER of 40 rows from below to above all that was seen.
falls() {
    awk -F, -v at="$3" 'NR == 1 { print } NR > 1 && NR < 42 {
        for (x = -80; x <= 160; x++) { line = $1; for (i = 2; i <= NF; i++) line = line "," (i == at ? x / 10 : $i); print line }
    }' "${4:-test.csv}" >grid.csv
    greedystep predict "$1" grid.csv --format csv -o grid.out --quiet || fail predict
    awk -F, -v sign="$2" 'NR > 1 { now = sign * $NF; if ((NR - 2) % 241 > 0 && before - now > worst) worst = before - now
        before = now } END { print (worst < 1e-5 ? "never" : "by more than a rounding error") }' grid.out
}
try greedystep train train.csv --label y --increasing a,s --decreasing c -o signed | grep -v '^time'
try greedystep inspect signed --top 3
greedystep train train.csv --label y -o free --quiet || fail train
echo "without signs: a falls $(falls free 1 2), c rises $(falls free -1 4)"
for options in "" "--curves off" "--pairs auto" "--method optimum --loss huber" "--scale none --curves off"; do
    greedystep train train.csv --label y --increasing a,s --decreasing c $options -o m --quiet >/dev/null || fail train
    echo "$options: a falls $(falls m 1 2), s falls $(falls m 1 6), c rises $(falls m -1 4)"
done
echo "of two classes the one that comes last"
greedystep train classes.csv --label y --increasing a,s --decreasing c -o m --quiet || fail train
echo "classes: a falls $(falls m 1 2), s falls $(falls m 1 6), c rises $(falls m -1 4)"
echo "a false sign leaves a column flat"
greedystep train train.csv --label y --decreasing a --increasing c -o m --quiet || fail train
echo "a rises $(falls m -1 2) and falls $(falls m 1 2), c rises $(falls m -1 4) and falls $(falls m 1 4)"
echo "true signs do not cost"
for m in free signed; do greedystep evaluate $m test.csv --json | sed -n 's/.*"rmse": \([0-9.]*\).*/\1/p'; done |
    awk 'NR == 1 { free = $1 } NR == 2 { print ($1 < 1.005 * free ? "as it should be" : "WRONG " free " " $1) }'
echo "every number of threads, order of rows and format: the same bytes"
greedystep train train.csv --label y --increasing a,s --decreasing c -j 1 -o one --quiet && same one signed
{ head -n 1 train.csv; tail -n +2 train.csv | sort; } >sorted.csv
greedystep train sorted.csv --label y --increasing a,s --decreasing c -o m --quiet && same m signed
tr , '\t' <train.csv | greedystep train - --label y --increasing s,a --decreasing c -o m --quiet && same m signed
greedystep convert train.csv --label y --increasing a,s --decreasing c -o rows.gsac --quiet || fail convert
greedystep train rows.gsac -o m --quiet && same m signed
greedystep train train.csv --label y -o m --quiet && same m free
echo "what is refused"
try greedystep train train.csv --label y --increasing a --decreasing b,a -o m
try greedystep train train.csv --label y --increasing w -o m
try greedystep train train.csv --label y --increasing y -o m
try greedystep train train.csv --label y --decreasing aa -o m
try greedystep train train.csv --label y --increasing a --cross a:b -o m
try greedystep train train.csv --label y --increasing a --method gsa -o m
try greedystep train train.csv --label y --increasing a --passes 3 -o m
try greedystep train train.csv --label y --increasing a --start-from free.state -o m
try greedystep train train.csv --label y --start-from signed.state -o m
greedystep train test.csv --label y -o other --quiet || fail train
try greedystep merge signed.state other.state -o m
awk -F, 'NR > 1 { $1 = int($1) % 3 == 0 ? "x" : int($1) % 3 == 1 ? "y" : "z" } 1' OFS=, train.csv >three.csv
try greedystep train three.csv --label y --increasing a -o m
try greedystep evaluate signed test.csv --increasing b
echo "1 1:2" >some.libsvm
try greedystep train some.libsvm --increasing 1 -o m
