# Columns of texts: words and pairs of words are features.
. "$PRELUDE"
# Rows of a text, a number and a category; a word and a pair of words tell the class, mostly.
make()
{
    awk -v n="$1" -v seed="$2" 'BEGIN {
        split("the a we they it is was room staff food view price near very rather quite and but with for", word, " ")
        state = seed
        print "id,review,nights,town,stays"
        for (row = 1; row <= n; row++) {
            good = draw(2)
            text = ""
            for (i = 0; i < 8 + draw(8); i++) text = text word[1 + draw(20)] " "
            tells = draw(10) < 8 ? good : !good
            text = text (draw(2) ? (tells ? "Lovely" : "DIRTY") : (tells ? "not bad" : "bad not")) " " word[1 + draw(20)]
            printf "%d,\"%s, %s.\",%d,%s,%s\n", row, text, word[1 + draw(20)], 1 + draw(9), draw(2) ? "Rome" : "New York",
                good ? "yes" : "no"
        }
    }
    function draw(k) { state = state * 16807 % 2147483647; return int(state / 1024) % k }'
}
make 600 7 >reviews.csv
make 300 8 >later.csv
head -3 reviews.csv
try greedystep train reviews.csv --label stays --ignore id -o m | grep -v '^time'
try greedystep inspect m --top 6
greedystep evaluate m later.csv --ignore id | head -3
echo "as a category the text says nothing"
greedystep train reviews.csv --label stays --ignore id --categorical review -o words --quiet || fail train
greedystep evaluate words later.csv --ignore id | head -3
try greedystep evaluate m later.csv --ignore id --categorical review
echo "any column may be read as texts"
greedystep train reviews.csv --label stays --ignore id,review --text town -o town --quiet || fail train
greedystep inspect town --top 9 | grep town=
try greedystep train reviews.csv --label stays --text twon -o town
echo "the same model from JSON lines, from a pipe and in threads"
awk -F '"' 'NR > 1 {
    split($1, a, ","); split($3, b, ",")
    printf "{\"review\": \"%s\", \"nights\": %s, \"town\": \"%s\", \"stays\": \"%s\"}\n", $2, b[2], b[3], b[4]
}' reviews.csv >reviews.jsonl
greedystep train reviews.jsonl --label stays -o lines --quiet || fail train
greedystep train reviews.csv --label stays --ignore id -o csv -j 3 --quiet || fail train
same m csv
greedystep train - --label stays --ignore id -o pipe --quiet <reviews.csv || fail train
same m pipe
greedystep predict m later.csv --ignore id -o a --quiet || fail predict
greedystep predict lines later.csv --ignore id -o b --quiet || fail predict
same a b
greedystep convert reviews.csv --label stays --ignore id -o rows.gsac --quiet || fail convert
greedystep train rows.gsac -o cached --quiet || fail train
greedystep predict cached later.csv --ignore id -o b --quiet || fail predict
same a b
echo "greedy step averaging; then a run that starts from the solved model"
greedystep train reviews.csv --label stays --ignore id --method gsa --passes 3 -o gsa --quiet || fail train
greedystep evaluate gsa later.csv --ignore id | sed -n 3p
greedystep train later.csv --label stays --ignore id --start-from m -o later --quiet || fail start-from
greedystep inspect later --top 1 | tail -1
echo "few rows without labels, with cells of other kinds"
printf 'review,nights,town\nlovely,1,Rome\n,2,Rome\n12,3,\n' | greedystep predict m - --quiet || fail predict
echo "what each column adds is the margin"
printf 'review,nights,town\n"lovely view, not bad",1,Rome\nbad not,2,\n' >few.csv
greedystep predict m few.csv --explain --quiet >explained || fail explain
head -1 explained
tail -n +2 explained | awk -F , '{
    d = $6 + $7 + $8 + $9 - log($5 / (1 - $5))
    print (d < 1e-5 && d > -1e-5) ? "adds up" : "DIFFERENT: " $0
}'
echo "profile of the data"
greedystep inspect reviews.csv --label stays | grep -E '^(column|review|town|warning)'
echo "what is refused"
try greedystep export m -o m.c
try greedystep train reviews.csv --label stays --ignore id --cross review:town -o crossed
absent m.c crossed
