# A signal ends what has no state to go on from: exit code 130, a message, and nothing left behind.
. "$PRELUDE"
greedystep generate --rows 1000 --features 20 --nnz 5 -o data.svm
greedystep train data.svm -o m --quiet --passes 1 >log || fail train

# Feeds some rows and then hangs; the command reads the pipe and gets the signal.
interrupt_hanging()
{
    mkfifo pipe
    { cat data.svm; sleep 20; } >pipe &
    feeder=$!
    "$@" >out 2>err &
    pid=$!
    wait_until_listening $pid
    sleep 0.5
    kill -INT $pid
    wait $pid
    echo "$1 $2: [exit $?]"
    cat err
    grep -E "^(limit|next) " out
    kill $feeder 2>/dev/null || echo "the signal was not answered before the pipe ended"
    wait $feeder 2>/dev/null
    rm pipe
}
interrupt_hanging greedystep predict m pipe -o predictions
interrupt_hanging greedystep evaluate m pipe
interrupt_hanging greedystep train pipe -o never

greedystep generate --rows 1e12 -o endless.svm 2>err &
pid=$!
wait_until_listening $pid
sleep 0.5
kill -TERM $pid
wait $pid
echo "greedystep generate: [exit $?]"
cat err

# A terminal that ends does not stop what nohup(1) started.
(trap '' HUP; exec greedystep generate --rows 3e6 --features 20 --nnz 5 -o kept.svm --quiet) 2>err &
pid=$!
wait_until_listening $pid
kill -HUP $pid
wait $pid
echo "greedystep generate without a terminal: [exit $?]"
cat err
rm -f kept.svm

# Twice at once, as timeout(1) signals a process and then its group, is one wish.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    greedystep generate --rows 1e12 -o endless.svm 2>err &
    pid=$!
    wait_until_listening $pid
    sleep 0.1
    kill -TERM $pid
    kill -TERM $pid
    wait $pid
    grep -q stopped err || echo "the second signal killed it"
done 2>/dev/null
rm -f out err log
ls
