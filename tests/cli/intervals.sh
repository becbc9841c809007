# Intervals of predicted numbers: what they cover, their formats, and where they are refused.
. "$PRELUDE"
# The noise of y grows with a; --method gsa and counts have intervals, too.
rows() {
    awk -v n="$1" -v from="$2" 'BEGIN {
        print "y,n,class,a,b"
        for (i = from; i < from + n; i++) {
            a = (i * 7919 % 4001) / 1000; b = (i * 104729 % 3989) / 1000 - 2; e = (i * 15485863) % 4013 / 4013 - 0.5
            printf "%.4f,%d,%s,%.3f,%.3f\n", 100 + 3 * a + b + a * e, a + 2 * a * (e + 0.5), (e > 0 ? "yes" : "no"), a, b
        }
    }'
}
rows 4000 0 >train.csv
rows 4000 5000 >test.csv
covered() { # the share of labels in column $2 of the test rows that is between the last two columns of predictions
    tail -n +2 test.csv | cut -d, -f "$2" | paste -d, - "$1" | awk -F'[, ]' -v from="$3" -v to="$4" '
        $2 > $4 || $3 > $4 { bad++ } { n += $3 <= $1 && $1 <= $4; width[NR % 2] += $4 - $3 }
        END { share = n / NR; print (bad == 0 && from < share && share < to ? "as it should be" : "WRONG " share) }'
}
echo "nine of ten new labels are between the ends, half of them between others"
for method in optimum gsa; do
    greedystep train train.csv --label y --ignore n,class --method $method -o $method.model -q || fail $method
    greedystep predict $method.model test.csv --ignore n,class,y --interval 0.9 >predicted
    covered predicted 1 0.88 0.92
    greedystep predict $method.model test.csv --ignore n,class,y --interval 0.5 >predicted
    covered predicted 1 0.46 0.54
done
echo "they are wide where labels spread"
greedystep predict optimum.model test.csv --ignore n,class,y --interval 0.9 | sort -n | awk '
    NR <= 400 { low += $3 - $2 } NR > 3600 { high += $3 - $2 }
    END { print (high > 3 * low ? "as it should be" : "WRONG " low " " high) }'
echo "counts are not below 0"
greedystep train train.csv --label n --ignore y,class --loss poisson -o counts.model -q || fail counts
greedystep predict counts.model test.csv --ignore y,class,n --interval 0.8 >predicted
covered predicted 2 0.77 0.9
awk '$2 < 0' predicted
echo "formats"
printf 'a,b\n0.1,0.2\nwrong,1\n3.9,0.2\n' >few.csv
for format in text csv jsonl; do
    greedystep predict optimum.model few.csv --bad-rows skip --interval 0.9 --format $format 2>log |
        sed 's/[0-9][0-9]*\.[0-9]*/N/g'
done
greedystep predict optimum.model few.csv --bad-rows skip --interval 0.9 --explain 2>log | sed 's/-*[0-9][0-9]*\.[0-9e-]*/N/g'
echo "refusals"
greedystep train train.csv --label class --ignore y,n -o class.model -q
head -n 15 train.csv | greedystep train - --label y --ignore n,class -o few.model -q
greedystep train train.csv --label y --ignore n,class --offset b -o offset.model -q
for model in class few offset; do
    try_line "greedystep predict $model.model few.csv --bad-rows skip --interval 0.9"
done
try_line 'greedystep predict optimum.model few.csv --interval 1'
try_line 'greedystep predict optimum.model few.csv --interval 90'
