#!/bin/sh
# full_disk.sh GREEDYSTEP TOOLS: a disk of 1 MB that is full sooner or later. With 0, 4, 8, 16 ... kB free, until there is
# room enough: the command says which file there was no space for and ends with 1, what stood there before is as it was,
# and nothing else is left. What a run can do without (checkpoints, kept rows) ends nothing: same model, and a note.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
mkdir disk
mount -t tmpfs -o size=1m tmpfs disk 2> log || skip "no tmpfs can be mounted here (that needs root), so no full disk is tested"
mounted=$work/disk

greedystep generate --rows 20000 --features 10000 --nnz 5 -o rows.svm --quiet
greedystep generate --rows 300 --features 300 --nnz 5 --seed 7 -o other.svm --quiet
greedystep train rows.svm -o model --method paper --passes 1 --quiet > log
greedystep train other.svm -o other --quiet > log
greedystep convert rows.svm -o rows.gsac --quiet > log

# leave KILOBYTES: fills the disk but for that much; false if there is not so much room.
leave()
{
    rm -f disk/ballast
    ballast=$(($(df -k --output=avail disk | tail -n 1) - $1))
    [ $ballast -ge 0 ] || return 1
    head -c $((ballast * 1024)) /dev/zero > disk/ballast
}

# full NAMES COMMAND...: NAMES are the files that the command writes on the disk; they are there before, with other bytes.
full()
{
    names=$1
    shift
    n_full=0 code=1
    for free in 0 4 8 16 32 64 128 256 400 500 600 700 800 900; do
        [ $code -ne 0 ] || break
        rm -f disk/*
        for each in $names; do
            cp other "disk/$each"
        done
        leave $free || break
        ls -A disk > before
        code=0
        "$@" > out 2> err || code=$?
        ls -A disk > after
        cmp -s before after || { cat after; fail "$free kB free: other files than before: $*"; }
        [ $code -ne 0 ] || break
        n_full=$((n_full + 1))
        [ $code -eq 1 ] || { cat err; fail "$free kB free: exit code $code: $*"; }
        grep -q 'greedystep: .*disk/.*: No space left on device' err || { cat err; fail "not told of: $*"; }
        for each in $names; do # in the order in which they are written
            if cmp -s other "disk/$each"; then break; fi
            greedystep merge "disk/$each" -o merged > log 2>&1 || { cat log; fail "half a file: disk/$each"; }
        done
    done
    [ $n_full -gt 0 ] || fail "the disk was never full: $*"
    [ $code -eq 0 ] || { cat err; fail "a disk with room for it was not enough: $*"; }
    printf '%-9s the disk was full %2d times, all told; %s kB were enough\n' "$2" $n_full $free
}

full 'm.state m' greedystep train rows.gsac -o disk/m --method paper --passes 1 --quiet
cmp disk/m model && cmp disk/m.state model.state || fail "another model"
full 'm.state m' greedystep merge model -o disk/m
full out greedystep convert rows.svm -o disk/out --format gsac --quiet
cmp disk/out rows.gsac || fail "another cache"
full out.gz greedystep convert rows.svm -o disk/out.gz --quiet
full out.zst greedystep convert rows.svm -o disk/out.zst --quiet
full out greedystep predict model rows.svm -o disk/out
full out greedystep generate --rows 5000 --features 100 --nnz 10 -o disk/out --quiet
full out greedystep compare other.svm --methods gsa --passes 1 --seeds 1 -o disk/out --quiet

# ---- what a run can do without ------------------------------------------------------------------------------------------

# goes_on CODE TEXT COMMAND...: with no room at all.
goes_on()
{
    expected=$1 text=$2
    shift 2
    rm -rf disk/* m m.state
    leave 0
    code=0
    "$@" > out 2> err || code=$?
    [ $code -eq $expected ] || { cat err; fail "exit code $code: $*"; }
    grep -q "$text" err || { cat err; fail "not told: $text"; }
    rm -f disk/ballast
    find disk ! -size 0 -type f > left
    [ ! -s left ] || { cat left; fail "left behind by $*"; }
    echo "$text"
}

goes_on 0 'cannot write disk/m.state: No space left on device; the run continues without this checkpoint' \
    greedystep train rows.svm -o m --method paper --passes 1 --checkpoint disk --every 0 --quiet
cmp m model && cmp m.state model.state || fail "another model without checkpoints"
goes_on 1 'cannot write disk/trace: No space left on device; the run continues without a trace, and its exit code will be 1' \
    greedystep train rows.svm -o m --method paper --passes 1 --trace disk/trace
cmp m model && cmp m.state model.state || fail "another model without a trace"

# Compressed rows of more than 4 MB, so that train keeps them between passes where TMPDIR says.
{ cat rows.svm; head -c 4400000 /dev/urandom | base64 | sed 's/^/# /'; } | gzip -1 > rows.gz
greedystep train rows.gz -o twice --method paper --passes 2 --quiet > log
goes_on 0 'no space for a temporary cache of the rows in disk (set by TMPDIR): every pass reads the input' \
    env TMPDIR=disk "$greedystep" train rows.gz -o m --method paper --passes 2
cmp m twice && cmp m.state twice.state || fail "another model without kept rows"
echo "all is well"
