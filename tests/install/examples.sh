#!/bin/sh
# examples.sh [--accept] BUILD_DIR C_COMPILER [INSTRUMENTATION]: the programs of examples/ are built against an installed tree
# as their heads say, and print what examples/expected has; --accept writes that anew. Those with mpirun are run by tests/mpi,
# Python's by python/tests, Spark's by tests/spark.
set -eu
accept=no
[ "$1" != --accept ] || { accept=yes && shift; }
build=$1
cc=$2
instrumentation=${3-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
flags="-O2 -Wconversion -Wshadow $flags"
expected=$here/../../examples/expected
cp -R "$here/../../examples" examples
PATH=$prefix/bin:$PATH
export PATH

# prints NAME COMMAND...: what is expected of NAME, and nothing else
prints() {
    name=$1
    shift
    "$@" > printed 2>&1 || {
        echo "$name: failed"
        cat printed
        exit 1
    }
    [ $accept = no ] || cp printed "$expected/$name.txt"
    diff -u "$expected/$name.txt" printed || {
        echo "$name: differs"
        exit 1
    }
    n=$((n + 1))
    echo "ok: $name"
}

# builds WHAT COMMAND...
builds() {
    what=$1
    shift
    "$@" > build.log 2>&1 || {
        echo "$what cannot be built"
        cat build.log
        exit 1
    }
}

builds examples/pkg-config make -C examples/pkg-config CC="$cc" CFLAGS="$flags"
built=examples/pkg-config
prints minimal $built/minimal examples/data/visits.csv my.model examples/data/new.csv
prints custom_loss $built/custom_loss
prints online $built/online
prints serving sh -c "$built/serving my.model < examples/data/new.csv"

builds examples/cmake "$cmake" -S examples/cmake -B cmake_build -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$prefix"
builds examples/cmake "$cmake" --build cmake_build
prints cmake cmake_build/main

if command -v $cxx > /dev/null; then
    # shellcheck disable=SC2046,SC2086 # lists of flags
    builds examples/cpp $cxx -std=c++17 $flags examples/cpp/main.cpp -o cpp_main $(pkg-config --cflags --libs greedystep)
    prints cpp ./cpp_main
else
    echo "LEFT OUT: no $cxx for examples/cpp"
fi

prints shell sh examples/shell/pipeline.sh
echo "$n examples print what they should"
