#!/bin/sh
# Unit tests of formats and maths with musl in place of glibc, by the compiler and the libraries that static commands are made
# with; those for another machine under qemu-user. Tests that only compute for long are left out.
# usage: musl.sh MACHINE BUILD      MACHINE: x86_64 or aarch64; GREEDYSTEP_CACHE: where libraries are kept (build/cache)
set -eu
machine=$1 build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${GREEDYSTEP_CACHE:-$source/build/cache}
"$source/scripts/dependencies" "$machine-linux-musl" "$cache/$machine-linux-musl"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG" \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/foreign.cmake" -DGREEDYSTEP_SYSROOT="$cache/$machine-linux-musl" \
    -DGREEDYSTEP_STATIC=ON -DGREEDYSTEP_TESTS=ON -DGREEDYSTEP_MPI=OFF > "$build.log" && cmake --build "$build" --target portable >> "$build.log" || {
    cat "$build.log" >&2
    exit 1
}
ctest --test-dir "$build" --parallel "$(nproc)" --timeout 600 --output-on-failure --label-regex portable \
    --exclude-regex '^unit\.test_(loss|kernel|text|significant|slices|decimal|number|cache)$'
