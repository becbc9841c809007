# Vowpal Wabbit text: recognised, learned, predicted and refused.
. "$PRELUDE"
awk 'BEGIN {
    for (i = 1; i <= 300; i++) {
        word = i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue"
        print (i % 3 == 0 ? 1 : -1), (i % 2 ? "1" : "2"), "'"'"'row" i, "|colour " word " |size x:" i % 7 / 4 " big"
    }
}' >rows
try greedystep train rows -o m --bits 12 --passes 1
try greedystep inspect m --top 4
try_line "printf '|colour red\n1 |colour blue |size x:1\n' | greedystep predict m -"
try greedystep evaluate m rows
echo "errors"
printf '1 |colour red\n|colour blue\n' >unlabelled.vw
try greedystep train unlabelled.vw -o e --quiet
printf '1 1:1\n-1 2:1\n' >text.svm
try greedystep predict m text.svm
printf 'y,a\n1,2\n' >table.csv
try greedystep predict m table.csv
try greedystep train rows table.csv -o e --quiet
try greedystep train rows -o e --label y
try greedystep predict m rows --bits 13
absent e
