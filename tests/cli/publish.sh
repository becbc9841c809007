# --publish: models of a stream that goes on, and where it goes on after a restart.
. "$PRELUDE"
greedystep generate --rows 9000 --features 100 --nnz 5 --noise 0.1 -o rows.svm
rows()
{
    sed -n "$1,$2p" rows.svm
}
# Waits until this model was published behind this row.
wait_until_at()
{
    tries=0
    until [ "$(greedystep inspect $2 --json 2>/dev/null | sed -n 's/.*"position": "\(.*\)",/\1/p')" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || fail "no model at row $1"
        sleep 0.02
    done
}
mkfifo pipe

echo "-- a model is published while the stream is silent, and after the last row --"
greedystep train pipe --publish m --every 0.1s --trace trace.jsonl >out 2>err &
pid=$!
{
    rows 1 3000
    wait_until_at 3000 m
    rows 3001 3001
    wait_until_at 3001 m
    rows 3002 9000
} >pipe
wait $pid
echo "[exit $?]"
grep -v '^pass' err
paragraph model <out
try greedystep inspect m --top 0
grep '"published"' trace.jsonl | sed -n '1,2p;$p' | sed -E 's/(loss|saving|seconds)": ([-0-9.e]+|null)/\1": N/g'

echo "-- how often changes nothing, and predictions are those of -o --"
try_line "greedystep train - --publish rare --every 1h --quiet <rows.svm | wc -c"
same m rare
same m.state rare.state
greedystep train - -o plain --method gsa --quiet <rows.svm >log
for each in rare plain; do greedystep predict $each rows.svm >$each.txt; done
same rare.txt plain.txt

echo "-- stopped by a signal, then behind the position --"
greedystep train pipe --publish s --every 0.1s --quiet >out 2>err &
pid=$!
{ rows 1 3000; wait_until_at 3000 s; kill -TERM $pid; sleep 0.5; } >pipe
wait $pid
echo "[exit $?]"
cat err
rows 3001 9000 | greedystep train - --publish s --resume --from-position >out 2>err || fail "behind the position"
grep -v '^pass' err
same rare s
same rare.state s.state

echo "-- or from the first row --"
rm -f s s.state
rows 1 4000 | greedystep train - --publish s --resume 2>&1 >out | grep -v '^pass'
greedystep train - --publish s --resume --quiet <rows.svm >out || fail "from the first row"
same rare s
same rare.state s.state
rows 3 4000 | try greedystep train - --publish s --resume --quiet

echo "-- lines that are no rows count, and a header that is sent again does not --"
{ echo "y,x"; awk 'BEGIN { for (i = 0; i < 6000; i++) printf "%d,%d\n", (i * 7919) % 3 == 0, i % 10 }'; } >rows.csv
sed '2000s/.*/broken,,,1/' rows.csv >broken.csv
part="greedystep train - --publish t --label y --bad-rows skip"
greedystep train - --publish table --label y --bad-rows skip --quiet <broken.csv >out || fail table
head -n 5000 broken.csv | $part --quiet >out
greedystep inspect t.state | grep position
{ head -n 1 broken.csv; sed -n '5001,5500p' broken.csv; } | $part --resume --from-position 2>&1 >out | grep continues
sed -n '5501,$p' broken.csv | $part --resume --from-position 2>&1 >out | grep continues
greedystep inspect t | grep position
same table t

echo "-- a column of the stream is the position --"
awk -F, 'NR == 1 { print "at," $0; next } { print "topic/0/" NR "," $0 }' rows.csv >at.csv
greedystep train - --publish c --label y --position at <at.csv 2>&1 >out | grep -v '^pass'
greedystep inspect c | grep position
try greedystep train - --publish c --label y --resume --from-position <at.csv
greedystep train - --publish t --label y --quiet <rows.csv >out
for each in c t; do greedystep inspect $each --json | grep -A 99 '"top"' | grep weight >$each.txt; done
same c.txt t.txt

echo "-- what does not fit together --"
try greedystep train rows.svm --publish m
try greedystep train - --publish m -o m <rows.svm
try greedystep train - --publish m --checkpoint . <rows.svm
try greedystep train - --publish m --from-position <rows.svm
try greedystep train - -o m --position a <rows.svm
try greedystep train - -o m --every 5m <rows.svm
try greedystep train - --publish m --every 5w <rows.svm
try greedystep train - --publish m --order shuffled <rows.svm
try greedystep train - --publish plain --resume <rows.svm
try greedystep train - <rows.svm
