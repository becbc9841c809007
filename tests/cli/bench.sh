# The figures differ from run to run, and the threads from machine to machine; what is measured, and beside what, does not.
. "$PRELUDE"
figures='s/[0-9.]+ ([kMG] )?(MB|rows|features)\/s/SPEED \2\/s/g; s/[0-9]+(\.[0-9]+)? ns/TIME ns/g; s/[0-9]+ %/SHARE %/'
threads='s/[0-9]+ threads?/N threads/'
export TMPDIR=$PWD
greedystep bench --rows 2000 >table || fail table
sed -E -e "$figures" -e "$threads" -e 's/ +/ /g' table | uniq
greedystep bench --rows 1000 --json >json || fail json
sed -E -e 's/"(ours|limit|threads)": [0-9.e+]+/"\1": FIGURE/' -e 's/"version": ".*"/"version": VERSION/' json | head -n 14
tail -n 3 json
grep '"what"' json | sed -E "$threads" | uniq
[ "$(grep -c '"what"' json)" -eq "$(grep -cE '"ours": [0-9.]*[1-9]' json)" ] || fail "a figure that is none"
ls
try greedystep bench --rows 999
TMPDIR=missing try greedystep bench --rows 1000
