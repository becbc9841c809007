#!/bin/sh
# crash.sh GREEDYSTEP TOOLS RUNS [SEED]: RUNS training runs that are killed at random moments and resumed (crash_loop.c),
# dealt among what is different inside: one learner that goes over text and over a cache, a team over a small file, rounds
# over a long one; on one thread and on two.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
runs=$1
seed=${2-$(date +%s)}
echo "seed $seed"
greedystep generate --rows 30000 --features 200 --nnz 5 --noise 0.1 -o rows.svm --quiet
greedystep convert rows.svm -o rows.gsac --quiet > log
greedystep generate --rows 2000 --features 100 --nnz 5 --noise 0.1 -o few.svm --quiet
greedystep generate --rows 1100000 --features 300 --nnz 2 --noise 0.1 -o many.gsac --quiet

# crash SHARE INPUT OPTIONS...: that part, in tenths, of all runs.
crash()
{
    share=$1 input=$2
    shift 2
    rm -rf run
    mkdir run run/kept
    cp $input run/
    printf '%-48s' "$input $*"
    (cd run && "$tools/crash_loop" --runs $((runs * share / 10)) --seed $seed --term 20 -- \
        "$greedystep" train $input -o m --checkpoint kept --every 0 --quiet "$@")
    seed=$((seed + 1))
}

crash 3 rows.svm --method paper --passes 6 --threads 1
crash 2 rows.gsac --method paper --passes 6 --threads 2
crash 2 few.svm --threads 2
crash 1 few.svm --threads 1
crash 2 many.gsac --passes 1 --threads 2
