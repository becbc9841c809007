#!/bin/sh
# deaths.sh MPI GREEDYSTEP: a rank that is killed or stopped ends the job soon, with a message that tells which it was; one
# that stands still for less than that accuses nobody and is not accused.
. "$(dirname "$0")/prelude.sh"
"$greedystep" generate --rows 3000 --features 50 -o meets.gsac    # a team, which meets after every pass
"$greedystep" generate --rows 70000 --features 50 -o apart.gsac   # one state, which every rank learns by itself

# begin N ROWS PASSES: returns when all ranks are at work.
begin()
{
    rm -f model*
    start "$1" "$greedystep" train "$2" -o model --passes "$3"
    says '^pass '
}

export GREEDYSTEP_HEARTBEAT_SECONDS=3
for rows in meets apart; do
    for rank in 0 2; do
        begin 4 $rows.gsac 100000
        kill -STOP "$(cat pid.$rank)"
        ends_within 60
        [ "$(cat ended)" != 0 ] || fail "exit code 0 although rank $rank was stopped"
        grep -q "rank $rank on .* has not been heard of for 3 s" log || { cat log; fail "rank $rank is not named"; }
        [ "$(grep -c 'has not been heard of' log)" -eq 1 ] || { cat log; fail "somebody else was accused"; }
        echo "$mpi, $rows: rank $rank stopped, the job ended, $(grep -o 'rank . on .* s:' log)"
    done
done

begin 3 meets.gsac 100000
killed=$(cat pid.1)
kill -KILL "$killed"
ends_within 60
[ "$(cat ended)" != 0 ] || fail "exit code 0 although a rank was killed"
grep -q "ranks 0 to 2 of 3 on .* are the processes [0-9]* $killed [0-9]*$" log || { cat log; fail "no list of processes"; }
# MPICH's launcher kills the others at once, and may then tell of one of those.
case $mpi in
openmpi) grep -q 'process rank 1 with' log || { cat log; fail "the launcher does not say who was killed"; } ;;
esac
echo "$mpi: rank 1 killed, the job ended"

# Half the time that would be too long.
GREEDYSTEP_HEARTBEAT_SECONDS=8
begin 3 apart.gsac 100000
kill -STOP "$(cat pid.1)"
sleep 4
kill -CONT "$(cat pid.1)"
sleep 6
[ ! -e ended ] || { cat log; fail "a rank that stood still for half the time ended the job"; }
kill -TERM "$(cat pid.2)"
ends_within 60
! grep -q 'heard of' log || { cat log; fail "somebody was accused"; }
grep -q 'stopped at row .* model and state saved' log || { cat log; fail "SIGTERM of rank 2 did not stop the run"; }
[ "$(cat ended)" -eq 143 ] || fail "exit code $(cat ended), not that of SIGTERM"
[ -s model ] && [ -s model.state ] || fail "rank 0 saved nothing"
echo "$mpi: a pause of rank 1 passed, SIGTERM of rank 2 stopped all"
