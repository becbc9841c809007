# `inspect` on data: what is found in tables, rows with feature numbers and targets, and what is warned of.
. "$PRELUDE"
awk 'BEGIN {
    print "id,user,age,city,score,outcome,note,\"all, one\",none,visits,clicked"
    for (i = 1; i <= 400; i++) {
        age = 18 + (i * 37) % 60
        c = (i * 7) % 4
        name = c == 0 ? "Paris" : c == 1 ? "Rome" : c == 2 ? "\"New York, NY\"" : "NA"
        yes = (age > 45) != (c == 1)
        print i ",u" (i * 7919) % 10007 "," (i % 10 == 0 ? "" : age) "," name "," yes * 2 - 1 "," (yes ? "bought" : "left") \
            "," (i % 20 == 0 ? "x" : "") ",7,," (i % 8 == 0 ? "" : i % 4) "," (yes ? "yes" : "no")
    }
}' >clicks.csv
echo "a table; visits have zeros and missing cells"
try greedystep inspect clicks.csv
echo "the same without what was warned of, from a pipe"
try_line "cat clicks.csv | greedystep inspect - --ignore '8,none,score,outcome,id,user,note'"
sed 1d clicks.csv >headless.csv
try_line "greedystep inspect headless.csv --label 11 --ignore 1,2,5,6,7,8,9 | tail -n 15"

echo "numbers that one class has all the higher of; a word that one class has, as do many rows that have none"
awk 'BEGIN {
    print "y,paid,half,flag"
    for (i = 1; i <= 300; i++) {
        y = i * i % 11 > 4
        print y "," (y ? 500 + i * 7 % 300 : i * 11 % 499) "," (i * i % 11 > 5 ? 500 : 0) + i * 13 % 251 "," (y && i % 3 ? "set" : "")
    }
}' >leak.csv
try_line "greedystep inspect leak.csv | sed '1,/^\$/d'"

echo "several files, words as labels of which one is rare, weights, bad rows"
printf 'animal,legs,w\n' >a.csv
for i in $(seq 1 20); do printf 'cat,4,1\nbird,2,0.5\n'; done >>a.csv
printf 'legs,animal,w\n8,spider,2\ninf,cat,1\n6,ant,1\n' >b.csv
try greedystep inspect a.csv b.csv --label animal --weight w
try greedystep inspect a.csv b.csv --label animal --weight w --bad-rows skip

echo "rows sorted by label, and all of one class"
greedystep generate --rows 3000 --features 200 --nnz 5 -o all.svm >/dev/null
sort -n -k 1,1 all.svm >sorted.svm
try greedystep inspect sorted.svm --top 2
try_line "greedystep inspect all.svm --top 0 | tail -n 1"
try_line "grep '^1' all.svm | greedystep inspect - --top 0"

echo "few features"
awk 'BEGIN { for (i = 1; i <= 60; i++) { y = i * i % 7 > 2; print y, "1:1 3:" i % 5 (y ? " 40:2.5" : "") } }' >few.svm
try greedystep inspect few.svm

echo "Vowpal Wabbit text, and many classes"
awk 'BEGIN { for (i = 1; i <= 30; i++) print (i % 3 ? 1 : -1), (i % 2 ? 1 : 2), "|colour " (i % 5 ? "red" : "blue") " |size x:" i % 7 / 4 }' >rows.vw
try greedystep inspect rows.vw
awk 'BEGIN { for (i = 1; i <= 900; i++) print "c" i % 131, i ":1" }' >many.svm
try_line "greedystep inspect many.svm --top 1 | sed -n '/^labels/,\$p'"

echo "numbers to predict, one column a line of the target, one far off in its digits"
awk 'BEGIN {
    print "y,twice,year,x"
    for (i = 1; i <= 200; i++) { y = (i * 61 % 200) / 8; print y "," 2 * y - 7 "," 16000000 + i % 50 * 8 "," (i * i) % 17 }
}' >target.csv
try greedystep inspect target.csv
awk 'BEGIN { for (i = 1; i <= 11000; i++) print i, (i % 9 + 1) ":1" }' >counts.svm
try_line "greedystep inspect counts.svm | grep -e '^labels' -e '^- '"

echo "caches do not keep cells"
greedystep convert clicks.csv -o clicks.gsac --quiet >/dev/null
try_line "greedystep inspect clicks.gsac --top 2 | tail -n 8"

echo "for programs the same"
greedystep inspect clicks.csv --json >clicks.json || fail inspect
python=$(command -v python3) && { "$python" -m json.tool clicks.json >/dev/null || fail "clicks.json is not JSON"; }
grep '"what"' clicks.json
sed -n '/"name": "visits"/,/}/p' clicks.json
try_line "greedystep inspect all.svm --top 1 --json | sed -n '/\"frequent\"/,\$p'"

echo "nothing there, and models among data"
: >empty
try greedystep inspect empty
try greedystep inspect missing.csv
printf 'y,x\n' >header.csv
try greedystep inspect header.csv
printf 'y,x\n1,inf\n' >bad.csv
try greedystep inspect bad.csv --bad-rows skip
greedystep train all.svm -o m --passes 1 --quiet >/dev/null
try greedystep inspect m --label y
try greedystep inspect all.svm m
# Begins like a model, but for a size that no header has.
printf '\000\000\120\000\000\000\000\000{' >large
try greedystep inspect large
try greedystep inspect
