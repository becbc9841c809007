#!/bin/sh
# The command for Windows, by Zig's compiler, run by Wine: the bytes it makes are those of the command of this machine, and it
# prints what is expected in scripts of tests/cli. Others send signals or make links, which Wine does not pass on; decision
# 0023 says what they are.
# usage: windows.sh COMMAND BUILD      COMMAND: that of this machine; ZIG: "zig" by default (pip install ziglang);
#                                      GREEDYSTEP_CACHE: where libraries are kept (build/cache)
set -eu
[ $# -eq 2 ] || {
    sed -n '2,6s/^# //p' "$0"
    exit 2
}
command=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${GREEDYSTEP_CACHE:-$source/build/cache}
target=x86_64-windows-gnu
mkdir -p "$build" "$cache"
build=$(cd "$build" && pwd)
cache=$(cd "$cache" && pwd)
"$source/scripts/dependencies" "$target" "$cache/$target" > "$build/log" 2>&1 &&
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$source/cmake/foreign.cmake" \
        -DGREEDYSTEP_SYSROOT="$cache/$target" -DGREEDYSTEP_TESTS=OFF -DGREEDYSTEP_MPI=OFF -DGREEDYSTEP_WERROR=ON >> "$build/log" 2>&1 &&
    cmake --build "$build" >> "$build/log" 2>&1 || {
    cat "$build/log" >&2
    exit 1
}
export WINEDEBUG=-all WINEPREFIX="$build/wine"
# Wine's services say what they have to say where the first program's errors go, and end with the last program: one that waits
# for rows keeps them.
mkfifo "$build/nothing" 2> /dev/null || true
wine "$build/greedystep.exe" convert - -o - < "$build/nothing" > /dev/null 2>&1 &
exec 3> "$build/nothing"
sleep 5
wine "$build/greedystep.exe" --version
sh "$source/tests/real/same_bytes.sh" --rows 4000 "$command" "wine $build/greedystep.exe"
# Files that are there are replaced, and a run goes on from its state.
(
    mkdir -p "$build/resumed" && cd "$build/resumed"
    wine ../greedystep.exe generate --rows 3000 --features 50 -o data.svm
    for options in '-o whole --passes 4' '-o m --passes 2' '-o m --passes 4 --resume'; do
        # shellcheck disable=SC2086
        wine ../greedystep.exe train data.svm --method paper --quiet $options > log
    done
    cmp m whole
    cmp m.state whole.state
    echo "resumed: the same bytes"
    mkdir -p folder
    wine ../greedystep.exe train 'folder\..\data.svm' --method paper --quiet --passes 4 -o 'folder\m' > log
    wine ../greedystep.exe predict 'folder\m' data.svm -o "$(winepath -w "$PWD")\\folder\\predictions"
    cmp folder/m whole
    test -s folder/predictions
    echo "paths of Windows"
)
mkdir -p "$build/run"
printf '#!/bin/sh\nexec wine "%s/greedystep.exe" "$@"\n' "$build" > "$build/run/greedystep"
chmod +x "$build/run/greedystep"
# shellcheck disable=SC2046 # names
sh "$source/tests/cli/run.sh" "$build/run" $(cat "$source/tests/packages/windows_scripts.txt")
echo "$(wc -w < "$source/tests/packages/windows_scripts.txt") scripts print what is expected"
