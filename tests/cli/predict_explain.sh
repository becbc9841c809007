# predict --explain: the columns of predict, the intercept, and what each column adds to the margin.
. "$PRELUDE"
# a bends, b is a line measured from an offset, c has gaps, "w,x" is a word, day is a date.
awk 'BEGIN {
    print "y,\"w,x\",a,b,day,c"
    for (i = 0; i < 3000; i++) {
        a = (i * 7919 % 4001) / 1000 - 2; b = i * 104729 % 3989; c = (i * 1299709 % 4003) / 1000 - 2
        e = i % 2 + i % 12 / 9 + ((i * 15485863) % 4007) / 8014
        printf "%.4f,%s,%.3f,%d,2024-%02d-%02d,%s\n", (a > 0 ? a : -a) + b / 2000 + (i % 9 ? c : 0.7) + e,
            (i % 2 ? "odd" : "even"), a, 1000000 + b, 1 + i % 12, 1 + i % 28, (i % 9 ? sprintf("%.3f", c) : "")
    }
}' >rows.csv
awk -F, -v OFS=, 'NR > 1 { $1 = ($1 > 3) + ($1 > 5) } { print }' rows.csv >three.csv
adds_up() { # FILE, first column of contributions: their sum is the column before
    awk -F, -v from="$2" -v margin="$3" 'NR > 1 { sum = 0; for (i = from; i <= NF; i++) sum += $i
        size = 0; for (i = from; i <= NF; i++) size += ($i < 0 ? -$i : $i)
        off = (sum - $margin) / size; if (off < 0) off = -off; if (off > worst) worst = off }
        END { print (worst < 1e-8 ? "they add up" : "WRONG " worst) }' "$1"
}
greedystep train rows.csv --label y --pairs off -o number.model -q || fail number
echo "a number: the columns of predict, and all of them add up to it"
greedystep predict number.model rows.csv --explain >out.csv || fail predict
head -n 1 out.csv
adds_up out.csv 3 2
greedystep predict number.model rows.csv --format csv >plain.csv
cut -d , -f 1,2 out.csv >cut.csv && same cut.csv plain.csv
echo "pipes, threads, formats and files: the same bytes"
greedystep predict number.model - --explain --threads 1 <rows.csv >piped.csv && same piped.csv out.csv
greedystep predict number.model rows.csv --explain --threads 8 -o file.csv && same file.csv out.csv
awk -F, 'NR > 1 { printf "{\"w,x\":\"%s\",\"a\":%s,\"b\":%s,\"day\":\"%s\"%s}\n", $2, $3, $4, $5, ($6 == "" ? "" : ",\"c\":" $6) }' rows.csv >rows.jsonl
greedystep predict number.model rows.jsonl --explain >json.csv && same json.csv out.csv
echo "a column adds what its cell changes"
printf '"w,x",a,b,day,c\nodd,0.5,1000000,2024-03-01,1\n,0.5,1000000,2024-03-01,1\nodd,99,1000000,2024-03-01,\nodd,2000,1000000,2024-03-01,\n' >few.csv
greedystep predict number.model few.csv --explain | awk -F, 'NR > 1 { y[NR] = $2; w[NR] = $4; a[NR] = $5; c[NR] = $8 }
    END { off = (y[2] - y[3]) - (w[2] - w[3]); print (off < 1e-6 && off > -1e-6 && w[3] == 0 ? "as it should be" : "WRONG " off)
          print (a[4] == a[5] && a[4] != a[2] ? "a curve is constant outside" : "WRONG " a[4] " " a[5])
          print (c[4] != 0 && c[4] == c[5] ? "a missing number adds something" : "WRONG " c[4]) }'
echo "two classes: the margin of the second"
sed 's/^2,/1,/' three.csv >two.csv
greedystep train two.csv --label y --pairs off --loss hinge -o two.model -q || fail two
greedystep predict two.model two.csv --explain >out.csv || fail two
head -n 1 out.csv
adds_up out.csv 4 3
echo "three classes: that of the label"
greedystep train three.csv --label y --pairs off --loss hinge -o three.model -q || fail three
greedystep predict three.model three.csv --explain >out.csv || fail three
head -n 1 out.csv
adds_up out.csv 7 3
echo "crosses are one more column"
greedystep train rows.csv --label y --pairs off --cross '2:a,a:c' -o cross.model -q || fail cross
greedystep predict cross.model rows.csv --explain >out.csv && head -n 1 out.csv
adds_up out.csv 3 2
echo "rows that are kept or skipped"
printf 'id,a,"w,x",b,day,c\n"x\n""1""",1,odd,1000001,2024-01-05,1\n2,huh,odd,1,2024-01-05,1\n3,1,odd,1000001,2024-01-05,1\n' >bad.csv
greedystep predict number.model bad.csv --explain --keep id --bad-rows skip 2>note | sed 's/-\{0,1\}[0-9]\.[0-9]*/N/g'
cat note
echo "no rows: a header"
head -n 1 rows.csv >none.csv
greedystep predict number.model none.csv --explain
echo "what has no columns"
greedystep generate --rows 200 --features 20 --nnz 5 -o rows.svm
greedystep train rows.svm -o svm.model -q || fail svm
try greedystep predict svm.model rows.svm --explain
greedystep convert rows.csv --label y -o rows.gsac >log 2>&1 || fail convert
try greedystep predict number.model rows.gsac --explain -o out.csv
try greedystep predict number.model rows.csv --explain --format jsonl
