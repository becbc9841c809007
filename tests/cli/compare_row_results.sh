# --row-results: what every method came to on each test row after its last pass.
. "$PRELUDE"
greedystep generate --rows 300 --features 20 --nnz 5 -o all.svm
head -n 200 all.svm >train.svm
tail -n 100 all.svm >test.svm

# The means over the rows, and the same of -o's test rows: method, parameters, pass, seed, loss, accuracy.
means()
{
    awk -F, 'NR > 1 { k = $1 "," $2 "," $4 "," $3; n[k]++; loss[k] += $6; right[k] += $7 }
        END { for (k in n) printf "%s,%.6f,%.6f\n", k, loss[k] / n[k], right[k] / n[k] }' "$1" | sort
}
results()
{
    awk -F, -v pass="$2" '$6 == "test" && $4 == pass { printf "%s,%s,%s,%s,%.6f,%.6f\n", $2, $3, $4, $5, $7, $8 }' \
        "$1" | sort
}

try greedystep compare train.svm --test test.svm --methods paper,sgd:0.1 --passes 2 --seeds 2 -o a.csv --row-results r.csv
count_lines r.csv
sed -n -e 1,3p -e 102p -e 202p -e '$p' r.csv
awk -F, 'NR > 1 && $5 != (NR - 2) % 100 { print "out of order:", $0 }' r.csv
echo "their means are the results of -o"
means r.csv >by_rows
results a.csv 2 >by_results
same by_rows by_results
count_lines by_rows

echo "each is what predict says of its row, whose label may be the other one"
greedystep train train.svm --method paper -o m --average last --order shuffled --seed 1 --passes 2 --quiet >log || fail train
greedystep predict m test.svm -o predicted || fail predict
cut -d' ' -f1 test.svm >labels
grep '^paper,average=last,1,2,' r.csv | cut -d, -f6- | tr , ' ' >judged
paste -d' ' judged labels predicted | awk '{
    right = $3 == $4
    off = $1 + log(right ? $5 : 1 - $5)
    if (right != $2 || off * off > 1e-8) print "not so:", $0
    n++
} END { print n, "rows" }'

echo "rows of a split are numbered in all of the input: with a feature of its own, each is predicted to be 0"
seq 0 29 | awk '{ print $1, $1 + 1 ":1" }' >own.svm
greedystep compare own.svm --methods paper --loss squared --intercept off --passes 1 --seeds 4 --quiet -o own.csv \
    --row-results own_rows.csv >log || fail own
awk -F, 'NR > 1 && ($6 != $5 * $5 / 2 || $7 != "") { print "not so:", $0 }' own_rows.csv
awk -F, 'NR > 1 && $3 == seed && $5 <= row { print "out of order:", $0 } { seed = $3; row = $5 }' own_rows.csv
sed 1d own_rows.csv | cut -d, -f5 | sort -n | uniq | wc -l |
    awk '{ print ($1 > 6) ? "not always the same" : "ALWAYS THE SAME" }'
count_lines own_rows.csv
greedystep compare all.svm --methods paper,dog --passes 1 --seeds 3 --quiet -o s.csv --row-results t.csv >log || fail split
means t.csv >by_rows
results s.csv 1 >by_results
same by_rows by_results

echo "a label that the model does not know is wrong; a method that diverged has no results"
{ head -n 2 test.svm; echo 'cat 1:1'; } >cat.svm
greedystep compare train.svm --test cat.svm --methods paper --passes 1 --seeds 1 --quiet -o - --row-results cat.csv >log || fail cat
tail -n 1 cat.csv
seq 1 40 | awk '{ print $1 * 1000, "1:" $1 }' >steep.svm
greedystep compare steep.svm --methods gsa,sgd:1000 --loss squared --passes 9 --seeds 1 --quiet -o - \
    --row-results steep.csv >log || fail steep
grep -c '^sgd,r=1000,0,9,[0-9]*,nan,$' steep.csv
grep -c '^gsa,average=recent,0,9,[0-9]*,[0-9.e+-]*,$' steep.csv

echo "calls that cannot be"
mkdir directory
for rows in - ./test.svm train.svm y directory missing/z; do
    try greedystep compare train.svm --test test.svm --methods paper -o y --row-results $rows
done
echo 'what was there' >old.csv
try greedystep compare own.svm --test cat.svm --loss squared --methods paper -o y --row-results old.csv --quiet
cat old.csv
absent y
ls | grep tmp
if [ -c /dev/full ]; then
    try greedystep compare train.svm --test test.svm --methods paper --passes 1 --seeds 1 -o y --row-results /dev/full --quiet
    try greedystep compare all.svm --methods paper --passes 1 --seeds 500 -o y --row-results /dev/full --quiet
    absent y
fi

# Two pipes that are read one after the other: the first has ended before the second is opened.
mkfifo rows_pipe results_pipe
{ cat rows_pipe >read_rows; cat results_pipe >read_results; } &
timeout -k 1 20 greedystep compare all.svm --methods paper --passes 1 --seeds 1 --row-results rows_pipe -o results_pipe --quiet >log || fail pipes
wait
count_lines read_results
