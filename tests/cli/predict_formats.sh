# Predictions as csv and jsonl say what the lines of text say, whatever the labels, and come as soon as rows do.
. "$PRELUDE"
{
    echo 'label,height,city'
    for i in 1 2 3 4 5 6 7 8; do
        echo '"a,b",1.5,ulm'
        echo '"say ""so""",2.5,rom'
        echo 'zürich €,0.5,bern'
        echo '" blank",3.5,"x,y"'
        echo 'back\slash,4,rom'
    done
} >people.csv
greedystep train people.csv -o people --quiet >log || fail train
echo "the name of the file or --format says what is written"
for format in text csv jsonl; do greedystep predict people people.csv --format $format >by_option.$format || fail $format; done
greedystep predict people people.csv >lines
same lines by_option.text
for format in csv jsonl; do
    greedystep predict people people.csv -o by_name.$format || fail $format
    same by_option.$format by_name.$format
done
greedystep predict people people.csv -o lines.csv --format text
same lines lines.csv
for format in csv jsonl; do
    for threads in 1 2 8; do
        greedystep predict people people.csv --format $format --threads $threads >$threads || fail $threads
        same $threads by_option.$format
    done
done
sed -E 's/0\.[0-9]+|[0-9.]+e-[0-9]+/P/g; 3q' by_option.csv
sed -E 's/0\.[0-9]+|[0-9.]+e-[0-9]+/P/g; 2q' by_option.jsonl

cat >check.py <<'PYTHON'
import csv, json, sys
def read(name):
    return open(name, encoding="utf-8", newline="")
lines = [line.rstrip("\n").rsplit(" ", 1) for line in read(sys.argv[1])]
rows = list(csv.DictReader(read(sys.argv[2])))
objects = [json.loads(line) for line in read(sys.argv[3])]
assert len(lines) == len(rows) == len(objects) > 0
for i, ((label, number), row, it) in enumerate(zip(lines, rows, objects), 1):
    assert row["row"] == str(i) and it["row"] == i, i
    assert row["label"] == it["label"] == label, (row, it, label)
    assert float(row["probability"]) == it["probability"], (row, it)
    assert abs(it["probability"] - float(number)) <= 5.1e-6 * float(number), (number, it)
    classes = {name[2:]: float(value) for name, value in row.items() if name.startswith("p_")}
    assert classes == it["probabilities"] and abs(sum(classes.values()) - 1) < 1e-7, (classes, it)
    assert max(classes.values()) == classes[label], (classes, label)
    assert classes[label] == it["probability"], (classes, label)
    assert list(classes) == list(it["probabilities"]) and len(classes) == int(sys.argv[4]), classes
PYTHON
agree() # model, data, number of classes
{
    for format in csv jsonl; do greedystep predict $1 $2 --proba --format $format >out.$format || fail $format; done
    greedystep predict $1 $2 >out.text
    if command -v python3 >/dev/null; then python3 check.py out.text out.csv out.jsonl $3 || fail "$1 disagrees"; fi
    echo "$1: text, csv and jsonl agree"
}
agree people people.csv 5
for classes in 2 20 30; do
    greedystep generate --rows 2000 --features 100 --nnz 5 --classes $classes -o $classes.svm
    greedystep train $classes.svm -o model$classes --quiet --passes 1 >log || fail train
    agree model$classes $classes.svm $classes
done
echo "more than 20 classes are told with --proba"
greedystep predict model30 30.svm --format csv | sed -n 1p
greedystep predict model30 30.svm --format jsonl | sed -nE '1s/0\.[0-9]+/P/p'
greedystep predict model20 20.svm --format csv | sed -n 1p

echo "numbers and margins"
greedystep generate --rows 2000 --features 100 --nnz 5 --classes 1 -o number.svm
greedystep train number.svm -o number --quiet --passes 1 >log || fail train
greedystep predict number number.svm >lines
greedystep predict number number.svm --format csv >out.csv
greedystep predict number number.svm --format jsonl >out.jsonl
head -n 1 out.csv
sed 1d out.csv | cut -d , -f 2 >from_csv
sed -E 's/^\{"row":[0-9]+,"prediction":(.*)\}$/\1/' out.jsonl >from_jsonl
same lines from_csv
same lines from_jsonl
greedystep train 2.svm -o hinge --loss hinge --quiet --passes 1 >log || fail hinge
greedystep predict hinge 2.svm --format csv | sed -n 1p
greedystep predict hinge 2.svm --format jsonl | sed -nE '1s/-?[0-9.]+\}/M}/p'

echo "no rows: a header, no objects"
: >empty.svm
try greedystep predict number empty.svm --format csv
try greedystep predict number empty.svm --format jsonl
echo "rows that are skipped have a line"
printf '1 1:1\n1 x\n1 2:1\n' >bad.svm
greedystep predict number bad.svm --format csv --bad-rows skip 2>&1 | sed -E 's/,-?[0-9.]+$/,N/'

echo "a row is answered before the next, through pipes and where the output is one"
mkfifo questions replies
# a build without gzip reads it plain
if greedystep --version | grep '^gzip ' | grep -q ' no$'; then pack=cat; else pack='gzip -c'; fi
ask() # format, lines before the first answer, what a row goes through
{
    : >answers
    cat replies >answers &
    reader=$!
    greedystep predict model2 questions --format $1 -o replies &
    pid=$!
    exec 3>questions
    for i in 1 2 3; do
        echo "1 $i:1" | $3 >&3
        tries=0
        until [ "$(count_lines answers)" -ge $((i + $2)) ]; do
            tries=$((tries + 1))
            [ $tries -lt 500 ] || fail "$1: no answer to row $i"
            sleep 0.02
        done
        [ "$(count_lines answers)" -eq $((i + $2)) ] || fail "$1: too much at row $i"
    done
    exec 3>&-
    wait $pid || fail "$1: exit $?"
    wait $reader
    echo "$1: $(count_lines answers) lines, one at a time"
}
ask text 0 cat
ask csv 1 cat
ask jsonl 0 cat
ask csv 1 "$pack"

try greedystep predict model2 2.svm --proba
try greedystep predict model2 2.svm --proba -o out.txt
try greedystep predict model2 2.svm --format xml
