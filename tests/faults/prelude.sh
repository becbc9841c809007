# What the scripts share: $greedystep, $tools (the folder of every_fault, interposer.so and crash_loop), a working folder
# that is removed at the end, and the inputs of the runs.
set -eu
export LC_ALL=C
greedystep=$1
tools=$2
shift 2
PATH=$(dirname "$greedystep"):$PATH
export PATH

skip()
{
    echo "SKIPPED: $*"
    exit 77
}

fail()
{
    echo "FAILED: $*"
    exit 1
}

work=$(mktemp -d)
mounted=
end()
{
    [ -z "$mounted" ] || umount "$mounted" || true
    rm -rf "$work"
}
trap end EXIT
cd "$work"

# Sanitizers come before the interposer and find that unusual. A complaint of theirs has an exit code of its own.
export ASAN_OPTIONS="exitcode=99:verify_asan_link_order=0:allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="exitcode=99:halt_on_error=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

# Rows to learn, other rows whose model is there before, and the model of each.
make_inputs()
{
    rows=$1
    greedystep generate --rows "$rows" --features 12 --nnz 3 -o rows.svm --quiet
    greedystep generate --rows "$rows" --features 12 --nnz 3 --seed 7 -o other.svm --quiet
    greedystep train other.svm -o other --quiet > log
    greedystep train rows.svm -o model --quiet > log
    greedystep train rows.svm -o half --method paper --passes 1 --quiet > log
    awk 'BEGIN { print "label,colour,size" }
         { print $1 "," (NR % 3 ? "red" : "blue") "," NR % 7 }' rows.svm > rows.csv
    greedystep convert rows.svm -o rows.gsac --quiet > log
    for packer in gzip zstd xz bzip2; do
        command -v $packer > found || fail "$packer is needed to make the inputs"
        $packer -q -c rows.svm > rows.$packer
    done
    # More than one read, and a model of more than one write.
    greedystep generate --rows 70000 --features 12 --nnz 1 -o long.svm --quiet
    greedystep generate --rows 5000 --features 20000 --nnz 10 --seed 3 -o large.svm --quiet
    greedystep train large.svm -o large --method paper --passes 1 --quiet > log
    # Large enough for a copy of its rows to be kept between passes, and nearly all of it comments.
    { cat rows.svm; head -c 4400000 /dev/urandom | base64 | sed 's/^/# /'; } | gzip -1 > kept.gz
    [ "$only" != rounds ] || greedystep generate --rows 1100000 --features 300 --nnz 2 -o many.gsac --quiet
    rm -f log found
}

# begin FILE...: an empty folder with these inputs and with outputs of an earlier run under the names of those to come.
begin()
{
    rm -rf run
    mkdir run run/tmp
    for each in "$@"; do
        cp "$work/$each" run/
    done
    cp "$work/other" run/m
    cp "$work/other.state" run/m.state
    cp "$work/other.svm" run/out
}

# faults KIND ERROR [OPTIONS] -- COMMAND...: in the folder that was begun. Problems are counted in $broken.
broken=0
faults()
{
    kind=$1 error=$2
    shift 2
    (cd run && TMPDIR=tmp "$tools/every_fault" --interposer "$tools/interposer.so" --kind $kind --error $error "$@") \
        > said || broken=$((broken + 1))
    sed "s/^/$(printf %-13s "$name")/" said
    cat said >> seen
}

# Ends the script. A kind of call that no command makes was not tested.
finish()
{
    [ -s seen ] || skip "no command was tried"
    unseen=$(awk '/ calls: / { n[$1] += $4 } END { for (kind in n) if (n[kind] == 0) print kind }' seen)
    [ -z "$unseen" ] || fail "no call was seen of:" $unseen
    [ $broken -eq 0 ] || fail "$broken of the loops above"
    awk '/ calls: / { told += $6; harmless += $9 }
         END { print "all is well: " told " failures were told, " harmless " did no harm" }' seen
    exit 0
}
