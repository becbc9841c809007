#!/bin/sh
# headers.sh INCLUDE_DIR [MPI_INCLUDE_DIRS]: every public header compiles alone, as C99, C17 and C++11, with every compiler
# at hand; mpi.h where <mpi.h> is there (directories separated by semicolons).
set -eu
include=$1
mpi=$(printf '%s' "${2-}" | sed 's/[^;][^;]*/-isystem &/g; s/;/ /g')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict='-Wall -Wextra -Wpedantic -Werror -fsyntax-only'
n=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
    command -v "$1" > /dev/null || return 0
    printf '#include <greedystep/%s>\n#include <greedystep/%s>\nint only_a_header;\n' "$4" "$4" > "$work/alone"
    "$1" -x "$2" -std="$3" $strict -I "$include" $mpi "$work/alone" || {
        echo "$4 does not compile alone with $1 -std=$3"
        exit 1
    }
    n=$((n + 1))
}

for path in "$include"/greedystep/*.h; do
    header=$(basename "$path")
    [ "$header" != mpi.h ] || [ -n "$mpi" ] || continue
    for standard in c99 c17; do
        compile gcc c $standard "$header"
        compile clang c $standard "$header"
    done
    compile g++ c++ c++11 "$header"
    compile clang++ c++ c++11 "$header"
done

[ $n -gt 0 ] || {
    echo "SKIPPED: no compiler found"
    exit 77
}
echo "$n compilations"
