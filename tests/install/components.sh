#!/bin/sh
# components.sh BUILD_DIR: each component of the installation brings the files that components.txt lists, and all of them
# together what an installation without a name brings. Libraries of MPI, manual pages and completions are not everywhere.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
cmake=${CMAKE_COMMAND:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL

# installed PREFIX [ARGUMENTS]: the files that come, without versions and the folder of the architecture
installed() {
    prefix=$work/$1
    shift
    "$cmake" --install "$build" --prefix "$prefix" "$@" > "$work/install.log" || {
        cat "$work/install.log" >&2
        exit 1
    }
    [ ! -d "$prefix" ] || (cd "$prefix" && find . ! -type d) |
        sed -E 's|^\./||; s|^lib[^/]*/([^/]*-linux-[^/]*/)?|lib/|; s|\.so\.[0-9]+\.[0-9]+\.[0-9]+$|.so.VERSION|
            s|-release\.cmake$|-BUILD.cmake|; s|-noconfig\.cmake$|-BUILD.cmake|; s|-debug\.cmake$|-BUILD.cmake|' | sort -u
}

failed=0
for component in library development command mpi; do
    installed $component --component $component > "$work/found"
    cat "$work/found" >> "$work/together"
    sed -n "s/^$component //p" "$here/components.txt" > "$work/expected"
    # what a build may lack
    grep -E '_mpi_|/mpi\.h$|^share/(man|bash-completion|zsh|fish)/' "$work/expected" > "$work/optional" || true
    missing=$(comm -23 "$work/expected" "$work/found" | grep -vxF -f "$work/optional" || true)
    unexpected=$(comm -13 "$work/expected" "$work/found")
    for file in $missing; do
        echo "$component lacks $file" && failed=1
    done
    for file in $unexpected; do
        echo "$component brings $file, of which components.txt does not know" && failed=1
    done
done
installed everything > "$work/all"
sort -u "$work/together" | diff - "$work/all" || {
    echo "components (<) and the whole installation (>) differ"
    failed=1
}
[ $failed = 0 ]
echo "$(wc -l < "$work/all") files in their components"
