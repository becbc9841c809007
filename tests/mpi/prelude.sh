# What the scripts share. $mpi is openmpi or mpich.

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
