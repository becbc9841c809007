#!/bin/sh
# consumers.sh BUILD_DIR C_COMPILER [INSTRUMENTATION]: installs the build into a fresh prefix and builds and runs a small
# program against it: by pkg-config, shared and static, in C99 and C++11, and by find_package.
set -eu
build=$1
cc=$2
instrumentation=${3-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
version=$(pkg-config --modversion greedystep)

# run PROGRAM WHAT: it must print the version and nothing else.
run() {
    printed=$("./$1") || {
        echo "$2: failed"
        exit 1
    }
    [ "$printed" = "$version" ] || {
        echo "$2: printed '$printed', expected '$version'"
        exit 1
    }
    n=$((n + 1))
    echo "ok: $2"
}

# by_pkg_config COMPILER LANGUAGE STANDARD
# shellcheck disable=SC2046,SC2086 # lists of flags
by_pkg_config() {
    "$1" -x "$2" -std="$3" $flags $(pkg-config --cflags greedystep) "$here/consumer.c" -x none \
        -o consumer $(pkg-config --libs greedystep)
    run consumer "pkg-config, shared, $1 -std=$3"
    # -l: takes the archive although the shared library lies beside it.
    "$1" -x "$2" -std="$3" $flags $(pkg-config --static --cflags greedystep) "$here/consumer.c" -x none \
        -o consumer $(pkg-config --static --libs greedystep | sed 's/-lgreedystep/-l:libgreedystep.a/')
    LD_LIBRARY_PATH='' run consumer "pkg-config, static, $1 -std=$3"
}

by_pkg_config "$cc" c c99
if command -v $cxx > /dev/null; then
    by_pkg_config $cxx c++ c++11
else
    echo "left out: no $cxx for the C++11 consumer"
fi

mkdir cmake_build
"$cmake" -S "$here/cmake_project" -B cmake_build -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$prefix" -DGREEDYSTEP_WANTED="${version%.*}" > configure.log 2>&1 ||
    { cat configure.log && exit 1; }
"$cmake" --build cmake_build > build.log 2>&1 || { cat build.log && exit 1; }
for kind in greedystep shared static; do
    run cmake_build/consumer_$kind "find_package, greedystep::$kind"
done
# Another minor version must not be found before 1.0.
if "$cmake" -S "$here/cmake_project" -B cmake_other -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
    -DGREEDYSTEP_WANTED=0.0 > other.log 2>&1; then
    echo "find_package accepted version 0.0 for $version"
    exit 1
fi

[ "$("$prefix/bin/greedystep" --version | grep -c "$version")" -ge 1 ] || {
    echo "the installed command does not tell its version"
    exit 1
}
echo "$n programs built against the installed tree"
