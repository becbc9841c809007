# Metrics of parts of the rows: the values of a column, and days.
. "$PRELUDE"
awk 'BEGIN {
    print "when,site,x,y"; s = 7
    for (i = 0; i < 400; i++) {
        s = s * 16807 % 2147483647; x = s % 1000 / 1000
        s = s * 16807 % 2147483647; u = s / 2147483647
        printf "2026-11-%02dT%02d:00:00,%s,%s,%s\n", 1 + i / 100, i % 24, i % 3 == 0 ? "c" : i % 3 == 1 ? "a" : "a b", x, u < x ? "yes" : "no"
    }
}' >rows.csv
greedystep train rows.csv --ignore when,site -o m >/dev/null 2>&1 || fail train

echo "each value has its rows, its loss, and what was observed and predicted"
try greedystep evaluate m rows.csv --by site
echo "moments are put together by day"
try greedystep evaluate m rows.csv --by when | tail -n 5
echo "a slice has the metrics that its rows have alone"
greedystep evaluate m rows.csv --by site --json >all.json
grep -e '^[^,]*,c,' -e '^when' rows.csv >c.csv
greedystep evaluate m c.csv --json >c.json
sed -n '/"value": "c"/,/}/s/.*"log_loss": \(.*\),/\1/p' all.json >one
sed -n 's/.*"log_loss": \(.*\),/\1/p' c.json >other
cmp one other && echo same
echo "the mean of the label and of the predictions are those of the rows"
awk -F, 'NR > 1 { n++; k += $4 == "yes" } END { printf "%.6f\n", k / n }' c.csv
greedystep predict m c.csv -o c.out.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /yes/) at = i } NR > 1 { n++; p += $at } END { printf "%.5f\n", p / n }' c.out.csv
sed -n '/"value": "c"/,/}/p' all.json | awk '/observed/ { printf "%.6f\n", $2 } /predicted/ { printf "%.5f\n", $2 }'
echo "numbers have means of numbers"
sed 's/yes/2.5/; s/no/1.5/' rows.csv >numbers.csv
greedystep train numbers.csv --ignore when,site --loss squared -o n >/dev/null 2>&1 || fail train
try greedystep evaluate n numbers.csv --by site
echo "refused"
try greedystep evaluate m rows.csv --by nowhere
awk 'BEGIN { print "when,site,x,y"; for (i = 0; i < 1100; i++) printf "%d,s,0.5,%s\n", i, i % 2 ? "yes" : "no" }' >many.csv
try greedystep evaluate m many.csv --by when
