#!/bin/sh
# stream.sh GREEDYSTEP TOOLS KILLS [SEED]: a trainer that publishes a model of a stream is killed KILLS times at random moments,
# and started again on a stream that begins where the state says (line numbers, then a column of offsets) or at its first row;
# then model and state have the bytes of an undisturbed run. A reader loads the model 1000 times meanwhile: it is always whole.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
kills=$1
seed=${2-$(date +%s)}
echo "seed $seed"
greedystep generate --rows 40000 --features 200 --nnz 5 --noise 0.1 -o rows.svm --quiet
awk -v seed=7 'BEGIN {
    srand(seed); print "offset,label,a,b,word"
    for (i = 0; i < 20000; i++) { a = rand(); printf "%d,%s,%.4f,%.4f,w%d\n", 1000 + 3 * i, rand() < a ? "yes" : "no", a, rand(), int(300 * rand()) }
}' >rows.csv

# feed FILE LINE: its lines from LINE on, some hundred at a time, with a header if it is a table; at first as many as it takes
# to begin
feed()
{
    rm -rf pieces
    mkdir pieces
    case $1 in *.csv) [ "$2" -le 2 ] || head -n 1 "$1" ;; esac
    [ "$2" -gt 1 ] || head -n 5000 "$1"
    tail -n "+$(($2 > 1 ? $2 : 5001))" "$1" | split -a 3 -l 300 - pieces/
    for piece in pieces/*; do
        cat "$piece" || return
        sleep 0.01
    done
}

position()
{
    greedystep inspect m.state --json | sed -n 's/.*"position": "\([^"]*\)".*/\1/p'
}

# next FILE: the line to begin with: behind the position, which is a line or an offset
next()
{
    where=$(position)
    case $1 in *.csv) echo $(((where - 1000) / 3 + 3)) ;; *) echo $((where + 1)) ;; esac
}

# random N: 0 to N - 1, and the seed moves on
random()
{
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    echo $((seed / 65536 % $1)) >number
}

# What a run has left that has ended by itself; the next begins anew.
check_whole()
{
    cmp whole m || fail "$name: the model differs"
    cmp whole.state m.state || fail "$name: the state differs"
    rm m m.state
}

# disturb NAME FILE START OPTIONS...: START is position (a stream that goes on) or first (it is sent again)
disturb()
{
    name=$1 file=$2 start=$3
    shift 3
    rm -f m m.state whole whole.state
    greedystep train - --publish whole --every 1h --quiet "$@" <$file >log || fail "$name: the undisturbed run"
    n=0 resumed=0 ended=0
    until [ $n -ge "$kills" ] && [ $ended -gt 0 ]; do
        line=1 flags=
        if [ -e m.state ]; then
            resumed=$((resumed + 1)) flags=--resume
            [ $start = first ] || { line=$(next $file) && flags="--resume --from-position"; }
        fi
        feed $file $line >pipe 2>feed.log &
        feeder=$!
        # shellcheck disable=SC2086 # words
        greedystep train - --publish m --every 0.02s --quiet $flags "$@" <pipe >log 2>&1 &
        trainer=$!
        if [ $n -lt "$kills" ]; then
            # Every other run is killed after its first model, so that there is one to go on from.
            while [ $((n % 2)) = 1 ] && [ ! -e m.state ] && kill -0 $trainer 2>kill.log; do sleep 0.01; done
            random 700
            sleep "0.$(printf %03d $(($(cat number) + 50)))"
            kill -9 $trainer 2>kill.log || true
        fi
        code=0
        wait $trainer 2>wait.log || code=$?
        wait $feeder || true
        case $code in
        137) n=$((n + 1)) ;;
        0) ended=$((ended + 1)) && check_whole ;;
        *) cat log && fail "$name: exit code $code" ;;
        esac
    done
    [ $resumed -gt 0 ] || fail "$name: no run was resumed"
    echo "$name: $n killed, $resumed resumed, $ended ended with the same bytes"
}

mkfifo pipe
disturb "lines" rows.svm position
disturb "offsets of a table" rows.csv position --label label --position offset --bits 12 --threads 2
disturb "from the first row" rows.svm first --threads 1

rm -f m m.state
feed rows.svm 1 | greedystep train - --publish m --every 0 --quiet >log &
"$tools/read_model" m 1000 || fail "a model that was published is not whole"
wait
