# predict writes columns and tags beside the answers, the number of the positive class, and a line for every row.
. "$PRELUDE"
awk 'BEGIN {
    print "id,pages,city,bought"
    for (i = 0; i < 400; i++)
        print "c" i "," (i * 37) % 20 "," (i % 3 ? "Rome" : "\"Oslo, NO\"") "," ((i * 37) % 20 > 9 ? "yes" : "no")
}' >all.csv
greedystep train all.csv --label bought --ignore id --pairs off -o m -q
{
    head -n 3 all.csv
    echo 'c9,many,Rome,no'
    echo 'c10'
    printf 'c11,7,"Oslo,\n""NO""",no\n'
} >new.csv
for format in text csv jsonl; do
    try greedystep predict m new.csv --keep id,city --bad-rows skip --format $format
done
try greedystep predict m new.csv --bad-rows skip
echo "The model need not know a column that is kept."
sed '1s/^/note,/; 2,$s/^/n,/' all.csv | head -n 3 >more.csv
try greedystep predict m more.csv
try greedystep predict m more.csv --keep note,2 --format csv
try greedystep predict m more.csv --keep pags,note
echo "Lines do not depend on threads, and there is one per row."
awk 'BEGIN {
    print "id,pages,city,bought"
    for (i = 0; i < 60000; i++)
        print "c" i "," (i % 97 ? (i * 37) % 20 : "x") "," (i % 3 ? "Rome" : "Lima") ",no"
}' >long.csv
greedystep predict m long.csv --keep id --bad-rows skip -q -j 1 >one
greedystep predict m long.csv --keep id --bad-rows skip -q -j 3 >three
same one three
count_lines one
grep -c '^NA' one
awk -F'\t' '$2 != "c" (NR - 1) {print "WRONG: " $0}' one | head -n 3
echo "Tags of Vowpal Wabbit text are kept without an option."
printf "1 'one|a x y\n-1 |a z\n1 1 three|a x\n" >tags.vw
cat tags.vw tags.vw tags.vw tags.vw >learn.vw
greedystep train learn.vw -o v -q
try greedystep predict v tags.vw
try greedystep predict v tags.vw --format csv
try greedystep predict v tags.vw --keep tag
echo "rows of a cache have no tag, also behind others that have"
greedystep convert tags.vw -o tags.gsac --quiet
try greedystep predict v tags.vw tags.gsac
greedystep convert all.csv --label bought -o all.gsac -q
try greedystep predict m all.gsac --keep id
echo "Names are quoted like labels, and stand once."
sed '1s/^/"b ""q""",label,row,/; 2,$s/^/n,yes,1,/' all.csv | head -n 2 >names.csv
set -- --ignore 'b "q",label,row'
try greedystep predict m names.csv "$@" --keep 'b "q",id' --format csv
for names in label,id id,row id,id; do
    try greedystep predict m names.csv "$@" --keep $names --format csv
done
try greedystep predict m names.csv "$@" --keep label,row --format jsonl
try greedystep predict m names.csv "$@" --keep id,id
