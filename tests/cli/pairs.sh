# Pairs of columns that act on one another, through methods, thread counts, formats and files.
. "$PRELUDE"
# a and b act on one another, and so do c and the word; d says nothing. The noise is even, with a variance of 1/48.
rows() {
    awk -v n="$1" -v from="$2" 'BEGIN {
        print "y,a,b,c,d,w"
        for (i = from; i < from + n; i++) {
            a = (i * 7919 % 4001) / 1000 - 2; b = (i * 104729 % 3989) / 1000 - 2; c = (i * 1299709 % 4003) / 1000 - 2
            d = (i * 32452843 % 4007) / 1000 + 5; e = ((i * 15485863) % 4013) / 4013 / 2 - 0.25
            printf "%.4f,%.3f,%.3f,%s,%.3f,%s\n", a * b / 2 + (i % 2 ? c : -c) / 2 + e,
                a, b, (i % 11 ? sprintf("%.3f", c) : ""), d, (i % 2 ? "odd" : "even")
        }
    }'
}
rows 3000 0 | awk -F, '$4 != ""' >train.csv
rows 1000 5000 | awk -F, '$4 != ""' >test.csv
loss() { # the mean squared error of MODEL on the test rows
    greedystep evaluate "$1" test.csv --json | sed -n 's/.*"rmse": \([0-9.e-]*\).*/\1/p' | awk '{ printf "%.6f\n", $1 * $1 }'
}
echo "curves cannot follow it; pairs come within a half of the noise"
greedystep train train.csv --label y --pairs off -o curves.model -q || fail curves
greedystep train train.csv --label y --pairs auto -o pairs.model >summary 2>log || fail pairs
loss curves.model | awk '{ print ($1 > 0.5 ? "as it should be" : "WRONG " $0) }'
loss pairs.model | awk '{ print ($1 < 1.5 / 48 ? "as it should be" : "WRONG " $0) }'
sed -n 's/^curves *\(.* pairs\); rmse .*/\1/p' summary
echo "what is printed of held-out rows is what new rows have"
sed -n 's/.*cross-validated rmse \([0-9.]*\).*/\1/p' summary | awk -v loss="$(loss pairs.model)" '
    { print ($1 * $1 < 1.15 * loss && loss < 1.15 * $1 * $1 ? "as it should be" : "WRONG " $1 * $1 " " loss) }'
echo "a sum over columns stays one: the same predictions"
awk 'BEGIN { print "y,a,b,c"; for (i = 0; i < 2000; i++) { a = i * 7919 % 2003 / 500 - 2; b = i * 104729 % 1999 / 500 - 2
    e = sin(i * 12.9898) * 43758.5453; e -= int(e)
    printf "%.4f,%.3f,%.3f,%d\n", a * a + (b > 0 ? b : 0) + e, a, b, i * 1299709 % 1997 } }' >sum.csv
greedystep train sum.csv --label y -o a.model -q && greedystep train sum.csv --label y --pairs auto -o b.model -q
greedystep predict a.model sum.csv --ignore y >a.txt && greedystep predict b.model sum.csv --ignore y >b.txt
cmp a.txt b.txt && echo "same predictions"
echo "every number of threads, order of rows and format: the same bytes"
greedystep train train.csv --label y --pairs auto --threads 1 -o one.model -q && cmp one.model pairs.model
{ head -n 1 train.csv; tail -n +2 train.csv | sort; } >sorted.csv
greedystep train sorted.csv --label y --pairs auto -o sorted.model -q && cmp sorted.model pairs.model
tr , '\t' <train.csv | greedystep train - --label y --pairs auto -o tsv.model -q && cmp tsv.model pairs.model
echo "contributions of columns and pairs add up to the prediction"
greedystep predict pairs.model test.csv --ignore y --explain >explained.csv
head -n 1 explained.csv | sed 's/.*,w,//; s/,/\n/g' | head -n 3 | sort
awk -F, 'NR > 1 { sum = 0; for (i = 3; i <= NF; i++) sum += $i; off = $2 - sum; worst = off * off > worst ? off * off : worst }
    END { print (NR > 500 && worst < 1e-10 ? "as it should be" : "WRONG " worst) }' explained.csv
