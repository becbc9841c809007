# Ctrl-C is answered soon also with very many classes, and the run goes on to the same bytes.
. "$PRELUDE"
most=2
if grep -aq __asan_init "$(command -v greedystep)"; then most=30; fi

# $1 rows of $2 classes.
make_rows()
{
    awk -v n="$1" -v k="$2" 'BEGIN { for (i = 0; i < n; i++) print i % k, (1 + i % 50) ":1", (60 + i % 37) ":1" }'
}

# Stops the run of data $1 once its progress has the pattern $2, and looks how long that takes.
interrupt_at()
{
    rm -f m m.state out err
    greedystep train "$1" --loss softmax -o m >out 2>err &
    pid=$!
    wait_for err "$2" || exit 1
    [ $# -lt 3 ] || sleep "$3"
    began=$(date +%s%N)
    kill -INT $pid
    wait $pid
    echo "[exit $?]"
    took=$(( ($(date +%s%N) - began) / 1000000 ))
    [ $took -le $((most * 1000)) ] || echo "TOO LONG: $took ms"
    grep -o 'model.*saved' err
}

echo "-- a hundred thousand classes --"
make_rows 100000 100000 >many.svm
interrupt_at many.svm ' 8[0-9]* rows'
head -n 10 many.svm >few.svm
greedystep predict m few.svm -o predicted || fail predict
count_lines predicted

echo "-- while held-out rows judge --"
make_rows 74000 599 >some.svm
greedystep train some.svm --loss softmax -o whole --quiet >log || fail whole
interrupt_at some.svm ' 65[0-9]* rows' 0.3
# On a fast machine the signal may come after the last row: then there is nothing left to learn, which is said.
greedystep train some.svm --loss softmax -o m --resume --quiet >log 2>&1 || fail resume
same whole m
same whole.state m.state
