#!/bin/sh
# namespaces.sh openmpi GREEDYSTEP: four machines, as far as network namespaces are some, with links of 100 Mbit/s, and Open MPI by
# TCP between them. The model is that of one process; when a link is cut the job ends soon, for all ranks, with a message
# that tells which was lost, and nothing of it stays behind.
. "$(dirname "$0")/prelude.sh"
network="sh $here/network.sh"
name=gs$$
nodes=10.77.0.1,10.77.0.2,10.77.0.3,10.77.0.4
at_end()
{
    $network down "$name" > /dev/null 2>&1 || true
}
# make: all nodes, anew.
make()
{
    $network down "$name" > up.log 2>&1 || true
    $network up "$name" 4 100mbit > up.log 2>&1
}
make || {
    echo "SKIPPED: no network namespaces can be made here (who is not root cannot): $(tail -n 1 up.log)"
    exit 77
}

# by_four [FLAGS] COMMAND...: one rank a node; no longer than three minutes.
by_four()
{
    timeout 180 $network run "$name" 0 "$launcher" --mca plm_rsh_agent "$network rsh $name" --host $nodes \
        --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --mca mpi_yield_when_idle 1 \
        --bind-to none -x GREEDYSTEP_HEARTBEAT_SECONDS -n 4 "$@"
}

export GREEDYSTEP_HEARTBEAT_SECONDS=30
"$greedystep" generate --rows 1600000 --features 100000 --skew 1 --noise 0.1 -o rows.gsac --quiet
"$greedystep" train rows.gsac -o alone --passes 1 --quiet > /dev/null
by_four "$greedystep" train "$work/rows.gsac" -o "$work/model" --passes 1 --trace "$work/trace" > log 2>&1 ||
    { cat log; fail "no training by four nodes"; }
cmp model alone && cmp model.state alone.state || fail "four nodes come to something else than one process"
for node in 0 1 2 3; do
    grep -q "ranks $node to $node of 4 on node$node" log || { cat log; fail "rank $node is not on a node of its own"; }
done
round=$(grep '"event": "round"' trace) || fail "no round was learned: nothing was merged by the network"
rm model model.state
echo "same bits: $round"

# ends_when_cut SECONDS TEXT [FLAGS]: the link of node 2 goes down in mid-run.
ends_when_cut()
{
    most=$1 text=$2
    shift 2
    rm -f log ended
    (
        by_four "$@" "$greedystep" train "$work/rows.gsac" -o "$work/model" --passes 1000 > log 2>&1 && code=0 || code=$?
        echo $code > ended
    ) &
    says '^pass 2/'
    $network cut "$name" 2
    cut=$(date +%s)
    # Whoever is left, be it the launcher: everything in the namespaces.
    while [ -n "$(for i in 0 1 2 3; do ip netns pids "$name$i"; done)" ]; do
        [ $(($(date +%s) - cut)) -lt "$most" ] || {
            cat log
            for i in 0 1 2 3; do ip netns pids "$name$i" | xargs -r ps -o pid,stat,args -p; done
            fail "$most s after the cut something still runs"
        }
        sleep 0.2
    done
    took=$(($(date +%s) - cut))
    wait
    [ "$(cat ended)" -ne 0 ] || fail "exit code 0 although a link was cut"
    grep -E -q "$text" log || { cat log; fail "not said: $text"; }
    [ ! -e model ] || fail "a model was written"
    echo "cut, and ended after $took s: $(grep -E -m 1 "$text" log)"
}

# Ranks notice it themselves and end in some ten seconds. Then the launcher has to give up its own line to the node, for
# which systems take a quarter of an hour unless they are told otherwise.
export GREEDYSTEP_HEARTBEAT_SECONDS=5
for i in 0 1 2 3; do
    ip netns exec "$name$i" sysctl -q -w net.ipv4.tcp_retries2=5
done
ends_when_cut 60 '^greedystep: rank 2 on node2 has not been heard of for 5 s'

# Or the launcher notices first, where it is asked to look: then it tells the node.
make
ends_when_cut 40 'rank 2 on node2 has not been heard of|Remote daemon.* on node 10.77.0.3' \
    --mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2
