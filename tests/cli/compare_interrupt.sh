# A signal ends a comparison: exit code 130, a message, and no file. Progress: a line a method on stderr.
. "$PRELUDE"
greedystep generate --rows 2000 --features 20 --nnz 5 -o data.svm

interrupt()
{
    "$@" >out 2>err &
    pid=$!
    wait_until_listening $pid
    sleep 0.5
    kill -INT $pid
    wait $pid
    echo "$2: [exit $?]"
    cat out err
}
interrupt greedystep compare data.svm --methods paper,sgd:0.1 --passes 20000 -o results.csv
interrupt greedystep compare data.svm --methods svrg:0.1,paper --passes 20000 -o results.csv
mkfifo pipe
{ cat data.svm; sleep 20; } >pipe &
feeder=$!
interrupt greedystep compare pipe --methods paper --passes 1 -o results.csv
kill $feeder 2>/dev/null || echo "the signal was not answered before the pipe ended"
wait $feeder 2>/dev/null

# The results are for a pipe that nobody reads.
rm pipe
mkfifo pipe
{ sleep 20; echo "the signal was not answered"; cat pipe >/dev/null; } &
reader=$!
interrupt greedystep compare data.svm --methods paper --passes 1 --seeds 1 -o pipe --quiet
kill $reader 2>/dev/null
wait $reader 2>/dev/null
rm -f out err pipe
ls
greedystep compare data.svm --methods paper,sgd:0.1,sgd:0.2 --passes 1 --seeds 2 -o results.csv >out 2>err
count_lines out
cat err
greedystep compare data.svm --methods paper,sgd:0.1,sgd:0.2 --passes 1 --seeds 2 -o results.csv >again 2>err
same out again
greedystep compare data.svm --methods paper,sgd:0.1,sgd:0.2 --passes 1 --seeds 2 -o results.csv --quiet >quiet 2>&1
count_lines quiet
rm quiet
ls
