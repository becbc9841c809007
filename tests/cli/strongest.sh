# The strongest features are ranked by weight x deviation, so that their units do not matter, and a loaded model has the
# ranking of the one that was learned.
. "$PRELUDE"
awk 'BEGIN {
    print "grams,metres,city,sold"
    for (i = 0; i < 3000; i++) {
        grams = 50000 + (i * 7919) % 20011
        metres = ((i * 104729) % 1009) / 1009
        city = i % 3 == 0 ? "Oslo" : i % 3 == 1 ? "Rome" : "Lima"
        print grams "," metres "," city "," ((grams - 60000) / 6000 + metres + ((i * 31) % 17) / 8 > 1 ? "yes" : "no")
    }
}' >sales.csv
greedystep train sales.csv --label sold --curves off -o m -q
greedystep inspect m --top 3 | sed -n '/strongest/,$p'
greedystep inspect m --top 1 --json | sed -n '/"top"/,/\]/p'
greedystep train sales.csv --label sold -o g -q --method gsa --curves off
greedystep inspect g --top 1 | tail -n 1
