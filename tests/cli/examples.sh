# The examples at the end of every help work, one verb after the other in a folder with the files that they name.
. "$PRELUDE"
export GREEDYSTEP_DUCKDB=./nowhere/libduckdb.so

# examples VERB: as the help shows them; without what a build lacks, and without mpirun, which tests/mpi has.
examples()
{
    greedystep help "$1" | sed -n '/^Examples:$/,$s/^  //p' |
        if greedystep --version | grep -q '^gzip *no$'; then grep -v '\.gz'; else cat; fi | grep -v '^mpirun '
}

work()
{
    examples "$1" >"$1.sh"
    [ -s "$1.sh" ] || fail "the help of $1 has no examples"
    if sh -eu "$1.sh" >"$1.out" 2>&1; then
        echo "$1: fine"
    else
        echo "$1: FAILED"
        cat "$1.out"
    fi
}

work generate
head -n 2000 all.svm >train.svm # fewer of the same, for the sake of time
head -n 1000 train.svm >monday.svm
tail -n 1000 train.svm >tuesday.svm
gzip -c monday.svm >rows.svm.gz
awk 'BEGIN { print "country,minutes,clicked"
    for (i = 0; i < 1000; i++) print (i % 3 ? "no" : "pe") "," i % 17 "," ((i % 3 && i % 17 > 5) ? "yes" : "no") }' >clicks.csv
cut -d , -f 1,2 clicks.csv | awk '{ print (NR > 1 ? NR : "id") "," $0 }' >new.csv
awk -F , 'NR == 1 { print "price,country,minutes"; next } { print 100 + 3 * $2 + NR * 7919 % 101 "," $1 "," $2 }' clicks.csv >prices.csv
greedystep train prices.csv --label price -o prices.model -q
for verb in $(greedystep help | sed -n '4,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    [ $verb = generate ] || work $verb
done
count_lines predictions.csv
