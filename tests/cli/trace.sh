# --trace: what happens in a run, a JSON object a line, there while the run goes on.
. "$PRELUDE"
python=$(command -v python3) || python=
# What differs from run to run and from machine to machine.
masked()
{
    sed -E -e 's/"seconds": [0-9.e+-]+/"seconds": S/' -e 's/"date": "20[0-9-]+T[0-9:]+Z"/"date": D/' \
        -e 's/"versions": \{[^}]*"jansson": "[^"]*"\}/"versions": V/' -e 's/"processors": [0-9]+/"processors": P/' \
        -e 's/"peak_memory": [1-9][0-9]+/"peak_memory": M/' "$1"
}
events()
{
    sed -E -n -e 's/^\{"event": "(stage)", "stage": "([a-z_]+)".*\}$/\1 \2/p' \
        -e 's/^\{"event": "(start|progress|pass|notice|end)".*\}$/\1/p' "$1" | uniq -c | sed 's/^ *//'
}

echo "a small table, line by line"
cat >people.csv <<'CSV'
age,town,label
31,Rome,yes
22,Oslo,no
45,Rome,yes
38,Rome,yes
19,Oslo,no
27,"<script>alert(1)</script>",no
51,Rome,yes
33,Oslo,yes
24,Oslo,no
40,Rome,yes
29,Oslo,no
36,Rome,no
CSV
greedystep train people.csv -o people --passes 2 --trace people.jsonl --quiet >log || fail people
masked people.jsonl
greedystep train people.csv -o plain --passes 2 --quiet >log || fail people
same people plain
same people.state plain.state

echo "what else there is to tell"
greedystep generate --rows 3000 --features 200 --nnz 10 -o all.svm
head -n 2000 all.svm >train.svm
tail -n 1000 all.svm >test.svm
greedystep train train.svm -o two --passes 2 --test test.svm --trace two.jsonl --quiet >log || fail two
events two.jsonl
greedystep generate --rows 100000 --features 200 --nnz 10 -o - | greedystep train - -o pipe --trace pipe.jsonl --quiet >log ||
    fail pipe
events pipe.jsonl
greedystep generate --rows 150000 --features 100 --nnz 3 -o long.svm
greedystep train long.svm -o long --passes 1 --holdout none --trace long.jsonl --quiet >log || fail long
cat >check.py <<'PY'
import json

progress = [e for e in map(json.loads, open("long.jsonl")) if e["event"] == "progress"]
assert 100 < len(progress) < 250, len(progress)
# The losses between lines, put together, are the progressive loss, but for up to seven rows that wait for their group.
# The first 8192 rows were solved, not predicted.
total, before = 0, 8192
assert all(e["recent_loss"] is None for e in progress if e["rows"] <= 8192)
for e in (e for e in progress if e["rows"] > 8192):
    total += e["recent_loss"] * (e["rows"] - before)
    before = e["rows"]
assert abs(total / (before - 8192) - progress[-1]["progressive_loss"]) < 2e-5
PY
[ -z "$python" ] || "$python" check.py || fail "the numbers do not fit together"
echo "the numbers fit together"

echo "a run that is stopped, and goes on"
mkfifo rows
greedystep train rows -o stopped --order file --trace stopped.jsonl --quiet >log 2>&1 &
pid=$!
exec 3>rows
head -n 20000 long.svm >&3
wait_for stopped.jsonl '"progress"' || fail progress
sleep 0.5
[ -z "$(tail -c 1 stopped.jsonl)" ] || fail "a line is not whole while the run waits for rows"
kill -INT $pid
exec 3>&-
wait $pid
echo "[exit $?]"
events stopped.jsonl | grep -v progress
grep -o '"status": "[a-z]*"' stopped.jsonl
greedystep train long.svm -o more --passes 1 --trace more.jsonl --quiet >log || fail more
printf '{"event": "progress", "ro' >>more.jsonl
greedystep train long.svm -o more --passes 2 --resume --trace more.jsonl --quiet >log || fail more
events more.jsonl | grep -v progress
grep -c '^{.*}$' more.jsonl | sed "s/$(($(count_lines more.jsonl) - 1))/all lines but the cut one are whole/"
grep -o '"resumed": [a-z]*, "rows_before": [0-9]*' more.jsonl

echo "a run that fails"
echo "1 3:x" >bad.svm
try greedystep train bad.svm -o bad --trace bad.jsonl --quiet
grep -o '"status": .*,' bad.jsonl
try greedystep train train.svm -o m --trace -
try greedystep train train.svm -o m --trace m
try greedystep train train.svm -o m --trace m.state
try greedystep train train.svm -o m --trace train.svm
try greedystep train train.svm -o m --test test.svm --trace ./test.svm
try greedystep train train.svm -o m --trace missing/trace.jsonl
try greedystep train train.svm -o m --passes 0.5 --trace people.jsonl
absent m m.state
grep -c '"start"' people.jsonl
if [ -w /dev/full ]; then
    greedystep train train.svm -o full --passes 2 --trace /dev/full --quiet >log 2>err
    echo "[exit $?]"
    sed 's/: No space.*;/: REASON;/' err
    greedystep train train.svm -o again --passes 2 --quiet >log
    same full again
else
    echo "[exit 1]"
    echo "greedystep: cannot write /dev/full: REASON; the run continues without a trace, and its exit code will be 1"
    echo "same bytes: full again"
fi
