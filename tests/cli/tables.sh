# Tables: what the command understands, a run with all its steps, and each error as the user sees it.
. "$PRELUDE"
awk 'BEGIN {
    print "id,age,city,clicked"
    for (i = 1; i <= 400; i++) {
        age = 18 + (i * 37) % 60
        c = (i * 7) % 4
        name = c == 0 ? "Paris" : c == 1 ? "Rome" : c == 2 ? "\"New York, NY\"" : ""
        print i "," age "," name "," ((age > 45) != (c == 1) ? "yes" : "no")
    }
}' >clicks.csv
echo "training, judging and predicting"
try greedystep train clicks.csv -o m --ignore id --bits 10 --passes 1 --curves off --test clicks.csv
try greedystep evaluate m clicks.csv
awk -F, 'NR == 1 { print "city,age" } NR > 1 && NR < 5 { print "Rome," $2 }' clicks.csv >new.csv
try greedystep predict m new.csv
try_line 'head -n 4 clicks.csv | tail -n 3 | greedystep predict m -'
greedystep train clicks.csv -o quiet --ignore id --bits 10 --passes 1 --curves off --test clicks.csv --quiet >/dev/null
same m quiet
try greedystep inspect m --top 4
echo "no header: tabs, empty cells, the label first"
awk 'BEGIN {
    for (i = 1; i <= 300; i++) {
        line = i % 3 == 0
        for (j = 1; j <= 13; j++) line = line "\t" ((i * j) % 5 == 0 ? "" : (i * j) % 50)
        for (j = 1; j <= 26; j++) line = line "\t" ((i + j) % 7 == 0 ? "" : sprintf("%08x", (i % 9 + 1) * j * 2654435))
        print line
    }
}' >day.tsv
try greedystep train day.tsv -o day --bits 12 --passes 1
try greedystep train day.tsv -o small --bits 5 --passes 1 --curves off
try_line 'greedystep inspect small --top 2 | tail -n 7'
# a build without gzip reads it plain
if greedystep --version | grep '^gzip ' | grep -q ' no$'; then cp day.tsv day.gz; else gzip -c day.tsv >day.gz; fi
greedystep train day.gz -o day_gz --bits 12 --passes 1 --quiet >/dev/null
same day day_gz
echo "several files, with their columns in another order"
{ head -n 1 clicks.csv; sed -n '2,201p' clicks.csv; } >one.csv
{ echo 'clicked;city;age'; tail -n 200 clicks.csv | sed 's/^[0-9]*,\([0-9]*\),\(.*\),\([a-z]*\)$/\3;\2;\1/'; } >two.csv
greedystep train one.csv two.csv -o pieces --ignore id --bits 10 --passes 1 --curves off --quiet >/dev/null
# the schema has the means of the first file, which no missing number asked for
for each in m pieces; do greedystep predict $each new.csv >$each.out || fail "$each"; done
same m.out pieces.out
try greedystep compare clicks.csv --test two.csv --ignore id --bits 10 --methods paper --passes 1 -o compared.csv
try_line 'cut -d, -f1-6 compared.csv'
echo "a cache keeps the meaning of the columns"
greedystep convert day.tsv -o day.gsac --bits 12 --quiet >/dev/null
greedystep train day.gsac -o cached --passes 1 --quiet >/dev/null
for each in day cached; do
    greedystep predict $each day.tsv >$each.tsv.out
    greedystep predict $each day.gsac >$each.gsac.out
