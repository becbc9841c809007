# `greedystep compare` is the program greedystep-compare: the one beside the command, else the first in PATH.
. "$PRELUDE"
folder=$(dirname "$(command -v greedystep)")
mkdir alone with 'with blanks'
cp "$folder/greedystep" alone/
cp "$folder/greedystep" with/
printf '#!/bin/sh\necho "beside: $*"\nexit 7\n' > with/greedystep-compare
printf '#!/bin/sh\necho "in PATH:"\nprintf "<%%s>\\n" "$@"\nexit 130\n' > 'with blanks/greedystep-compare'
chmod +x with/greedystep-compare 'with blanks/greedystep-compare'
PATH=/usr/bin:/bin
try alone/greedystep compare rows.svm
try alone/greedystep help compare
PATH="$PWD/with blanks:$PATH"
try alone/greedystep compare rows.svm '' 'a b' --methods gsa
try with/greedystep compare rows.svm -o results.csv
try with/greedystep help compare
PATH="$folder:$PATH"
greedystep compare --help > a
greedystep-compare --help > b
same a b
greedystep compare --version | head -n 1 | sed 's/ [0-9.]*$//'
