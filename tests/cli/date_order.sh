# Rows in the order of a date: a note says what loss the latest have if they are predicted from earlier ones.
. "$PRELUDE"
# What the label owes to a drifts from year to year, so neighbours in time tell more than earlier rows do.
awk 'BEGIN {
    print "y,a,day,b" >"drift.csv"; print "y,a,day,b" >"same.csv"
    for (i = 0; i < 1600; i++) {
        a = i * 7919 % 1601 / 800 - 1; b = i * 104729 % 1613 / 806 - 1; noise = i * 1299709 % 1619 / 809 - 1
        day = int(i / 4)
        y = a * cos(i / 500) + 0.3 * noise + 0.2 * b > 0
        z = a + 0.3 * noise + 0.2 * b > 0
        printf "%d,%.4f,%04d-%02d-%02d,%.4f\n", y, a, 2020 + int(day / 336), 1 + int(day / 28) % 12, 1 + day % 28, b >"drift.csv"
        printf "%d,%.4f,%04d-%02d-%02d,%.4f\n", z, a, 2020 + int(day / 336), 1 + int(day / 28) % 12, 1 + day % 28, b >"same.csv"
    }
}'
note()
{
    greedystep train "$@" --curves off -o any.model >out 2>log || { cat log; fail "train $*"; }
    paragraph note <out >note
    [ -s note ] && cat note || echo "no note"
}
echo "the order, and both figures"
note drift.csv
mv any.model ascending.model
echo "descending, as JSON lines, with missing dates"
{ head -n 1 drift.csv; tail -n +2 drift.csv | sort -r -t , -k 3,3; } >down.csv
note down.csv
same any.model ascending.model
awk -F , 'NR > 1 { printf "{\"y\":%s,\"a\":%s,\"day\":\"%s\",\"b\":%s}\n", $1, $2, $3, $4 }' drift.csv >drift.jsonl
note drift.jsonl
awk -F , -v OFS=, 'NR % 50 == 3 { $3 = "" } 1' drift.csv >missing.csv
note missing.csv
echo "any other order: the same model, and no note"
{ head -n 1 drift.csv; tail -n +2 drift.csv | sort -t , -k 4,4; } >mixed.csv
note mixed.csv
same any.model ascending.model
echo "no note with --time or --group, of gsa, of a column that is ignored, of few rows, of rows that stay the same"
note drift.csv --time day
note drift.csv --group day
note drift.csv --method gsa
note drift.csv --ignore day
head -n 90 drift.csv >few.csv
note few.csv
note same.csv
echo "for programs; --time has about this loss"
greedystep train same.csv --curves off -o any.model --json --quiet | grep -A 3 '"order"'
greedystep train drift.csv --pairs off -o any.model --json --quiet | sed -n '/"order"/,/}/s/.*"held_out_loss": //p' >latest
greedystep train drift.csv --time day --pairs off -o any.model --json --quiet | sed -n 's/.*"held_out_loss": \(.*\),/\1/p' >time
paste latest time | awk '{ d = $1 / $2 - 1; print (d * d < 0.0004 ? "as it should be" : "WRONG " $0) }'
echo "numbers, and the name of a column with a blank"
awk -F , -v OFS=, 'NR == 1 { print "y", "a", "the day", "b"; next } { $1 = $1 * 2.5 + $2; print }' drift.csv >numbers.csv
note numbers.csv
note numbers.csv --loss huber
echo "no figures of wide text with several classes"
awk -F , -v OFS=, 'NR == 1 { print "y", "a", "day", "b"; next } { print "c" (NR % 3), "w" NR, $3, "v" NR * 7 % 1601 }' drift.csv >wide.csv
note wide.csv
echo "nor of rows that are too many to be solved"
awk 'BEGIN { print "y,day,b"; for (i = 0; i < 8000; i++) printf "c%d,2020-%02d-%02d,%d\n", i % 1500, 1 + i / 700, 1 + i % 700 / 25, i * 7919 % 101 }' >many.csv
note many.csv --bits 8
echo "a trace has the note"
greedystep train drift.csv --curves off -o any.model --quiet --trace trace.jsonl || fail trace
grep -c '"notice".*in the order of' trace.jsonl
