# The same rows as libsvm text, as tables, as Vowpal Wabbit text, as caches, packed or through a pipe, train to the same
# weights where the features have the same numbers.
. "$PRELUDE"
# a build without gzip reads it plain
if greedystep --version | grep '^gzip ' | grep -q ' no$'; then pack=cat; else pack='gzip -c'; fi
learn() # name, data and options
{
    name=$1
    shift
    greedystep train "$@" -o $name.model --quiet >log || fail "$name"
    greedystep inspect $name.model --top 1000 --json >$name.json || fail "$name"
    # weights as they are printed, in their order, without the names that tables have
    tr -d ' \n' <$name.json | grep -oE '"(weight":[^,}]*|intercept":[^]]*)' >$name.weights
    [ -s $name.weights ] || fail "$name has no weights"
}

echo "numbers, some of them zero"
awk 'BEGIN {
    for (i = 1; i <= 3000; i++) {
        a = i * 37 % 101 / 8; b = i * 53 % 97 - 48; c = i * 11 % 7
        y = a * 4 + b + i * 29 % 83 / 4 > 30
        print y "," a "," (i % 5 ? b : 0) "," c >"body.csv"
        print y " 1:" a (i % 5 ? " 2:" b : "") " 3:" c >"numbers.svm"
    }
}'
{ echo y,a,b,c; cat body.csv; } >numbers.csv
tr , '\t' <numbers.csv >numbers.tsv
awk -F , '{ print $3 "," $4 "," $1 "," $2 }' numbers.csv >moved.csv
$pack numbers.csv >packed.csv.gz
$pack numbers.svm >packed.svm.gz
for each in svm csv; do greedystep convert numbers.$each -o $each.gsac --quiet >log || fail $each; done
greedystep convert numbers.csv -o back.svm --quiet >log || fail back
learn svm numbers.svm
echo "weights: $(count_lines svm.weights)"
for data in numbers.csv numbers.tsv packed.csv.gz packed.svm.gz svm.gsac csv.gsac back.svm; do
    learn $data $data
    same svm.weights $data.weights
done
for data in numbers.tsv packed.csv.gz csv.gsac; do same numbers.csv.model $data.model; done
for data in packed.svm.gz svm.gsac back.svm; do same svm.model $data.model; done
echo "and predict alike"
greedystep predict svm.model numbers.svm --format csv >svm.out
for data in numbers.csv numbers.tsv moved.csv packed.csv.gz csv.gsac; do
    greedystep predict numbers.csv.model $data --format csv >out || fail predict
    same svm.out out
done
echo "as streams"
learn pipe.svm - <numbers.svm
for data in numbers.csv numbers.tsv packed.csv.gz packed.svm.gz svm.gsac csv.gsac; do
    learn pipe - <$data
    same pipe.svm.weights pipe.weights
done
echo "in the order of the file, once"
learn once.svm numbers.svm --order file --passes 1
for data in numbers.csv packed.csv.gz svm.gsac csv.gsac; do
    learn once $data --order file --passes 1
    same once.svm.weights once.weights
done

echo "words with weights"
awk 'BEGIN {
    print "y,w,town,thing"
    for (i = 1; i <= 3000; i++) {
        y = i % 7 + i % 5 > 5; w = i % 4 / 2 + 0.25
        print y "," w ",t" i % 7 ",h" i % 5
        print y " " w " |town t" i % 7 " |thing h" i % 5 >"words.vw"
    }
}' >words.csv
greedystep convert words.vw --bits 12 -o words.gsac --quiet >log || fail words
learn csv words.csv --weight w --bits 12
echo "weights: $(count_lines csv.weights)"
learn vw words.vw --bits 12
learn gsac words.gsac
same csv.weights vw.weights
same csv.weights gsac.weights
