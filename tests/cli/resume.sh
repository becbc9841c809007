# A run that is interrupted and resumed gives the bytes of the undisturbed one.
. "$PRELUDE"
greedystep generate --rows 100000 --features 1000 --nnz 10 -o data.svm
greedystep train data.svm --method paper -o whole --passes 24 --quiet >log || fail whole

# By a signal, somewhere after a number of rows; once more if the run was faster than the signal.
interrupt_with()
{
    for attempt in 1 2 3 4 5; do
        rm -f m m.state out err
        nice -n 19 greedystep train data.svm --method paper -o m --passes 24 >out 2>err &
        pid=$!
        wait_for err " $2 rows" || exit 1
        kill -$1 $pid
        wait $pid
        code=$?
        [ $code -eq 0 ] || break
    done
    echo "SIG$1 [exit $code]"
    grep -v '^pass' err | sed -E 's/row [0-9]+ of pass [0-9]+/row N of pass P/'
    grep '^limit' out | sed 's, at row.*,,'
    greedystep evaluate m data.svm >log || fail "the model of an interrupted run"
}
interrupt_with TERM 16384
greedystep inspect m --top 0 | grep ^state | sed -E 's/[0-9]+/N/g; s/the end of pass/row N of pass/'
interrupt_with HUP 16384
greedystep train --resume data.svm --method paper -o m --passes 24 --quiet >log || fail "resume after the terminal ended"
same whole m
interrupt_with INT '131[0-9]*'
try greedystep train --resume data.svm --method paper -o m --passes 24 --seed 7
try greedystep train --resume data.svm --method paper -o m --passes 24 --no-intercept
head -n 1000 data.svm | sed 's/:1/:2/g' >other.svm
try greedystep train --resume other.svm --method paper -o m --passes 24
greedystep train --resume data.svm --method paper -o m --passes 24 --quiet >log || fail resume
same whole m
same whole.state m.state

echo "twice interrupted"
interrupt_with INT 16384
rm -f out err
nice -n 19 greedystep train --resume data.svm --method paper -o m --passes 24 >out 2>err &
pid=$!
wait_for err '^pass' || exit 1
kill -INT $pid
wait $pid
echo "[exit $?]"
greedystep train --resume data.svm --method paper -o m --passes 24 --quiet >log || fail resume
same whole m
same whole.state m.state

echo "more passes"
greedystep train data.svm --method paper -o m --passes 5 --quiet >log || fail five
greedystep train data.svm --method paper -o m --passes 24 --resume --quiet >log || fail twelve
same whole m
same whole.state m.state

try greedystep train data.svm --method paper -o m --passes 24 --resume
same whole.state m.state

echo "a stream that hangs"
rm -f out err
mkfifo pipe
{ head -n 30000 data.svm; sleep 60; } >pipe &
feeder=$!
nice -n 19 greedystep train pipe --method paper -o m >out 2>err &
pid=$!
wait_for err ' 16384 rows\| 8[0-9]* rows' || exit 1
kill -INT $pid
wait $pid
echo "[exit $?]"
grep -v '^pass' err | sed -E 's/row [0-9]+ of pass [0-9]+/row N of pass P/'
kill $feeder 2>/dev/null
wait $feeder 2>/dev/null
cat data.svm | greedystep train --resume - --method paper -o m --quiet >log || fail "resume of a stream"
cat data.svm | greedystep train - --method paper -o stream --quiet >log || fail stream
same stream m
same stream.state m.state

echo "nothing to resume"
try greedystep train --resume data.svm --method paper -o never
mkfifo pipe2
sleep 20 >pipe2 &
feeder=$!
greedystep train pipe2 --method paper -o never 2>err &
pid=$!
wait_until_listening $pid
sleep 0.5
kill -INT $pid
wait $pid
echo "[exit $?]"
cat err
kill $feeder 2>/dev/null
absent never
