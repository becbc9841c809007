# Help comes from the tables, on stdout, with exit code 0; without a verb it is wrong usage and goes to stderr.
. "$PRELUDE"
export GREEDYSTEP_DUCKDB=./nowhere/libduckdb.so # whatever this machine has
try greedystep --help
for verb in data train predict evaluate inspect merge convert export generate; do
    try greedystep help $verb
    [ $verb != data ] || continue
    greedystep help $verb >by_help
    greedystep $verb --help >by_option
    same by_help by_option
done
for verb in '' train predict evaluate inspect merge convert export generate compare; do
    greedystep help $verb | awk -v verb="$verb" 'length > 80 { print "wider than a terminal: " verb ": " $0 }'
done
try greedystep -h
for verb in train predict evaluate inspect merge convert export generate compare; do
    try greedystep $verb -h
    greedystep $verb -h | awk -v verb="$verb" 'length > 80 { print "wider than a terminal: " verb ": " $0 }
        END { if (NR > 25) print "longer than 25 lines: " verb }'
done
try greedystep --version
try_line "greedystep -V | head -n 1"
greedystep >nothing 2>overview
echo "[exit $?]"
wc -c <nothing | tr -d ' '
head -n 1 overview
