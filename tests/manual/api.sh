#!/bin/sh
# api.sh DOXYGEN DOXYFILE SOURCE: the reference of the C library has a text for every symbol that is exported, and whoever
# forgets one hears of it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# reference OUTPUT INPUT
reference() {
    mkdir -p "$1"
    { cat "$doxyfile"; echo "OUTPUT_DIRECTORY = \"$1\""; echo "INPUT = $2"; } | "$doxygen" - > "$1/said" 2>&1
}
doxygen=$1 doxyfile=$2 source=$3

reference "$folder/all" "\"$source/docs/api/main.md\" \"$source/include/greedystep\"" || {
    cat "$folder/all/said"
    exit 1
}
failed=0
for symbol in $(awk '$1 == "function" && $2 != "mpi" { print $3 }' "$source/tests/policy/abi.txt"); do
    grep -q "<span class=\"permalink\">.*</span>$symbol()" "$folder/all/api"/*_8h.html || {
        echo "the reference lacks $symbol"
        failed=1
    }
done
if grep -r -l -E '(src|href)="(https?:)?//[^"]*\.(js|css|png|svg|woff2?)"' "$folder/all/api" --include='*.html'; then
    echo "these load something from the network"
    failed=1
fi

mkdir "$folder/planted"
sed 's|^#ifdef __cplusplus|GSA_API int gsa_forgotten(void);\n&|' "$source/include/greedystep/train.h" > "$folder/planted/train.h"
if reference "$folder/less" "\"$folder/planted\"" || ! grep -q 'gsa_forgotten.*not documented' "$folder/less/said"; then
    echo "a function without a comment is not noticed:"
    cat "$folder/less/said"
    failed=1
fi
[ $failed -eq 0 ] && echo "every exported symbol has its text"
exit $failed
