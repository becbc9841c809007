# Columns that bend, through every format, method, thread count and file.
. "$PRELUDE"
# a bends, b is a line, c has gaps, w is a word; the noise is even, with a variance of 1/48.
rows() {
    awk -v n="$1" -v from="$2" 'BEGIN {
        print "y,a,b,c,w"
        for (i = from; i < from + n; i++) {
            a = (i * 7919 % 4001) / 1000 - 2; b = (i * 104729 % 3989) / 1000 - 2; c = (i * 1299709 % 4003) / 1000 - 2
            e = ((i * 15485863) % 4007) / 4007 / 2 - 0.25
            printf "%.4f,%.3f,%.3f,%s,%s\n", (a > 0 ? a : -a) + b / 2 + (i % 9 ? (c > 1 ? 1 : c) : 0.7) + (i % 2) + e,
                a, b, (i % 9 ? sprintf("%.3f", c) : ""), (i % 2 ? "odd" : "even")
        }
    }'
}
rows 3000 0 >train.csv
rows 1000 5000 >test.csv
loss() { # the mean squared error of MODEL on the test rows
    greedystep evaluate "$1" test.csv --json | sed -n 's/.*"rmse": \([0-9.e-]*\).*/\1/p' | awk '{ printf "%.6f\n", $1 * $1 }'
}
echo "lines cannot follow it; curves come within a quarter of the noise"
greedystep train train.csv --label y --curves off -o lines.model -q || fail lines
greedystep train train.csv --label y -o curves.model >summary 2>log || fail curves
loss lines.model | awk '{ print ($1 > 0.3 ? "as it should be" : "WRONG " $0) }'
loss curves.model | awk '{ print ($1 < 1.25 / 48 ? "as it should be" : "WRONG " $0) }'
sed -n 's/^curves *\(.* columns; rmse\) \(.*\), lines alone \(.*\)/\1 \2 \3/p' summary |
    awk '{ print $1, $2, $3, ($4 < 0.17 && $5 > 0.5 ? "as it should be" : "WRONG " $0) }'
echo "what lines alone have is what they print themselves"
greedystep train train.csv --label y --curves off -o lines.model 2>log | sed -n 's/.*cross-validated rmse \([0-9.]*\) .*/\1/p' >lines
sed -n 's/^curves.*lines alone //p' summary | cmp - lines && echo same loss
echo "what is printed of held-out rows is what new rows have"
sed -n 's/.*cross-validated rmse \([0-9.]*\).*/\1/p' summary | awk -v loss="$(loss curves.model)" '
    { print ($1 * $1 < 1.1 * loss && loss < 1.1 * $1 * $1 ? "as it should be" : "WRONG " $1 * $1 " " loss) }'
echo "a line is a line: the same model"
awk 'BEGIN { print "y,a,b"; for (i = 0; i < 2000; i++) { a = i * 7919 % 2003; b = i * 104729 % 1999
    printf "%.4f,%d,%d\n", a / 2003 - b / 999 + ((i * 15485863) % 2011) / 2011, a, b } }' >line.csv
greedystep train line.csv --label y --curves off -o a.model -q && greedystep train line.csv --label y --pairs off -o b.model -q
greedystep predict a.model line.csv --ignore y >a.txt && greedystep predict b.model line.csv --ignore y >b.txt
cmp a.txt b.txt && echo same predictions
echo "columns that say nothing are nearly flat: what counts for little is penalised more"
awk 'BEGIN { split("7919 104729 1299709 15485863 32452843 49979687", by, " "); print "y,s,n1,n2,n3,n4,n5"
    for (i = 0; i < 2000; i++) { s = (i * by[1] % 4001) / 1000 - 2; line = ""
        for (j = 2; j <= 6; j++) line = line "," (i * by[j] % (3989 + 14 * j)) / 1000
        printf "%.4f,%.3f%s\n", (s > 0 ? s : -s) + ((i * 86028121) % 4007) / 4007 * 4, s, line } }' >noise.csv
