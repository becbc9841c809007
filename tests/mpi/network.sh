#!/bin/sh
# network.sh up NAME NODES RATE: NODES network namespaces, each with an address and a host name of its own, on one bridge by
# links of RATE (as tc says it, such as 100mbit) in each direction. All names begin with NAME, of at most 8 letters.
# network.sh run NAME NODE COMMAND...: on that node, counted from 0.
# network.sh rsh NAME ADDRESS COMMAND...: likewise, as a launcher says it.
# network.sh cut NAME NODE: takes its link down.
# network.sh down NAME: ends what runs on the nodes and removes them.
set -eu
verb=$1
name=$2
shift 2

up()
{
    nodes=$1 rate=$2
    ip link add "$name" type bridge
    ip link set "$name" up
    for i in $(seq 0 $((nodes - 1))); do
        ip netns add "$name$i"
        ip link add "$name-$i" type veth peer name eth0 netns "$name$i"
        ip link set "$name-$i" master "$name" up
        ip -n "$name$i" addr add "10.77.0.$((i + 1))/24" dev eth0
        ip -n "$name$i" link set lo up
        ip -n "$name$i" link set eth0 up
        tc qdisc add dev "$name-$i" root tbf rate "$rate" burst 128kb latency 100ms
        tc -n "$name$i" qdisc add dev eth0 root tbf rate "$rate" burst 128kb latency 100ms
    done
}

run()
{
    node=$1
    shift
    exec ip netns exec "$name$node" unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "node$node" "$@"
}

down()
{
    for netns in $(ip netns list | sed -n "s/^\(${name}[0-9]*\)\( .*\)\{0,1\}$/\1/p"); do
        for process in $(ip netns pids "$netns"); do
            kill -9 "$process" 2> /dev/null || true
        done
        ip link del "$name-${netns#"$name"}" 2> /dev/null || true # a namespace may outlive its name for a moment
        ip netns del "$netns"
    done
    ip link del "$name" 2> /dev/null || true
}

case $verb in
up) up "$@" ;;
run) run "$@" ;;
rsh)
    node=$((${1##*.} - 1))
    shift
    run $node sh -c "$*"
    ;;
cut) ip link set "$name-$1" down ;;
down) down ;;
esac
