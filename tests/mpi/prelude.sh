# What the scripts share: $mpi (openmpi or mpich) and $greedystep, their first two arguments, which are taken off; $here;
# and a folder to work in, $work, which goes at the end. A script with more to clear away says so in at_end.
set -eu
mpi=$1
greedystep=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

launcher=$(command -v "mpirun.$mpi" || command -v mpirun) || {
    echo "SKIPPED: no mpirun of $mpi"
    exit 77
}
# Tests run as root in places, and with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $mpi in
openmpi) flags='--oversubscribe --bind-to none --mca mpi_yield_when_idle 1' ;;
*) flags='' ;;
esac
# Both MPIs keep memory of their own until the process ends.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

work=$(mktemp -d)
at_end()
{
    :
}
trap 'at_end; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"

# on N COMMAND...: runs it by N ranks.
on()
{
    n=$1
    shift
    "$launcher" $flags -n "$n" "$@"
}

fail()
{
    echo "FAILED: $*"
    exit 1
}

# start N COMMAND...: a job in the background. Every rank leaves its process in pid.RANK, the job its exit code in `ended`.
start()
{
    rm -f pid.* log ended
    (
        ranks=$1
        shift
        on "$ranks" sh -c 'echo $$ > "pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' rank "$@" > log 2>&1 &&
            code=0 || code=$?
        echo "$code" > ended
    ) &
}

# says TEXT: waits until the log of a job has it, no longer than a minute.
says()
{
    tries=0
    until grep -q "$1" log 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { cat log; fail "not said in a minute: $1"; }
        sleep 0.05
    done
}

# ends_within SECONDS: the job of start
ends_within()
{
    tries=0
    until [ -e ended ]; do
        tries=$((tries + 1))
        [ $tries -lt $(($1 * 20)) ] || {
            kill -9 $(cat pid.*) 2> /dev/null || true
            cat log
            fail "the job goes on after $1 s"
        }
        sleep 0.05
    done
}
