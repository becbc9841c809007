# --group and --time: which rows are held out, through every format.
. "$PRELUDE"
# 40 people of 8 rows: the numbers are nearly those of the person, and the label is the person's too.
awk 'BEGIN {
    print "y,person,when,a,b,c"
    for (i = 0; i < 320; i++) {
        p = int(i / 8); j = i % 8
        printf "%d,p%d,2020-%02d-%02d,%.4f,%.4f,%.4f\n", (p * 7919 % 101 + (j == 3) * 50) % 2, p,
            1 + i % 12, 1 + int(i / 12) % 28,
            p * 37 % 41 / 20 - 1 + j / 500, p * 53 % 43 / 21 - 1 - j / 700, p * 29 % 47 / 23 - 1 + j / 900
    }
}' >people.csv
echo "the summary says by what rows were held out"
for method in optimum gsa; do
    greedystep train people.csv --group person --ignore when --method $method -o $method.model >log 2>&1 || fail train
    tr -s '\n ' ' ' <log | grep -oE 'held out by group.*\)|rows were not.*groups' | sed 's/) chosen.*/)/'
    greedystep train people.csv --time when --ignore person --method $method -o time-$method.model >log 2>&1 || fail train
    tr -s '\n ' ' ' <log | grep -oE 'held out: the latest [0-9]* rows by .when.'
done
greedystep train people.csv --group person --ignore when -o never --json --quiet | grep -E '"groups"|"folds"'
echo "a new person is harder to predict than another row of a known one"
loss() { greedystep train people.csv "$@" -o never --json --quiet | sed -n 's/.*"held_out_loss": \([0-9.]*\).*/\1/p'; }
echo "$(loss --group person --ignore when) $(loss --ignore when,person)" | awk '{ print ($1 > $2 + 0.02 ? "as it should be" : "WRONG " $0) }'
echo "the level of later rows is not known to their loss: it rises by 3, the noise is even and 1 wide"
awk 'BEGIN {
    print "y,when,a"
    for (i = 0; i < 4000; i++) {
        a = (i * 7919 % 4001) / 4001
        printf "%.6f,%d,%.6f\n", 3 * i / 4000 + a + (i * 104729 % 3989) / 3989, i, a
    }
}' >level.csv
for method in optimum gsa; do # the variance alone makes 1 / 24; the level, if it is known, .006 more
    greedystep train level.csv --time when --ignore when --method $method -o never --json --quiet |
        sed -n 's/.*"held_out_loss": \([0-9.]*\).*/\1/p' | awk '{ print ($1 > 1 / 24 + 0.01 && $1 < 1 / 24 + 0.025 ? "as it should be" : "WRONG " $0) }'
done
echo "every format, order of rows (of an optimum) and number of threads: the same model"
tr , '\t' <people.csv >people.tsv
awk -F , 'NR > 1 { printf "{\"y\":%s,\"person\":\"%s\",\"when\":\"%s\",\"a\":%s,\"b\":%s,\"c\":%s}\n", $1, $2, $3, $4, $5, $6 }' \
    people.csv >people.jsonl
{ head -n 1 people.csv; tail -n +2 people.csv | sort -t , -k 4; } >sorted.csv
greedystep convert people.csv --group person --ignore when -o group.gsac --quiet || fail convert
greedystep convert people.csv --time when --ignore person -o time.gsac --quiet || fail convert
for method in optimum gsa; do
    for data in people.tsv people.jsonl sorted.csv group.gsac; do
        columns="--group person --ignore when"
        [ $data = group.gsac ] && columns=
        [ $method$data = gsasorted.csv ] && continue
        greedystep train $data $columns --method $method -o other --threads 3 --quiet || fail $data
        same $method.model other
    done
    for data in people.jsonl sorted.csv time.gsac; do
        columns="--time when --ignore person"
        [ $data = time.gsac ] && columns=
        [ $method$data = gsasorted.csv ] && continue
        greedystep train $data $columns --method $method -o other --threads 3 --quiet || fail $data
        same time-$method.model other
    done
done
echo "a model does not need the groups"
cut -d , -f 1,4- people.csv >bare.csv
greedystep evaluate optimum.model people.csv >with.txt || fail evaluate
greedystep evaluate optimum.model bare.csv >without.txt || fail evaluate
same with.txt without.txt
try_line "greedystep predict optimum.model bare.csv | wc -l"
echo "a time that is ignored is no feature, and a run that goes on reads it"
greedystep train people.csv --time when --ignore when,person -o ignored.model --quiet || fail ignored
try_line "greedystep inspect ignored.model | grep -c when"
greedystep train people.csv --start-from ignored.model -o next.model --quiet || fail start
try greedystep train bare.csv --start-from ignored.model -o never --quiet
try greedystep train bare.csv --start-from optimum.model -o never --quiet
greedystep train people.csv --ignore person -o plain.model --quiet || fail plain
try greedystep train people.csv --time when --start-from plain.model -o never --quiet
greedystep train people.csv --time when --start-from ignored.model -o again.model --quiet || fail again
same next.model again.model
echo "nothing is held out, as asked"
try_line "greedystep train people.csv --group person --ignore when --holdout none -o all.model 2>&1 | grep -c groups"
echo "one group, one time"
sed '2,$s/,p[0-9]*,/,p,/; 2,$s/2020[-0-9]*/2020-01-01/' people.csv >one.csv
for column in "--group person --ignore when" "--time when --ignore person"; do
    greedystep train one.csv $column -o never 2>/dev/null | tr -s '\n ' ' ' | grep -oE 'rows were not .* too few [a-z]*'
done
echo "what cannot be is refused"
try greedystep train people.csv --group person --time when -o never --quiet
try greedystep train people.csv --group persn -o never --quiet
try greedystep train people.csv --group person,when -o never --quiet
try greedystep train people.csv --group y --label y -o never --quiet
try greedystep train people.csv --time person -o never --quiet
try greedystep train people.csv --time y -o never --quiet
try greedystep train people.csv --time when,a -o never --quiet
sed '3s/2020[-0-9]*/later/' people.csv >bad.csv
try greedystep train bad.csv --time when --ignore person,when -o never --quiet
printf '1 1:2\n0 1:3\n' >rows.svm
try greedystep train rows.svm --group person -o never --quiet
try greedystep train group.gsac --group person -o never --quiet
try greedystep evaluate optimum.model people.csv --group person
greedystep convert rows.svm -o rows.gsac --quiet || fail convert
try greedystep train rows.gsac --group person -o never --quiet
try greedystep train group.gsac --time when -o never --quiet
greedystep train people.csv --ignore person -o neither.model --quiet || fail train
try greedystep train people.csv --start-from neither.model --time when -o never --quiet
