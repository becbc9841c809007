#!/bin/sh
# Static analysis of src/ and cli/; any finding fails.
#
#   analyse.sh [SOURCE_DIR [BUILD_DIR [PART...]]]     parts: tidy cppcheck gcc; without: all of them
#
# tidy      clang-tidy, with the checks of .clang-tidy, one process a file
# cppcheck  warnings, performance, portability; what it is mistaken about is in cppcheck.txt beside this script
# gcc       gcc -fanalyzer, as a build
#
# Answered findings carry their reason where they are. A tool that is not there is skipped, loudly. Seconds on two cores,
# with nothing else running: see docs/coverage.md.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 2
source=$(cd "${1:-$here/../..}" && pwd) || exit 2
build=${2:-$source/build/analyse}
[ $# -ge 2 ] && shift 2 || shift $#
[ $# -gt 0 ] || set -- tidy cppcheck gcc
jobs=$(nproc 2>/dev/null || echo 2)
mkdir -p "$build"

sources()
{
    (cd "$source" && find src cli -name '*.c' | LC_ALL=C sort)
}

# configure NAME COMPILER [CMAKE ARGUMENTS]
configure()
{
    name=$1 compiler=$2
    shift 2
    CC=$compiler cmake -S "$source" -B "$build/$name" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DGREEDYSTEP_TESTS=OFF "$@" \
        >"$build/$name.log" 2>&1 || { cat "$build/$name.log"; exit 2; }
}

run_tidy()
{
    configure tidy clang
    sources | (cd "$source" && xargs -P "$jobs" -n 1 clang-tidy -p "$build/tidy" --quiet) \
        >"$build/tidy.found" 2>"$build/tidy.said"
    code=$?
    grep -E 'warning:|error:' "$build/tidy.found" | LC_ALL=C sort -u
    return $code
}

run_cppcheck()
{
    (cd "$source" && cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppressions-list="$here/cppcheck.txt" --error-exitcode=1 -I include -I src -D_POSIX_C_SOURCE=200809L \
        -DGSA_HAVE_ZLIB=1 -DGSA_HAVE_ZSTD=1 -DGSA_HAVE_LZMA=1 -DGSA_HAVE_BZIP2=1 -DGSA__HAVE_AVX src cli)
}

run_gcc()
{
    configure gcc gcc -DCMAKE_C_FLAGS=-fanalyzer
    cmake --build "$build/gcc" --clean-first --parallel "$jobs" -- -k 0 >"$build/gcc.said" 2>&1 ||
        { cat "$build/gcc.said"; return 1; }
    ! grep 'warning:' "$build/gcc.said"
}

worst=0
for part in "$@"; do
    case $part in
        tidy) tool=clang-tidy ;;
        cppcheck) tool=cppcheck ;;
        gcc) tool=gcc ;;
        *) echo "analyse.sh: no part is called $part" >&2; exit 2 ;;
    esac
    if ! command -v $tool >/dev/null; then
        echo "SKIPPED: $tool is not there, so what it would find is unknown"
        [ $worst -ne 0 ] || worst=77
        continue
    fi
    began=$(date +%s)
    if run_$part; then said=clean; else said=FOUND worst=1; fi
    echo "$part: $said, $(($(date +%s) - began)) s"
done
exit $worst
