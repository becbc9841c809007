# Words as labels, numbers to predict, third labels, and labels that contradict the loss.
. "$PRELUDE"
greedystep generate --rows 600 --features 30 --nnz 5 --classes 3 -o three.svm
sed -e 's/^0 /cat /' -e 's/^1 /dog /' -e 's/^2 /bird /' three.svm >words.svm
try greedystep train words.svm -o words --passes 1
try_line 'greedystep predict words words.svm | head -n 3'
try greedystep evaluate words words.svm
try greedystep inspect words --top 3
echo "regression"
greedystep generate --rows 600 --features 30 --nnz 5 --classes 1 -o number.svm
try greedystep train number.svm -o number --passes 1
try_line 'greedystep predict number number.svm | head -n 3'
try greedystep evaluate number number.svm
try greedystep inspect number --top 3
echo "labels that contradict the loss"
greedystep generate --rows 600 --features 30 --nnz 5 -o two.svm
{ cat two.svm; echo '2 1:1'; } >third.svm
try greedystep train third.svm -o m --loss logistic --order file
{ cat two.svm; echo 'cat 1:1'; } >word.svm
try greedystep train word.svm -o m --loss squared --order file
greedystep generate --rows 10000 --features 30 --nnz 5 -o long.svm
{ cat long.svm; echo '2 1:1'; } >late.svm
try greedystep train late.svm -o m
{ cat long.svm; echo '0.5 1:1'; } >late_number.svm
try greedystep train late_number.svm -o m
{ greedystep generate --rows 10000 --features 30 --nnz 5 --classes 1 -o -; echo 'cat 1:1'; } >late_word.svm
try greedystep train late_word.svm -o m
grep '^1 ' two.svm >ones.svm
try greedystep train ones.svm -o m
try greedystep evaluate words two.svm
try greedystep evaluate number words.svm

echo "-- sorted by label: class shares are those of all rows --"
{
    seq 1 9000 | sed 's/.*/0 1:&e-3/'
    seq 1 3000 | sed 's/.*/1 2:&e-3/'
} >sorted.svm
try_line "greedystep train sorted.svm -o m | grep -o 'baseline.*'"
try_line "greedystep train sorted.svm -o m --quiet --json | grep '\"held_out\"'"

echo "-- rows whose label the model does not know or that have none: told, in no confusion count --"
{ echo y,a; seq 1 40 | sed -E 's#^(.|1.|23)$#no,&#; s#^([0-9]+)$#yes,\1#'; } >table.csv
greedystep train table.csv --label y -o table --quiet >log || fail table
{ cat table.csv; printf ',10\n,20\nmaybe,5\nmaybe,6\nmaybe,30\nmaybe,35\n'; } >more.csv
for rows in table more; do
    greedystep evaluate table $rows.csv | grep -E '^(rows|precision|recall|f1|[a-z]+_(positives|negatives|labels|rows)) '
done
try_line "greedystep evaluate table more.csv --json | grep -E 'unlabelled|unknown'"
