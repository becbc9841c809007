# The margin of another model as an offset: --offset, of every loss and both methods.
. "$PRELUDE"
# 2000 rows of four numbers, classes by both; `first` has two columns, and the others are to correct it.
awk 'BEGIN {
    print "label,a,b,c,d"
    for (i = 1; i <= 2000; i++) {
        a = i * 37 % 101 / 50 - 1; b = i * 53 % 97 / 48 - 1; c = i * 71 % 89 / 44 - 1; d = i * 29 % 83 / 41 - 1
        p = 1 / (1 + exp(-(2 * a - b + 1.5 * c - d))); print (i * 61 % 127 / 127 < p ? "yes" : "no") "," a "," b "," c "," d
    }
}' >all.csv
loss() { greedystep evaluate "$1" "$2" | awk '/^log_loss/ { print substr($2, 1, 5) }'; }
cut -d , -f 1-3 all.csv >half.csv
greedystep train half.csv -o first.model --quiet || fail first
greedystep predict first.model half.csv --explain | awk -F , 'NR == 1 { print "score"; next }
    { m = 0; for (i = 6; i <= NF; i++) m += $i; print m }' >scores.txt
paste -d , all.csv scores.txt | cut -d , -f 1,4- >rest.csv
head -n 1 rest.csv
echo "the rest of the columns corrects the first model; alone it does not reach as far, and both reach the model of all"
greedystep train all.csv -o all.model --quiet || fail all
cut -d , -f 1-3 rest.csv >alone.csv
greedystep train alone.csv -o alone.model --quiet || fail alone
for method in optimum gsa paper; do
    greedystep train rest.csv --offset score --method $method -o $method.model --quiet || fail $method
    loss $method.model rest.csv
done
loss first.model half.csv
loss alone.model alone.csv
loss all.model all.csv
echo "contributions add up to the margin, and the offset is one of them"
greedystep predict optimum.model rest.csv --explain | awk -F , 'NR == 1 { print; next }
    { m = 0; for (i = 6; i <= NF; i++) m += $i; d = log($5 / $4) - m; if (d * d > 1e-8) print "WRONG" }'
awk -F , 'NR > 1 { print $4 }' rest.csv | head -n 3
greedystep predict optimum.model rest.csv --explain | cut -d , -f 9 | sed -n 2,4p
echo "hinge losses"
for loss in hinge squared_hinge; do
    for method in optimum gsa; do
        greedystep train rest.csv --offset score --loss $loss --method $method -o other.model --quiet || fail $loss
        greedystep evaluate other.model rest.csv | awk '/^accuracy/ { print substr($2, 1, 4) }'
    done
done
echo "labels that come in another order are the same classes"
{ head -n 1 rest.csv; sed 1d rest.csv | sort; } >no-first.csv
{ head -n 1 rest.csv; sed 1d rest.csv | sort -r; } >yes-first.csv
for order in no yes; do
    greedystep train $order-first.csv --offset score --order file --method gsa -o $order.model --quiet || fail $order
    loss $order.model rest.csv
done
echo "any number of threads, a cache and shuffled formats: the same model"
for threads in 1 4; do
    greedystep train rest.csv --offset score --method gsa --passes 2 --threads $threads -o $threads.model --quiet ||
        fail threads
done
same 1.model 4.model
greedystep convert rest.csv --offset score -o rest.gsac --quiet || fail convert
awk -F , 'NR > 1 { print "{\"label\":\"" $1 "\",\"c\":" $2 ",\"d\":" $3 ",\"score\":" $4 "}" }' rest.csv >rest.jsonl
greedystep train rest.gsac -o cache.model --quiet || fail cache
greedystep train rest.jsonl --label label --offset score -o json.model --quiet || fail json
same optimum.model cache.model
same optimum.model json.model
echo "states are merged, and later runs start from them"
{ head -n 1 rest.csv; sed -n '2~2p' rest.csv; } >even.csv
{ head -n 1 rest.csv; sed -n '3~2p' rest.csv; } >odd.csv
for part in even odd; do
    greedystep train $part.csv --offset score --method gsa -o $part.model --quiet || fail $part
done
greedystep merge even.model.state odd.model.state -o merged.model --quiet || fail merge
greedystep train odd.csv --start-from even.model -o later.model --quiet || fail later
loss merged.model rest.csv
loss later.model rest.csv
echo "numbers: equal weights to a fit of the label less the offset"
awk -F , -v OFS=, -v CONVFMT=%.17g 'NR == 1 { print "y,c,d,o"; next }
    { y = int(64 * (3 * $2 - $3)) / 64 + NR % 8 / 8; print y + NR % 5 / 4 "", $2, $3, NR % 5 / 4 }' rest.csv >y.csv
awk -F , -v OFS=, -v CONVFMT=%.17g 'NR == 1 { print "y,c,d"; next } { print $1 - $4 "", $2, $3 }' y.csv >less.csv
for loss in squared huber; do
    for method in optimum gsa paper; do
        greedystep train y.csv --label y --offset o --loss $loss --method $method -o with.model --quiet || fail with
        greedystep train less.csv --label y --loss $loss --method $method -o less.model --quiet || fail less
        greedystep predict with.model y.csv >with.txt
        greedystep predict less.model less.csv >less.txt
        awk -F , 'NR > 1 { print $4 }' y.csv | paste with.txt less.txt - |
            awk '{ d = $1 - $2 - $3; if (d * d > 1e-14) n++ } END { print n + 0 " of " NR " apart" }'
    done
done
echo "counts: an exposure of e is an offset of log e"
awk -F , -v OFS=, -v CONVFMT=%.17g 'NR == 1 { print "n,c,d,years,log"; next }
    { years = (1 + NR % 8) / 4; print int(years * exp($2 - $3) + NR * 29 % 83 / 83), $2, $3, years, log(years) "" }' rest.csv >n.csv
for method in optimum gsa; do
    greedystep train n.csv --label n --exposure years --ignore log --pairs off --loss poisson --method $method -o years.model --quiet || fail years
    greedystep train n.csv --label n --offset log --ignore years --pairs off --loss poisson --method $method -o log.model --quiet || fail log
    greedystep predict years.model n.csv --ignore log >years.txt
    greedystep predict log.model n.csv --ignore years >log.txt
    paste years.txt log.txt | awk '{ d = $1 / $2 - 1; if (d * d > 1e-11) n++ } END { print n + 0 " of " NR " apart" }'
done
echo "what cannot be is refused"
try greedystep compare rest.csv --offset score --methods gsa -o never
sed '2,9s/^[a-z]*/maybe/' rest.csv >three.csv
try greedystep train three.csv --offset score -o never --quiet
try greedystep train rest.csv --offset score --loss softmax -o never --quiet
try greedystep train rest.csv --offset scores -o never --quiet
try greedystep train rest.csv --offset score,c -o never --quiet
try greedystep train rest.csv --offset label --label label -o never --quiet
try greedystep train rest.csv --offset score --cross c:score -o never --quiet
try greedystep train rest.csv --start-from alone.model -o never --quiet
try greedystep predict optimum.model alone.csv
try greedystep predict optimum.model rest.csv --ignore score
sed '3s/[^,]*$//' rest.csv >gap.csv
try greedystep train gap.csv --offset score -o never --quiet
sed '3s/[^,]*$/high/' rest.csv >word.csv
try greedystep evaluate optimum.model word.csv
sed '3s/[^,]*$/1e3/' n.csv >large.csv
try greedystep train large.csv --label n --offset log --loss poisson -o never --quiet