echo "learned row by row, from where the first rows begin"
greedystep train train.csv --label y --pairs auto --method gsa --passes 3 -o gsa.model -q || fail gsa
loss gsa.model | awk '{ print ($1 < 0.1 ? "as it should be" : "WRONG " $0) }'
echo "a run that goes on keeps the pairs"
rows 2000 9000 | awk -F, '$4 != ""' >more.csv
greedystep train more.csv --label y --start-from pairs.model.state -o on.model -q || fail "start from"
loss on.model | awk '{ print ($1 < 1.5 / 48 ? "as it should be" : "WRONG " $0) }'
echo "a merge has the pairs of all"
greedystep train more.csv --label y --pairs auto -o more.model -q || fail more
greedystep merge pairs.model.state more.model.state -o merged.model -q || fail merge
loss merged.model | awk '{ print ($1 < 1.5 / 48 ? "as it should be" : "WRONG " $0) }'
for method in optimum gsa; do
    greedystep train train.csv --label y --pairs auto --method $method -o a.model -q
    greedystep train more.csv --label y --pairs off --method $method -o b.model -q
    greedystep merge a.model.state b.model.state -o merged.model -q || fail "merge with curves"
    loss merged.model | awk '{ print ($1 < 0.3 ? "as it should be" : "WRONG " $0) }'
done
echo "rows that come to nodes which no first row had, little by little"
awk 'BEGIN { srand(6); print "y,a,b,c"; for (i = 0; i < 60000; i++) {
    width = i < 9000 ? 0.2 : 0.2 + (i - 9000) / 12000; a = rand() * 4 - 2; b = a + (rand() * 2 - 1) * width
    b = b > 2 ? 2 : b < -2 ? -2 : b; c = rand() * 4 - 2
    printf "%.4f,%.5f,%.5f,%.5f\n", a * b / 2 + a * c / 2 + rand() / 2, a, b, c } }' >drift.csv
greedystep train drift.csv --label y --pairs auto --method gsa --order file --passes 1 -o drift.model -q || fail drift
{ head -n 1 drift.csv; tail -n 15000 drift.csv; } >test.csv
loss drift.model | awk '{ print ($1 < 0.04 ? "as it should be" : "WRONG " $0) }'
echo "rows of few kinds: copies that are held out do not tell pairs what their noise is"
awk 'function draw(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
    BEGIN { x = 1; print "came,city,weekday,guests"; for (i = 0; i < 20000; i++) {
        city = draw(3); day = draw(7); guests = 1 + draw(8)
        print (draw(1000) < 500 + 300 * (city == 1) - 40 * guests ? "yes" : "no") ",c" city "," day "," guests } }' >kinds.csv
greedystep train kinds.csv --label came --categorical weekday -o kinds.model --json -q | sed -n 's/.*"pairs": \([0-9]*\).*/\1/p'
echo "words in one of eighty rows can be sides"
awk 'function draw() { s = s * 16807 % 2147483647; return s / 2147483647 }
BEGIN { s = 5; print "y,w,a"; for (i = 0; i < 24000; i++) { w = int(draw() * 80); a = draw() * 4 - 2
    printf "%.4f,w%d,%.4f\n", (w % 2 ? a : -a) * (w < 40) + draw() / 2, w, a } }' >eighty.csv
head -n 16001 eighty.csv >train.csv
(head -n 1 eighty.csv && tail -n 8000 eighty.csv) >test.csv
greedystep train train.csv --label y -o words.model -q || fail train
greedystep train train.csv --label y --pairs off -o flat.model -q || fail train
echo "$(loss words.model) $(loss flat.model)" | awk '{ print ($1 < 0.8 * $2 ? "as it should be" : "WRONG " $0) }'
