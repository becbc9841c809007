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
echo "crosses: what no colour and no shape says alone"
awk 'BEGIN {
    for (i = 1; i <= 400; i++) {
        a = int(i / 3) % 2; b = int(i / 7) % 2
        print (a == b ? "yes" : "no") "," (a ? "red" : "blue") "," (b ? "round" : "square")
    }
}' >shapes.csv
sed 's/^\(.*\),\(.*\),\(.*\)$/\1 |colour \2 |shape \3/; s/^yes/1/; s/^no/-1/' shapes.csv >shapes.vw
try greedystep train shapes.csv -o plain --bits 12 --passes 2
try greedystep train shapes.csv -o crossed --bits 12 --passes 2 --cross 2:3 --test shapes.csv
try greedystep train shapes.vw -o crossed_vw --bits 12 --passes 2 --cross colour:shape
try greedystep inspect crossed --top 2
try_line 'greedystep inspect crossed_vw --top 2 | tail -n 2'
echo "the same rows as a table with a header: the same weights"
{ echo label,colour,shape; sed 's/^yes/1/; s/^no/-1/' shapes.csv; } >named.csv
greedystep train named.csv -o table --bits 12 --cross colour:shape --quiet >/dev/null
greedystep train shapes.vw -o text --bits 12 --cross colour:shape --quiet >/dev/null
for each in table text; do
    greedystep inspect $each --json --top 100 | grep -v '"model"' >$each.json
done
same table.json text.json
try_line 'printf "red,round\nred,square\n" | greedystep predict crossed -'
try_line 'printf "1 1:1\n" | greedystep train - -o e --cross a:b'
try greedystep train shapes.csv -o e --cross 'first*second'
try greedystep train shapes.vw -o e --cross 'colour*shape'
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

echo "-- names in another encoding --"
printf '1 |a caf\351:1 b\n0 |a \377\376 c\n1 |a caf\351 x\n0 | d\n' >latin.vw
greedystep train latin.vw -o latin --quiet >log 2>&1 || fail latin
try_line "greedystep inspect latin | grep -o 'a=caf.' | sort -u"
