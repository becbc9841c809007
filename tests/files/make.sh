#!/bin/sh
# make.sh BUILD: makes the files of this version anew, in v3/ (README.md). Only before the version is released.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$1/greedystep
"$command" train "$here/table.csv" --label bought --bits 8 -o "$here/v3/table.model" --quiet
"$command" predict "$here/v3/table.model" "$here/table.csv" > "$here/v3/table.predictions"
"$command" convert "$here/table.csv" --label bought --bits 8 -o "$here/v3/table.gsac" --quiet
"$command" convert "$here/rows.svm" -o "$here/v3/rows.gsac" --quiet
"$1/tests/files/test_kept_files" "$here" --make
