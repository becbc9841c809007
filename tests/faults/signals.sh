#!/bin/sh
# signals.sh GREEDYSTEP TOOLS ROUNDS: SIGTERM and SIGPIPE at many moments, in the commands that write. One that was stopped
# says so and ends with 128 + the signal's number (or dies of it before it listens); what it writes is as it was before, or
# whole; nothing else is left. Runs of train that are stopped and resumed: crash.sh.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
rounds=$1
greedystep generate --rows 120000 --features 300 --nnz 8 -o rows.svm --quiet
greedystep train rows.svm -o model --method paper --passes 1 --quiet > log
mkdir run
n_stopped=0 n_ended=0

# stop MILLISECONDS COMMAND...: the command writes run/out.
stop()
{
    after=$(printf '0.%03d' $1)
    shift
    echo before > run/out
    code=0
    timeout --preserve-status -s TERM $after "$@" -o run/out > log 2> err || code=$?
    case $code in
    0)
        n_ended=$((n_ended + 1))
        [ -e whole ] || cp run/out whole
        cmp -s run/out whole || fail "not whole: $*"
        ;;
    143)
        n_stopped=$((n_stopped + 1))
        [ "$(cat run/out)" = before ] || fail "stopped after $after s, something was written all the same: $*"
        [ ! -s err ] || grep -q 'greedystep: stopped' err || { cat err; fail "another message: $*"; }
        ;;
    *) cat err; fail "exit code $code: $*" ;;
    esac
    [ "$(ls -A run)" = out ] || { ls -A run; fail "left behind by $*"; }
}

for command in 'predict model rows.svm' 'convert rows.svm --format gsac --quiet' 'generate --rows 200000 --quiet'; do
    rm -f whole
    greedystep $command -o whole > log
    for i in $(seq $rounds); do
        stop $((i * 311 / rounds)) greedystep $command
    done
done
echo "SIGTERM: $n_stopped stopped, $n_ended ended before"
[ $n_stopped -gt 0 ] || fail "none was stopped"

# A reader that goes away after some bytes.
for command in 'predict model rows.svm' 'generate --rows 200000 -o - --quiet' 'convert rows.svm -o - --quiet'; do
    for size in 0 1 4096 65536 400000; do
        { code=0; greedystep $command 2> err || code=$?; echo $code > code; } | head -c $size > /dev/null
        [ "$(cat code)" = 141 ] || { cat err; fail "exit code $(cat code) after SIGPIPE: $command"; }
        [ ! -s err ] || { cat err; fail "not quiet: $command"; }
    done
done
echo "SIGPIPE: quiet every time"
