# What a table's label is: classes or a number, the same from CSV, cache and stream, with any number of threads.
. "$PRELUDE"

# table NAME ROWS EXPRESSION: a table of a label and two numbers; i is the row, r is between 0 and 1 without order.
table()
{
    awk -v n="$2" 'BEGIN { print "label,a,b"
        for (i = 0; i < n; i++) { r = (i * 7919 % 10007) / 10007; print int('"$3"') "," r "," i % 17 } }' >"$1.csv"
}

# said COMMAND...: what it says of the task, and the loss.
said()
{
    "$@" 2>&1 | grep -e predicts -e '^model' -e 'cannot' | sed -e 's/^greedystep: //' -e 's/^\(model *[^,]*\),.*/\1/'
}

decides()
{
    echo "-- $1 --"
    table "$1" "$2" "$3"
    said greedystep train "$1.csv" --label label -o m | tee by_csv
    greedystep convert "$1.csv" --label label -o "$1.gsac" -q || fail convert
    said greedystep train "$1.gsac" -o m >by_cache
    said greedystep train "$1.csv" --label label -o m -j 3 >by_threads
    said sh -c "greedystep train - --label label -o m <$1.csv" >by_stream
    said greedystep train "$1.csv" --label label -o m --shards 3 >by_shards
    for way in cache threads stream shards; do cmp -s by_csv by_$way || { echo "by $way:"; cat by_$way; }; done
}

decides ages 3000 '1 + r * 89'
decides prices 799 '100000 + r * 900000'
decides many_prices 5000 '100000 + r * 900000'
decides eight_prices 8 '100 + r * 900'
decides stars 500 '1 + r * 5'
decides months 1000 '1 + r * 12'
decides zip_codes 6000 '501 + 9 * int(r * 3000)'
decides four_hundred_classes 2000 'i % 400'
decides years 1000 '1990 + r * 31'
decides two 300 '2 + 5 * (i % 2)'

echo "-- labels that are written as prices are, or with decimal commas, as R's write.csv2 does --"
awk 'BEGIN { print "label,a"; for (i = 0; i < 800; i++) print "$" 100 + 7 * i "," i }' >dollars.csv
said greedystep train dollars.csv --label label -o m
greedystep predict m dollars.csv | sed -n '2p;$p'
awk 'BEGIN { print "\"\";\"mpg\";\"wt\""
    for (i = 0; i < 32; i++) printf "\"car %d\";%d,%d;%d,%d\n", i, 30 - i / 2, i % 10, i / 8, i % 8 }' >mtcars.csv
said greedystep train mtcars.csv --label mpg --ignore 1 -o m
try greedystep evaluate m mtcars.csv --ignore 1
echo "-- said otherwise --"
said greedystep train ages.csv --label label -o m --loss softmax
said greedystep train months.csv --label label -o m --loss squared
echo "-- a table sorted by its label: the first rows decide, and a contradiction is an error --"
table sorted 200000 'i / 2000'
try_line 'greedystep train - --label label -o m --method gsa -q <sorted.csv'
echo "-- formats with feature ids: whole numbers from 0 or 1 on are classes up to 10,000 --"
awk 'BEGIN { for (i = 0; i < 3000; i++) print 1 + i % 89, "1:" i % 89 }' >ages.svm
said greedystep train ages.svm -o m --passes 1
awk 'BEGIN { for (i = 0; i < 3000; i++) print 1922 + i % 89, "1:" i % 89 }' >years.svm
said greedystep train years.svm -o m --passes 1
awk 'BEGIN { for (i = 0; i < 11000; i++) print i, "1:1" }' >many.svm
try greedystep train many.svm -o m --passes 1 --order file -q
echo "-- labels that cannot be classes, and files that are no rows --"
awk 'BEGIN { print "label,a"; for (i = 0; i < 800; i++) print "id" 100 + 7 * i "," i }' >ids.csv
try greedystep train ids.csv --label label -o m -q
awk 'BEGIN { for (i = 0; i < 799; i++) print "w" i % 399, i + 1 ":1", "9000000:1" }' >wide.svm
try greedystep train wide.svm -o m -q --memory-limit 1G --passes 1
printf 'PK\003\004\024\000\000\000' >sheet.xlsx
try greedystep train sheet.xlsx -o m
printf ' [\n {"a": 1, "label": 2}\n]\n' >list.json
try greedystep train list.json -o m