greedystep train noise.csv --label y --pairs off -o noise.model -q
greedystep inspect noise.model | sed -n '/strongest/,$p' | awk 'NR == 3 { first = $2 } NR == 4 { print ($2 < first / 30 ? "as it should be" : "WRONG " $2 " " first) }'
echo "every number of threads, order of rows and format: the same bytes"
greedystep train train.csv --label y --threads 1 -o one.model -q && cmp one.model curves.model
{ head -n 1 train.csv; tail -n +2 train.csv | sort; } >sorted.csv
greedystep train sorted.csv --label y -o sorted.model -q && cmp sorted.model curves.model
tr , '\t' <train.csv | greedystep train - --label y -o tsv.model -q && cmp tsv.model curves.model
echo "inspect counts and ranks columns, not knots"
greedystep inspect curves.model | grep -e ^features -e ^nonzero
greedystep inspect curves.model | sed -n '/strongest/,$p' | awk 'NR > 2 { print $NF, $3 }' | head -n 3
echo "streams learn curves too"
greedystep train train.csv --label y --method gsa -o gsa.model >summary 2>log || fail gsa
sed -n '/^curves/p' summary
loss gsa.model | awk '{ print ($1 < 1.5 / 48 ? "as it should be" : "WRONG " $0) }'
echo "a run that starts from curves keeps their knots, and learns from both days"
rows 1500 0 >monday.csv
rows 1500 1500 >tuesday.csv
greedystep train monday.csv --label y -o monday.model -q
for method in optimum gsa; do
    greedystep train tuesday.csv --label y --start-from monday.model --method $method -o tuesday.model -q || fail start
    echo "$(loss tuesday.model) $(loss monday.model)" | awk '{ print ($1 < 1.002 * $2 ? "as it should be" : "WRONG " $0) }'
done
echo "states are merged on the knots of all: they have what both have learned"
greedystep train tuesday.csv --label y --start-from monday.model --method gsa -o b.model -q
greedystep train monday.csv --label y --start-from monday.model --method gsa -o a.model -q
greedystep merge a.model b.model --base monday.model -o both.model -q && loss both.model | awk '{ print ($1 < 1.5 / 48 ? "as it should be" : "WRONG " $0) }'
greedystep train tuesday.csv --label y -o other.model -q
greedystep merge monday.model other.model -o both.model -q
echo "$(loss both.model) $(loss monday.model) $(loss other.model)" | awk '{ print ($1 < ($2 + $3) / 2 ? "as it should be" : "WRONG " $0) }'
greedystep train monday.csv --label y --curves off -o straight.model -q # a line becomes a curve
greedystep merge other.model straight.model -o both.model -q
echo "$(loss both.model) $(loss straight.model)" | awk '{ print ($1 < $2 ? "as it should be" : "WRONG " $0) }'
for day in monday tuesday; do
    greedystep train $day.csv --label y --method gsa -o $day.gsa.model -q
done
for other in monday.gsa.model monday.model; do # learned row by row, or solved: two rules, the same numbers
    greedystep merge tuesday.gsa.model $other -o both.model -q
    echo "$(loss both.model) $(loss tuesday.gsa.model) $(loss $other)" | awk '{ print ($1 < ($2 + $3) / 2 * 1.05 ? "as it should be" : "WRONG " $0) }'
done
echo "a run that is resumed has the same bytes"
greedystep train train.csv --label y --method gsa --passes 3 -o a.model -q
greedystep train train.csv --label y --method gsa --passes 3 --threads 1 -o b.model -q && cmp a.model b.model
echo "values far outside count as those one range outside"
printf 'a,b,c,w\n4,0,0,odd\n6.1,0,0,odd\n6000,0,0,odd\n' >far.csv
greedystep predict curves.model far.csv | awk '{ print (NR == 1 ? "inside" : NR == 2 ? (last = $1) * 0 "" : $1 == last ? "same" : "WRONG " $1 " " last) }'
echo "thousands of words that mean nothing do not press curves flat"
awk 'function draw() { s = s * 16807 % 2147483647; return s / 2147483647 }
BEGIN { s = 7; print "a,b,c,d,word,other,y"
    for (i = 0; i < 9000; i++) {
        a = draw() * 6 - 3; b = draw() * 6 - 3; c = draw() * 6 - 3; d = draw() * 6 - 3; w = int(draw() * 3000); v = int(draw() * 3000)
        m = .5 * sin(2 * a) + .4 * sin(3 * b) + .3 * cos(2 * c) + .3 * sin(d) - 1
        printf "%.3f,%.3f,%.3f,%.3f,w%d,v%d,%s\n", a, b, c, d, w, v, draw() < 1 / (1 + exp(-m)) ? "yes" : "no" } }' >words.csv
head -n 6001 words.csv >words.train.csv
(head -n 1 words.csv && tail -n 3000 words.csv) >words.test.csv
log_loss() { greedystep evaluate "$1" words.test.csv --json | sed -n 's/.*"log_loss": \([0-9.e-]*\),.*/\1/p'; }
greedystep train words.train.csv --label y --pairs off -o all -q >/dev/null || fail train
greedystep train words.train.csv --label y --pairs off --ignore word,other -o few -q >/dev/null || fail train
echo "$(log_loss all) $(log_loss few)" | awk '{ print ($1 < $2 + 0.003 ? "fine" : "no: " $0) }'
