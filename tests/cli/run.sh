#!/bin/sh
# Runs scripts of this folder with the command of a build and compares what they print with NAME.expected.
#
#   run.sh [--accept] BUILD_DIRECTORY [NAME...]     without names: all of them
#
# What differs from run to run (times, versions of libraries, the temporary directory) is replaced before the comparison.
set -u
export LC_ALL=C

accept=no
if [ "${1-}" = --accept ]; then
    accept=yes
    shift
fi
[ $# -ge 1 ] || { echo "usage: run.sh [--accept] BUILD_DIRECTORY [NAME...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
shift
[ -x "$build/greedystep" ] || { echo "run.sh: no $build/greedystep" >&2; exit 2; }
export PRELUDE="$here/prelude.sh" PATH="$build:$PATH"

replace_volatile()
{
    sed -E -e "s#$1#TMP#g" \
        -e 's/[0-9.]+ s \([0-9]+ rows\/s\)/SECONDS s (RATE rows\/s)/' \
        -e 's/^(pass .* rows)  [0-9.]+[kMGT]? rows\/s/\1/' \
        -e 's/[0-9.]+[kMGT]? rows\/s/RATE rows\/s/' \
        -e 's/[0-9]+ MB\/s/RATE MB\/s/' \
        -e 's/[0-9]+ MB of memory/SIZE MB of memory/' \
        -e 's/^(time +)[0-9.]+ s, [0-9]+ MB/\1SECONDS s, SIZE MB/' \
        -e 's/"seconds": [0-9.e+-]+/"seconds": SECONDS/' \
        -e 's/^(gzip|zstd|xz|bzip2|jansson) +([0-9].*|no)$/\1 VERSION/' \
        -e 's/^mpi +(openmpi|mpich|openmpi mpich|no)$/mpi LIBRARIES/' \
        -e 's/^greedystep [0-9][0-9.]*$/greedystep VERSION/'
}

run_one()
{
    name=$1
    directory=$(mktemp -d) || exit 2
    (cd "$directory" && sh "$here/$name.sh") >"$directory.raw" 2>&1
    code=$?
    replace_volatile "$directory" <"$directory.raw" >"$directory.out"
    rm -rf "$directory"
    result=0
    if [ $code -eq 77 ]; then
        echo "$name: skipped: $(tail -n 1 "$directory.out")"
        result=77
    elif [ $code -ne 0 ]; then
        echo "$name: the script ended with $code:"
        cat "$directory.out"
        result=1
    elif [ $accept = yes ]; then
        cp "$directory.out" "$here/$name.expected"
    elif ! diff -u "$here/$name.expected" "$directory.out"; then
        echo "$name: differs"
        result=1
    fi
    rm -f "$directory.raw" "$directory.out"
    return $result
}

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names of tests, which have no spaces
    set -- $(cd "$here" && find . -maxdepth 1 -name "*.sh" ! -name run.sh ! -name prelude.sh | sed "s,^\./,,; s/\.sh\$//" | sort)
fi
worst=0
for each in "$@"; do
    run_one "$each"
    code=$?
    [ $code -eq 1 ] && worst=1
    [ $code -eq 77 ] && [ $worst -eq 0 ] && worst=77
done
exit $worst
