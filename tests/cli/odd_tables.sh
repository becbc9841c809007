# Tables as spreadsheets and databases write them.
. "$PRELUDE"
awk 'BEGIN { print "age,city,y"; for (i = 0; i < 200; i++) printf "%d,%s,%d\n", i * 7 % 50, i % 3 ? "Rome" : "Oslo", (i * 7 % 50 + i % 3 > 25) }' >plain.csv
greedystep train plain.csv -o plain --quiet >log || fail train
read_as()
{
    try_line "greedystep train $1 -o m >log"
    same plain m
    greedystep predict plain $1 -o predictions || fail predict
    greedystep predict plain plain.csv -o expected
    same expected predictions
}
echo "read"
tr , '|' <plain.csv >bars.txt
read_as bars.txt
{ printf 'sep=;\r\n'; tr , ';' <plain.csv; } >excel.csv
read_as excel.csv
sed 's/$/,/' plain.csv >ends.csv
read_as ends.csv
sed '2,$s/$/,,/' plain.csv >rows_end.csv
read_as rows_end.csv

echo "refused, with a remedy"
{ echo "Sales of March"; echo; cat plain.csv; } >title.csv
try greedystep train title.csv -o e
{ echo "Sales of March,,"; cat plain.csv; } >padded.csv
try greedystep train padded.csv --label y -o e
sed 's/^age,city,y/age,age,y/' plain.csv >same.csv
try greedystep train same.csv -o e
sed 's/^age,city,y/years,town,sold/' plain.csv >other.csv
try greedystep predict plain other.csv
try greedystep evaluate plain other.csv
sed 's/^age,city,y/age,town,y/' plain.csv >some.csv
try greedystep predict plain some.csv

echo "a model of categories alone does not take a header for a row"
cut -d, -f2,3 plain.csv >words.csv
greedystep train words.csv -o words --quiet >log || fail train
sed 's/^city,y/town,sold/' words.csv >foreign.csv
try greedystep predict words foreign.csv

echo "rows without a header and with an empty last cell, and bars within cells"
awk 'BEGIN { print "y,a,b"; for (i = 0; i < 200; i++) printf "%d,%s,%s\n", 10 * (i % 5) + i % 3, i % 5, i % 7 == 0 ? "" : i % 3 }' >gaps.csv
greedystep train gaps.csv --label y -o gaps --quiet --loss squared >log || fail train
echo "0,4," | greedystep predict gaps - >by_position
printf 'y,a,b\n0,4,\n' | greedystep predict gaps - >by_name
same by_position by_name
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%d,%d,a|b%d\n", i % 2, i % 10, i % 3 }' >bars.csv
try_line "greedystep train bars.csv --label 1 -o bars >log"
echo "0,3,a|b1" | greedystep predict bars - >one
printf '0,3,a|b1\n0,4,a\n' | greedystep predict bars - | head -n 1 >of_two
same one of_two
