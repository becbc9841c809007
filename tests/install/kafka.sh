#!/bin/sh
# kafka.sh BUILD_DIR C_COMPILER KILLS [INSTRUMENTATION]: examples/c/kafka.c is built as its head says and learns the topic of
# librdkafka's mock cluster, which another process serves. It is killed KILLS times at random moments and started again: rows,
# model and state are those of a program that was never killed. SKIPPED (77) without librdkafka.
set -eu
build=$1
cc=$2
kills=$3
instrumentation=${4-}
here=$(cd "$(dirname "$0")" && pwd)
pkg-config --exists rdkafka || {
    echo "SKIPPED: no librdkafka (Debian: librdkafka-dev) for examples/c/kafka.c"
    exit 77
}
. "$here/prelude.sh"
rows=40000
flags="-O2 -Wconversion -Wshadow $flags"
PATH=$prefix/bin:$PATH
[ "$(wc -l < "$here/../../examples/c/kafka.c")" -le 200 ] || { echo "FAILED: more than 200 lines" && exit 1; }
# shellcheck disable=SC2046,SC2086 # lists of flags
$cc $flags "$here/../../examples/c/kafka.c" -o kafka $(pkg-config --cflags --libs greedystep rdkafka) -lm
# shellcheck disable=SC2046,SC2086
$cc $flags "$here/kafka_cluster.c" -o kafka_cluster $(pkg-config --cflags --libs rdkafka) -lm
./kafka_cluster $rows address 2> cluster.log &
cluster=$!
trap 'kill $cluster 2> /dev/null || true; rm -rf "$work"' EXIT
until [ -s address ]; do sleep 0.02; done

position() {
    greedystep inspect "$1" --json 2> /dev/null | sed -n 's/.*"position": "\([^"]*\)".*/\1/p'
}

# finish MODEL: learns until the last row is published, then ends on SIGTERM. The line that it prints says that it
# is there to take the signal, even if the runs before it had learned all rows.
finish() {
    ./kafka "$(cat address)" clicks 0 "$1" 0.2 > finish.log 2>&1 &
    trainer=$!
    tries=0
    until [ -s finish.log ] && [ "$(position "$1")" = clicks/0/$((rows - 1)) ]; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || { cat finish.log && echo "FAILED: $1 is at $(position "$1")" && exit 1; }
        sleep 0.1
    done
    kill $trainer
    wait $trainer || { cat finish.log && echo "FAILED: exit code $?" && exit 1; }
}

seed=$(date +%s)
echo "seed $seed"
for kill in $(seq "$kills"); do
    [ ! -e m ] || position m >> offsets
    before=$(position m)
    ./kafka "$(cat address)" clicks 0 m 0.01 > killed.log 2>&1 &
    trainer=$!
    tries=0
    # the first get as far as to publish, however slow the machine is
    while [ "$kill" -le 3 ] && [ "$(position m)" = "$before" ] && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    sleep "$((seed / 65536 % 2)).$(printf %03d $((seed / 131072 % 1000)))"
    kill -9 $trainer
    wait $trainer 2> /dev/null || true
done
finish m
finish whole
cmp m whole || { echo "FAILED: the models differ" && exit 1; }
cmp m.state whole.state || { echo "FAILED: the states differ" && exit 1; }
learned=$(greedystep inspect m --json | sed -n 's/.*"pass_rows": \([0-9]*\).*/\1/p')
[ "$learned" = $((rows - rows / 1000)) ] || { echo "FAILED: $learned rows were learned" && exit 1; }
resumed=$(sort -u offsets | wc -l)
[ "$resumed" -gt 1 ] || { echo "FAILED: runs were resumed at $resumed offsets" && exit 1; }
tail -n 1 finish.log
echo "$kills killed, resumed at $resumed different offsets: $learned rows, same bytes"
