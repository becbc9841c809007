#!/bin/sh
# faults.sh MPI GREEDYSTEP: a disk that is full of checkpoints does not end a run; an input that is damaged, or that one
# rank cannot read, ends it for all, with one message that tells file and place.
. "$(dirname "$0")/prelude.sh"
mounted=
at_end()
{
    [ -z "$mounted" ] || umount "$mounted" || true
}
"$greedystep" generate --rows 1200000 --features 20000 --nnz 10 --skew 1 --noise 0.1 -o rows.gsac --quiet

# ---- a full disk ------------------------------------------------------------------------------------------------------

mkdir kept
if mount -t tmpfs -o size=128k tmpfs kept 2> /dev/null; then
    mounted=$work/kept
    "$greedystep" train rows.gsac -o alone --passes 1 --quiet > /dev/null
    on 3 "$greedystep" train rows.gsac -o model --passes 1 --checkpoint kept --every 0 > log 2>&1 ||
        { cat log; fail "a full disk ended the run"; }
    grep -q 'cannot write kept/model.state: No space left on device; the run continues' log ||
        { cat log; fail "nobody was told of the full disk"; }
    cmp model alone && cmp model.state alone.state || fail "another result on a full disk"
    [ -z "$(ls -A kept)" ] || { ls -lA kept; fail "something is left on the full disk"; }
    umount kept
    mounted=
    rm model model.state
    echo "a full disk: told, the run went on, same bits"
else
    echo "SKIPPED: nothing can be mounted here, so no full disk is tested"
fi

# ---- damaged input ----------------------------------------------------------------------------------------------------

# ends WHAT TEXT RANKS COMMAND...: all ranks end, not with 0; the text is said.
ends()
{
    what=$1 text=$2 ranks=$3
    shift 3
    for n in $ranks; do
        timeout 60 "$launcher" $flags -n "$n" "$@" > log 2>&1 && code=0 || code=$?
        [ $code -ne 0 ] && [ $code -ne 124 ] || { cat log; fail "$what, $n ranks: exit code $code"; }
        [ "$(grep -c '^greedystep: ' log)" -ge 1 ] || { cat log; fail "$what, $n ranks: no message"; }
        grep -q "$text" log || { cat log; fail "$what, $n ranks: not said: $text"; }
        [ ! -e model ] && [ ! -e model.state ] || fail "$what, $n ranks: a model was written"
    done
    echo "$what, ranks $ranks of $mpi: $(grep -o "$text" log)"
}

every='1 2 3 5 8'
size=$(stat -c %s rows.gsac)
cp rows.gsac damaged_rows.gsac
printf 'XXXXXXXX' | dd of=damaged_rows.gsac bs=1 seek=$((size * 2 / 3)) conv=notrunc status=none
ends 'a damaged cache' 'damaged_rows.gsac.*' "$every" "$greedystep" train damaged_rows.gsac -o model --quiet
head -c $((size * 2 / 3)) rows.gsac > cut_rows.gsac
ends 'a cache that was cut off' 'cut_rows.gsac: damaged cache.*' "$every" "$greedystep" train cut_rows.gsac -o model --quiet

for i in 1 2 3; do
    "$greedystep" generate --rows 40000 --features 1000 --seed $i -o part$i.gsac --quiet
done
ends 'a part that is not there' 'part4.gsac.*' "$every" "$greedystep" train part1.gsac part2.gsac part4.gsac -o model --quiet

# What only one rank has to do with, be it its first file or not. By gsa: rows that are solved are read by rank 0 alone.
cat > differ.sh <<'D'
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
who=$1 greedystep=$2 good=$3 bad=$4
shift 4
[ "$rank" != "$who" ] || good=$bad
exec "$greedystep" train --method gsa "$@" $good -o model --quiet
D
for rank in 0 1 2; do
    ends "rank $rank has a damaged cache" 'damaged_rows.gsac.*' 3 \
        sh differ.sh $rank "$greedystep" rows.gsac damaged_rows.gsac
    ends "rank $rank has other rows" 'has other rows than rank 0' 3 \
        sh differ.sh $rank "$greedystep" part2.gsac part3.gsac part1.gsac
    ends "rank $rank misses a part" 'part4.gsac.*' 3 sh differ.sh $rank "$greedystep" part2.gsac part4.gsac part1.gsac
done
