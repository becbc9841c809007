# The summary of train: what limits a model, and when there is none to speak of.
. "$PRELUDE"

echo "fifty rows of noise: nothing was learned, whatever their number"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 50; i++) print i * 37 % 53 "," i * 11 % 17 "," i * i * 7 % 13 % 2 }' >noise.csv
try greedystep train noise.csv --label y -o m 2>&1 | grep -v ^time
echo "noise of twenty columns that looks better than the baseline by chance"
awk 'function r() { s = s * 16807 % 2147483647; return s / 2147483647 }
    BEGIN { s = 10; for (i = 0; i < 20; i++) r(); printf "y"; for (j = 0; j < 20; j++) printf ",x%d", j; print ""
        for (i = 0; i < 50; i++) { printf "%s", r() < 0.5 ? "yes" : "no"; for (j = 0; j < 20; j++) printf ",%.3f", r(); print "" } }' >chance.csv
try greedystep train chance.csv --label y -o m 2>&1 | paragraph limit
echo "fifty rows that say what they are: more may help"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 50; i++) print i % 10 "," i * 11 % 17 "," (i % 10 + i * 11 % 5 > 6) }' >clear.csv
try greedystep train clear.csv --label y -o m 2>&1 | paragraph limit
echo "a run that was solved has no passes and no steps"
try_line "greedystep train clear.csv --label y -o m --json --quiet | grep -c -e passes -e mean_step"
try_line "greedystep train clear.csv --label y -o m --method gsa --json --quiet | grep -c -e passes -e mean_step"
echo "a column that gives the label away is named, and one of ids"
awk 'BEGIN { print "id,weight,age,low"; for (i = 0; i < 200; i++) { w = 1500 + i * 37 % 191 * 12; \
    print "p" i * 7919 % 1000 "x," w "," 18 + i * 11 % 23 "," (w < 2500 ? "yes" : "no") } }' >births.csv
try greedystep train births.csv --label low -o m 2>/dev/null | paragraph warning
try_line "greedystep train births.csv --label low -o m --json --quiet | grep -A 3 '\"warnings\"'"
try_line "greedystep train births.csv --label low --ignore weight,id -o m --quiet --json | grep -c warnings"
try_line "cat births.csv | greedystep train - --label low -o m --json --quiet | grep -c warnings"
