# Tables that are not UTF-8 are read as Windows-1252: the model and predictions of the same rows as UTF-8.
. "$PRELUDE"
awk 'BEGIN {
    split("Zürich Genève Bern Köln 5€", city, " ")
    print "Größe,Stadt,gekauft"
    for (i = 1; i <= 3000; i++) {
        label = i * 7 % 50 + 5 * (i * 11 % 5) + i * 13 % 17 > 40 ? "ja" : "möglich"
        printf "%d,%s,%s\n", i * 7 % 50, city[i * 11 % 5 + 1], label
    }
}' >utf8.csv
iconv -f UTF-8 -t CP1252 utf8.csv >latin.csv || { echo "SKIPPED: no iconv"; exit 77; }
different utf8.csv latin.csv
greedystep train utf8.csv --label gekauft -o utf8 --quiet >log || fail train
try_line "greedystep train latin.csv --label gekauft -o latin >log"
same utf8 latin
same utf8.state latin.state
greedystep predict utf8 utf8.csv --keep Stadt -o utf8.out
try greedystep predict latin latin.csv --keep Stadt -o latin.out
same utf8.out latin.out
for threads in 1 2 7; do
    for method in gsa paper; do
        cat latin.csv | greedystep train - --label gekauft --method $method --threads $threads -o m$threads --quiet >log || fail train
        cat utf8.csv | greedystep train - --label gekauft --method $method --threads 1 -o m --quiet >log || fail train
        same m m$threads
    done
done

echo "far into the file, in a file of mixed encodings"
{ head -n 2000 utf8.csv; tail -n 1001 latin.csv; } >mixed.csv
try_line "greedystep train mixed.csv --label gekauft -o mixed >log"
same utf8 mixed
try_line "greedystep evaluate utf8 latin.csv >log"
try_line "greedystep convert latin.csv --label gekauft -o latin.gsac >log"
try_line "greedystep inspect latin.csv --label gekauft >log"

echo "UTF-16 is refused"
iconv -f UTF-8 -t UTF-16 utf8.csv >wide.csv
try greedystep train wide.csv --label gekauft -o e