done
same day.tsv.out day.gsac.out
same day.tsv.out cached.tsv.out
same day.tsv.out cached.gsac.out
try greedystep train day.gsac day.tsv -o e --bits 13
greedystep generate --rows 100 -o plain.gsac
try greedystep predict day plain.gsac
try greedystep predict m day.gsac
try greedystep train plain.gsac day.gsac -o e --quiet
echo "numbers alone: the rows of libsvm text"
awk 'BEGIN { for (i = 1; i <= 300; i++) print i % 2 "," i % 7 "," (i * 3) % 5 / 4 }' >numbers.csv
try greedystep convert numbers.csv -o numbers.svm
awk -F, '{ print $1, ($2 ? "1:" $2 " " : "") ($3 ? "2:" $3 : "") }' numbers.csv | sed 's/ *$//' >expected.svm
same numbers.svm expected.svm
greedystep train numbers.csv -o numbers --quiet >/dev/null
greedystep train numbers.svm -o text --quiet >/dev/null
for each in numbers text; do
    greedystep inspect $each --json | grep -v -e '"model"' -e '"name"' | sed 's/,$//' >$each.json
done
same numbers.json text.json
echo "resuming and merging"
try greedystep train clicks.csv -o m --resume
try greedystep train day.tsv -o m --resume --passes 3
greedystep train day.tsv -o whole --bits 12 --method paper --passes 2 --quiet >/dev/null
greedystep train day.tsv -o parts --bits 12 --method paper --passes 1 --quiet >/dev/null
greedystep train day.tsv -o parts --method paper --passes 2 --resume --quiet >/dev/null
same whole parts
same whole.state parts.state
{ head -n 1 clicks.csv; tail -n 200 clicks.csv; } >half.csv
greedystep train half.csv -o half --ignore id --bits 10 --passes 1 --curves off --quiet >/dev/null
try greedystep merge m.state half.state -o both
try_line 'greedystep predict both new.csv'
try_line 'greedystep inspect both --top 4 | tail -n 4'
greedystep train half.csv -o other --ignore age --bits 10 --passes 1 --curves off --quiet >/dev/null
try greedystep merge m.state other.state -o both
greedystep train numbers.svm -o plain --passes 1 --quiet >/dev/null
try greedystep merge m.state plain.state -o both
echo "errors"
sed 's/clicked/bought/' clicks.csv >nameless.csv
try greedystep train nameless.csv -o e
try greedystep train clicks.csv -o e --label sold
try greedystep train day.tsv -o e --categorical 2,41
try greedystep train clicks.csv -o e --bits 32
{ cat numbers.csv numbers.csv numbers.csv numbers.csv numbers.csv; cat numbers.csv numbers.csv numbers.csv numbers.csv; \
    cat numbers.csv numbers.csv numbers.csv numbers.csv numbers.csv; echo '1,2,old'; } >late.csv
try_line 'cat late.csv | greedystep train - -o e --quiet'
try_line 'cat late.csv | greedystep train - -o late --passes 1 --bad-rows skip 2>log | grep -B 1 bad'
try_line 'greedystep train late.csv -o late --passes 1 2>&1 | grep -e old -e ^model'
try_line "printf '1,2\n1,2,3\n' | greedystep train - -o e --quiet"
try_line "printf 'y,a\n1,2\n,3\n0,4\n' | greedystep train - -o unlabelled | grep -A 1 ^model"
try_line "printf 'y,a\n1,\"2\"3\n' | greedystep train - -o e --quiet"
try_line "printf 'y,a\n1,\"2\n' | greedystep train - -o e --quiet"
try_line "printf 'y,a\n1,inf\n' | greedystep train - -o e --quiet"
printf '\377\376y\0,\0a\0\n\0' >utf16.csv
try greedystep train utf16.csv -o e
try_line "printf 'age\n3\n' | greedystep predict m - --ignore x"
try_line "printf 'age,city,shoe\n3,Rome,5\n' | greedystep predict m -"
try_line "printf 'age,city,shoe\n3,Rome,5\n' | greedystep predict m - --ignore shoe"
try_line "printf 'age,city\nold,Rome\n' | greedystep predict m -"
try_line "printf '1 1:1\n' | greedystep predict m -"
try greedystep predict text numbers.csv
try greedystep train clicks.csv numbers.svm -o e --ignore id
try greedystep train numbers.svm clicks.csv -o e
absent e e.state
