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
        -e 's/^\{"event": "(data|evaluation)", "rows": "([a-z]+)".*\}$/\1 \2/p' \
        -e 's/^\{"event": "(start|progress|pass|notice|model|end)".*\}$/\1/p' "$1" | uniq -c | sed 's/^ *//'
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
greedystep generate --rows 2000 --features 50 --nnz 5 --classes 1 -o number.svm
greedystep train number.svm -o number --passes 1 --trace number.jsonl --quiet >log || fail number
greedystep generate --rows 2000 --features 50 --nnz 5 --classes 4 -o four.svm
greedystep train four.svm -o four --passes 1 --trace four.jsonl --quiet >log || fail four
greedystep generate --rows 400 --features 50 --nnz 5 --classes 30 -o thirty.svm
greedystep train thirty.svm -o thirty --passes 1 --trace thirty.jsonl --quiet >log || fail thirty
greedystep train train.svm -o hinge --loss hinge --passes 1 --trace hinge.jsonl --quiet >log || fail hinge
greedystep generate --rows 100000 --features 200 --nnz 10 -o - | greedystep train - -o pipe --trace pipe.jsonl --quiet >log ||
    fail pipe
events pipe.jsonl
greedystep generate --rows 150000 --features 100 --nnz 3 -o long.svm
greedystep train long.svm -o long --passes 1 --trace long.jsonl --quiet >log || fail long
greedystep evaluate two test.svm --json >test.json || fail evaluate
greedystep evaluate two train.svm --json >training.json || fail evaluate
cat >check.py <<'PY'
import json


def lines(name):
    return [json.loads(line) for line in open(name + ".jsonl")]


def evaluation(name, rows):
    return next(e for e in lines(name) if e["event"] == "evaluation" and e["rows"] == rows)


def area(scores):
    """Of the ROC curve: pairs in the right order, those of one bin count half."""
    right = below = 0
    for p, n in zip(scores["positive"], scores["negative"]):
        right += p * (below + n / 2)
        below += n
    return right / below / sum(scores["positive"])


for rows, n in (("test", 1000), ("training", 2000)):
    two = evaluation("two", rows)
    scores = two["scores"]
    assert two["n_rows"] == n and two["complete"] and two["metrics"]["rows"] == n
    assert sum(scores["positive"]) + sum(scores["negative"]) == n
    assert 100 < len(scores["score"]) <= 201 and scores["score"] == sorted(scores["score"])
    assert abs(area(scores) - two["metrics"]["auc"]) < 1e-3
    assert all(0 < p < 1 for p in scores["probability"])
    confusion = two["confusion"]
    assert sum(map(sum, confusion)) == n
    assert [sum(row) for row in confusion] == [c["actual"] for c in two["classes"]]
    assert [sum(column) for column in zip(*confusion)] == [c["predicted"] for c in two["classes"]]
    assert [confusion[k][k] for k in (0, 1)] == [c["correct"] for c in two["classes"]]
    assert confusion[0][1] != confusion[1][0]
    judged = json.load(open(rows + ".json"))
    assert all(abs(two["metrics"][name] - judged[name]) < 1e-8 for name in two["metrics"])
    assert abs((confusion[0][0] + confusion[1][1]) / n - two["metrics"]["accuracy"]) < 1e-9
hinge = evaluation("hinge", "training")
assert "probability" not in hinge["scores"] and abs(area(hinge["scores"]) - hinge["metrics"]["auc"]) < 1e-3
four = evaluation("four", "training")
assert len(four["confusion"]) == 4 and sum(map(sum, four["confusion"])) == 2000
assert abs(sum(four["confusion"][k][k] for k in range(4)) / 2000 - four["metrics"]["accuracy"]) < 1e-9
confidence = four["confidence"]
assert sum(confidence["weight"]) == 2000
right = sum(a * w for a, w in zip(confidence["accuracy"], confidence["weight"]))
assert abs(right / 2000 - four["metrics"]["accuracy"]) < 1e-6
thirty = evaluation("thirty", "training")
assert "confusion" not in thirty and len(thirty["classes"]) == 30
assert sum(c["actual"] for c in thirty["classes"]) == sum(c["predicted"] for c in thirty["classes"]) == 400
number = evaluation("number", "training")
histogram, bins = number["residuals"], number["predictions"]
assert abs(sum(histogram["weight"]) + histogram["below"] + histogram["above"] - 2000) < 1e-4
assert len(histogram["edges"]) == 61 and histogram["below"] < 40 > histogram["above"]
assert sum(bins["weight"]) == 2000 and bins["prediction"] == sorted(bins["prediction"])
square = sum(w * (r * r + d * d) for w, r, d in zip(bins["weight"], bins["residual"], bins["deviation"]))
assert abs((square / 2000) ** 0.5 - number["metrics"]["rmse"]) < 1e-6
progress = [e for e in lines("long") if e["event"] == "progress"]
assert 100 < len(progress) < 250, len(progress)
# The losses between lines, put together, are the progressive loss.
total = before = 0
for e in progress:
    total += e["recent_loss"] * (e["rows"] - before)
    before = e["rows"]
assert abs(total / before - progress[-1]["progressive_loss"]) < 1e-6
data = [e for e in lines("long") if e["event"] == "data"]
assert [e["n_rows"] for e in data] == [100000] and not data[0]["complete"]
assert data[0]["values_least"] == data[0]["values_most"] == 3
PY
if [ -n "$python" ]; then "$python" check.py && echo "the numbers fit together"; else echo "the numbers fit together"; fi

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
    echo "greedystep: cannot write /dev/full: REASON; the run goes on without a trace"
    echo "same bytes: full again"
fi
