#!/bin/sh
# command.sh MPI GREEDYSTEP: what `train` says and writes when several processes are started: one voice, one model, one
# exit code; and that it refuses to be several runs that do not know of one another.
. "$(dirname "$0")/prelude.sh"
"$greedystep" generate --rows 3000 --features 50 -o rows.gsac
"$greedystep" generate --rows 300 --features 50 --seed 2 -o test.svm

# fails CODE TEXT N ARGUMENTS...: the text is said once.
fails()
{
    expected=$1 text=$2
    shift 2
    on "$@" > log 2>&1 && code=0 || code=$?
    [ $code -eq "$expected" ] || { cat log; fail "exit code $code, expected $expected: $*"; }
    [ "$(grep -c "$text" log)" -eq 1 ] || { cat log; fail "not said once: $text"; }
    [ ! -e model ] || fail "a model was written: $*"
    echo "said once: $text"
}

fails 1 'missing.gsac: .*No such file' 3 "$greedystep" train missing.gsac -o model
fails 1 'cannot write ./nowhere/model' 3 "$greedystep" train rows.gsac -o ./nowhere/model
fails 1 'cannot read a stream.*greedystep convert DATA' 2 "$greedystep" train - -o model < /dev/null
fails 1 'test.svm is not a plain cache.*greedystep convert DATA' 2 "$greedystep" train test.svm -o model
fails 1 '2 processes cannot write one file' 2 "$greedystep" convert test.svm -o model
GREEDYSTEP_MPI=$work/nothing.so
export GREEDYSTEP_MPI
fails 1 'cannot connect the processes' 3 "$greedystep" train rows.gsac -o model
on 1 "$greedystep" train rows.gsac -o model --quiet > /dev/null || fail "a single process needs no library"
on 2 "$greedystep" evaluate model test.svm > log || fail "other verbs need no library"
[ "$(grep -c '^accuracy' log)" -eq 2 ] || { cat log; fail "two processes do not evaluate twice"; }
unset GREEDYSTEP_MPI
mv model alone
rm model.state

# What only one of them finds out is told, with its rank.
cat > differ.sh <<'S'
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
file=rows.gsac
[ "$rank" != "$1" ] || file=other.gsac
exec "$2" train $file -o model --quiet
S
fails 1 'rank 2 on .*: cannot open other.gsac: .*No such file' 3 sh differ.sh 2 "$greedystep"
fails 1 'other.gsac: .*No such file' 3 sh differ.sh 0 "$greedystep"
"$greedystep" generate --rows 3001 --features 50 -o other.gsac
fails 1 'rank 1 has other rows than rank 0' 2 sh differ.sh 1 "$greedystep"

on 3 "$greedystep" train rows.gsac -o model --test test.svm --trace trace.jsonl --json > log 2> err ||
    { cat err; fail "no training"; }
[ "$(grep -c '"model": "model"' log)" -eq 1 ] || { cat log; fail "not one JSON object"; }
[ "$(grep -c '"event": "start"' trace.jsonl)" -eq 1 ] || fail "not one trace"
[ "$(grep -c '^pass 1  test' err)" -eq 1 ] || { cat err; fail "not one judgement of the first pass"; }
[ "$(grep -c 'ranks 0 to 2 of 3 on' err)" -eq 1 ] || { cat err; fail "the ranks are not told"; }
cmp model alone || fail "another model than that of one process"
echo "one voice, one model"

# Rank 0 evaluates --test, to the figures of one process.
"$greedystep" generate --rows 140000 --features 50 --seed 2 -o test.gsac
judge()
{
    "$@" "$greedystep" train rows.gsac -o model --test "${test_file:-test.gsac}" --json --quiet > log 2> err || return 1
    sed -n '/"test": \[/,/\]/p' log
}
judge env > one.test
grep -q log_loss one.test || fail "no judgement"
for n in 2 3 5; do
    judge on $n > many.test || { cat err; fail "no judgement by $n ranks"; }
    cmp one.test many.test || fail "another judgement by $n ranks"
done
echo '1 1:x' >> test.svm
rm model model.state
test_file=test.svm
judge on 3 && fail "a bad row of --test is no failure" || true
[ "$(grep -c 'test.svm:301 ' err)" -eq 1 ] || { cat err; fail "the bad row is not told once"; }
[ "$(grep -c 'continues without it' err)" -eq 1 ] || { cat err; fail "not said once that the training goes on"; }
cmp model alone || fail "the model is not kept when --test fails"
echo "one judgement"

# Files are dealt out; every cache is that of one process, and a model of them that of the tables.
mkdir many one
for i in 1 2 3 4 5; do
    awk -v seed=$i 'BEGIN { srand(seed); print "a,c,y"; for (i = 0; i < 900; i++) print i % 9 "," "k" int(rand() * (4 + seed)) "," int(rand() * 2) }' > table$i.csv
done
on 3 "$greedystep" convert table?.csv --label y -o many > log || { cat log; fail "no conversion"; }
"$greedystep" convert table?.csv --label y -o one/ > log
for i in 1 2 3 4 5; do
    cmp many/table$i.gsac one/table$i.gsac || fail "another cache of table $i"
done
"$greedystep" train table?.csv --label y --method gsa -o tables --quiet > /dev/null 2>&1
on 3 "$greedystep" train many/*.gsac --method gsa -o model --quiet > /dev/null || fail "no training on caches"
cmp model tables || fail "caches give another model than their tables"
cmp model.state tables.state || fail "caches give another state than their tables"
fails_in_convert=$(on 2 "$greedystep" convert table1.csv missing.csv --label y -o many 2>&1) && fail "a missing file is no failure"
echo "$fails_in_convert" | grep -q 'rank 1 on .*missing.csv' || fail "the missing file is not told: $fails_in_convert"
echo "one cache per file"
