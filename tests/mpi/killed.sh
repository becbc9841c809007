#!/bin/sh
# killed.sh MPI GREEDYSTEP [KILLS]: ranks that are killed, again and again, each at a moment that is drawn by chance. The
# same command, given again to as many ranks or to others, goes on with the last checkpoint, and in the end model and
# state are those of the undisturbed run, byte for byte. SEED repeats a run.
. "$(dirname "$0")/prelude.sh"
kills=${1:-20}
seed=${SEED:-$(date +%s)}
echo "$kills kills, SEED=$seed"
watcher=
at_end()
{
    [ -z "$watcher" ] || kill "$watcher" 2> /dev/null || true
}
mkdir kept

# random BELOW: a number of its own each time.
state=$seed
random()
{
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}

# Two passes, in which the state is whole after blocks, then after rounds, and at the end of passes.
"$greedystep" generate --rows 2000000 --features 20000 --nnz 10 --skew 1 --noise 0.1 -o rows.gsac --quiet
train="$greedystep train rows.gsac -o model --passes 2 --threads 1"
began=$(date +%s%N)
on 3 $train --quiet > /dev/null
run_ms=$((($(date +%s%N) - began) / 1000000))
mkdir undisturbed
mv model model.state undisturbed/
echo "undisturbed: $run_ms ms"

# Whoever looks, at any moment, sees the whole model or none.
(
    while sleep 0.02; do
        for file in model model.state; do
            [ ! -e $file ] || cmp -s $file undisturbed/$file || [ ! -e $file ] || echo $file >> torn
        done
    done
) &
watcher=$!

begin()
{
    [ -e kept/model.state ] && goes_on=yes || goes_on=no
    start "$1" $train --checkpoint kept --every 0 --resume
}

# lives PROCESS: one that is dead may wait to be buried.
lives()
{
    case $(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null) in
    '' | Z*) return 1 ;;
    esac
}

# opened RANK: whether a rank has begun to read. Before that it may be connecting to its launcher, and that of Open MPI 4
# waits for ever for a rank that dies there ("PMIX ERROR: UNREACHABLE"): no test of ours.
opened()
{
    [ -s "pid.$1" ] && readlink "/proc/$(cat "pid.$1")/fd/"* 2> /dev/null | grep -q rows.gsac
}

# waits SECONDS: for the job to end.
waits()
{
    ends_within "$1"
    if [ $goes_on = yes ] && grep -q 'begins from the start' log; then
        cat log
        fail "a checkpoint was not taken"
    fi
    for file in pid.*; do
        tries=0
        while lives "$(cat "$file")"; do
            tries=$((tries + 1))
            [ $tries -lt 100 ] || { ps -o pid,stat,cmd -p "$(cat "$file")"; fail "a process of a job that has ended is left"; }
            sleep 0.05
        done
    done
}

check_end()
{
    [ "$(cat ended)" -eq 0 ] || { cat log; fail "exit code $(cat ended) without a kill"; }
    cmp model undisturbed/model || fail "another model"
    cmp model.state undisturbed/model.state || fail "another state"
    [ -z "$(ls -A kept)" ] || { ls -lA kept; fail "something is left where checkpoints were"; }
    [ -z "$(find . -name '.*.tmp')" ] || { find . -name '.*.tmp'; fail "unfinished files are left"; }
    rm model model.state
    completed=$((completed + 1))
}

n=0 completed=0 resumed=0
sizes='3 2 3 1 3 5'
set -- $sizes
while [ $n -lt "$kills" ]; do
    [ $# -gt 0 ] || set -- $sizes
    ranks=$1
    shift
    random $((run_ms * 7 / 10))
    moment=$drawn
    random "$ranks"
    victim=$drawn
    begin "$ranks"
    sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
    until opened $victim || [ -e ended ]; do
        sleep 0.02
    done
    if [ ! -e ended ] && kill -9 "$(cat pid.$victim)" 2> /dev/null; then
        n=$((n + 1))
        waits 60
        if [ "$(cat ended)" -eq 0 ]; then # it was about to end anyway
            check_end
        else
            [ ! -e kept/model.state ] || resumed=$((resumed + 1))
        fi
        echo "kill $n: rank $victim of $ranks after $moment ms, checkpoint $(stat -c %s kept/model.state 2> /dev/null || echo none)"
    else
        waits 60
        check_end
    fi
done
begin 3
waits 60
check_end
[ ! -e torn ] || fail "half of a file was to be seen under its name: $(sort torn | uniq -c)"
[ $resumed -gt 0 ] || fail "no kill left a checkpoint: nothing was tested"
echo "$mpi: $n kills, $resumed of them left a checkpoint, $completed runs came to their end: same bits"
