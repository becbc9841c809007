# Without --test a fifth of the rows is kept for testing, another by every seed.
. "$PRELUDE"
greedystep generate --rows 2004 --features 50 --nnz 5 -o all.svm
try greedystep compare all.svm --methods paper,sgd:0.1 --passes 1 --seeds 4 -o all.csv

echo "shares of 1604 and of 400 rows"
awk -F, 'NR > 1 {
    n = $6 == "test" ? 400 : 1604
    rows = $8 * n
    off = rows - int(rows + 0.5)
    if (off * off > 1e-8) print "not a share:", $0
}' all.csv
awk -F, 'NR > 1 && $6 == "test" && $2 == "paper" { print $7 }' all.csv | sort -u | wc -l | tr -d ' '

for n in 2 4 5 9 10; do
    { echo '0 1:1'; seq 2 $n | sed 's/.*/1 1:1 &:1/'; echo '0 2:1'; } | head -n $n >few.svm
    greedystep compare few.svm --methods paper --loss squared --passes 1 --seeds 1 -o few.csv 2>log | head -n 1
done
echo '1 1:1' >single.svm
try greedystep compare single.svm --methods paper -o none.csv
try greedystep compare single.svm --methods paper --test single.svm -o none.csv
absent none.csv

echo "rows to learn and rows to test are not the same ones: a feature of its own for each row can be learned by heart"
seq 1 100 | awk '{ print $1 % 2, $1 ":1" }' >own.svm
greedystep compare own.svm --methods sgd:1 --intercept off --passes 5 --seeds 1 -o own.csv 2>log | head -n 1
awk -F, '$4 == 5 { print $6, $8, ($7 < 0.69) ? "learned" : "not learned" }' own.csv
