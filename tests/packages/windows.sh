#!/bin/sh
# The command for Windows, run by Wine: unit tests of formats and maths pass, the bytes it makes are those of the command of this machine, and it
# prints what is expected in scripts of tests/cli. Others send signals or make links, which Wine does not pass on; decision
# 0023 says what they are.
# usage: windows.sh COMMAND BUILD      COMMAND: that of this machine; GREEDYSTEP_CACHE: where libraries are kept (build/cache)
set -eu
[ $# -eq 2 ] || {
    sed -n '2,5s/^# //p' "$0"
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
        -DGREEDYSTEP_SYSROOT="$cache/$target" -DGREEDYSTEP_TESTS=ON -DGREEDYSTEP_MPI=OFF -DGREEDYSTEP_WERROR=ON >> "$build/log" 2>&1 &&
    cmake --build "$build" --target portable greedystep_shared >> "$build/log" 2>&1 || {
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
ctest --test-dir "$build" --timeout 600 --output-on-failure --label-regex portable \
    --exclude-regex '^unit\.test_(loss|kernel|text|significant|decimal|number|cache)$' # which only compute for long
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
    # Names that no code page has all of, names of 300 bytes, lines that end in two bytes, and a model that is open.
    name='città-город-都市 é'
    mkdir -p "$name"
    sed 's/$/\r/' "$source/examples/data/flights.csv" > "$name/données.csv"
    cp "$source/examples/data/flights.csv" unix.csv
    wine ../greedystep.exe train unix.csv --label late -o unix.model --quiet
    wine ../greedystep.exe train "$name/données.csv" --label late -o "$name/modèle" --quiet
    cmp unix.model "$name/modèle"
    echo "names in UTF-8, lines with CR: the same bytes"
    long=$(printf 'folder-of-sixty-characters-%033d/%.0s' 1 2 3 4 5 6 7 8 9 10)
    mkdir -p "$long"
    cp unix.csv "$long"
    wine ../greedystep.exe train "$long/unix.csv" --label late -o "$long/model" --quiet
    cmp unix.model "$long/model"
    echo "paths of ${#long} characters: the same bytes"
    wine ../greedystep.exe predict unix.model - --quiet < ../nothing > /dev/null &
    reader=$!
    sleep 3
    wine ../greedystep.exe train unix.csv --label late -o unix.model --quiet
    kill $reader
    cmp unix.model "$long/model"
    echo "a model that is open is replaced"
)
mkdir -p "$build/run"
printf '#!/bin/sh\nexec wine "%s/greedystep.exe" "$@"\n' "$build" > "$build/run/greedystep"
chmod +x "$build/run/greedystep"
# shellcheck disable=SC2046 # names
sh "$source/tests/cli/run.sh" "$build/run" $(cat "$source/tests/packages/windows_scripts.txt")
echo "$(wc -w < "$source/tests/packages/windows_scripts.txt") scripts print what is expected"
