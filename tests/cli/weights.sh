# Row weights are proportions: the same through every format, a common factor changes nothing, and a weighted file has
# nearly the model of the file with its rows repeated.
. "$PRELUDE"
learn() # name, data and options
{
    name=$1
    shift
    greedystep train "$@" -o $name.model --quiet >log 2>&1 || { cat log; fail "$name"; }
    greedystep inspect $name.model --top 1000 --json >$name.json || fail "$name"
    # weights as they are printed, in their order, without the names that tables have
    tr -d ' \n' <$name.json | grep -oE '"(weight":[^,}]*|intercept":[^]]*)' >$name.weights
    [ -s $name.weights ] || fail "$name has no weights"
}

echo "every format: words with weights from 0 to 7/4"
rows() # factor, whether rows of weight 0 are there, whether it is Vowpal Wabbit text
{
    awk -v f=$1 -v zero=$2 -v vw=$3 'BEGIN {
        if (!vw)
            print "y,w,town,thing"
        for (i = 1; i <= 600; i++) {
            y = i % 7 + i % 5 > 5; w = i % 9 ? i % 4 / 2 + 0.25 : 0
            if (w == 0 && !zero)
                continue
            if (vw)
                print y " " w * f " |town t" i % 7 " |thing h" i % 5
            else
                print y "," w * f ",t" i % 7 ",h" i % 5
        }
    }'
}
for factor in 1 2; do
    rows $factor 1 0 >csv-$factor.csv
    rows $factor 1 1 >vw-$factor.vw
    tr , '\t' <csv-$factor.csv >tsv-$factor.tsv
    greedystep convert vw-$factor.vw --bits 12 -o cache-$factor.gsac --quiet >log || fail convert
    greedystep convert csv-$factor.csv --weight w --bits 12 -o table-$factor.gsac --quiet >log || fail convert
    learn csv-$factor csv-$factor.csv --weight w --bits 12
    learn tsv-$factor tsv-$factor.tsv --weight w --bits 12
    learn vw-$factor vw-$factor.vw --bits 12
    learn cache-$factor cache-$factor.gsac
    learn table-$factor table-$factor.gsac
    learn pipe-$factor - --weight w --bits 12 <csv-$factor.csv
done
for kind in tsv vw cache table; do same csv-1.weights $kind-1.weights; done
for kind in csv tsv vw cache table pipe; do same $kind-1.model $kind-2.model; done
rows 0.125 1 0 >eighth.csv
learn eighth eighth.csv --weight w --bits 12
same csv-1.model eighth.model
echo "a row of weight 0 is none; what is shuffled or held out by its number may be another row"
rows 1 0 0 >present.csv
for data in csv-1 present; do learn in-order-$data $data.csv --weight w --bits 12 --method paper --order file --passes 2; done
same in-order-csv-1.weights in-order-present.weights
echo "evaluate and predict take rows without the weights that training had; a second file to train on needs them"
cut -d, -f1,3- csv-1.csv >bare.csv
cut -d, -f1,3- csv-1.csv | awk -F, -v OFS=, 'NR == 1 {print "w", $0; next} {print 1, $0}' >ones.csv
for data in bare ones; do greedystep evaluate csv-1.model $data.csv >$data.metrics 2>$data.log || fail $data; cat $data.log; done
same bare.metrics ones.metrics
greedystep predict csv-1.model bare.csv >bare.out || fail predict
greedystep predict csv-1.model ones.csv >ones.out || fail predict
same bare.out ones.out
try greedystep train csv-1.csv bare.csv --weight w --bits 12 -o never --quiet
echo "libsvm text has no weights, and a negative one is refused"
try greedystep convert csv-1.csv --weight w -o never.svm --quiet
sed '3s/,[^,]*/,-1/' csv-1.csv >negative.csv
try greedystep train negative.csv --weight w -o never --quiet

# measured NAME DATA [OPTIONS]: a measure of a model on the rows that it learned, by their weights.
measured()
{
    name=$1
    shift
    learn $name "$@"
    greedystep evaluate $name.model $1 --json >$name.json || fail "$name"
    tr -d ' \n' <$name.json | grep -oE "\"$measure\":[^,}]*" | head -n 1 | cut -d : -f 2
}
# near A B MOST: whether two numbers are within MOST of each other
near()
{
    [ -n "$1" ] && [ -n "$2" ] || fail "no measure"
    awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { exit !(a - b <= most && b - a <= most) }' && return 0
    echo "FAR: $1 and $2, expected within $3"
}
echo "a weight of 50 is 50 rows, whatever the loss"
for loss in squared logistic hinge squared_hinge softmax poisson; do
    # Every fifth row says the opposite of the others, and counts 50 times.
    awk -v loss=$loss 'BEGIN {
        print "label,w,a" >"weighted.csv"; print "label,a" >"repeated.csv"
        for (i = 0; i < 100; i++) {
            a = (i * 37 % 101 - 50) / 25; w = i % 5 ? 1 : 50; y = i % 5 ? -a : 2 * a
            if (loss == "softmax")
                y = y > 0.7 ? "up" : y < -0.7 ? "down" : "flat"
            else if (loss == "poisson")
                y = int(exp(y) + 0.5)
            else if (loss != "squared")
                y = y > 0 ? 1 : 0
            print y "," w "," a >"weighted.csv"
            for (k = 0; k < w; k++)
                print y "," a >"repeated.csv"
        }
    }'
    awk -F , -v OFS=, 'NR > 1 { $2 *= 2 } { print }' weighted.csv >doubled.csv
    awk -F , -v OFS=, 'NR > 1 { $2 /= 64 } { print }' weighted.csv >small.csv
    case $loss in squared) measure=r2 ;; poisson) measure=d2 ;; logistic | softmax) measure=log_loss ;; *) measure=accuracy ;; esac
    once=$(measured repeated repeated.csv --label label --loss $loss)
    near "$(measured weighted weighted.csv --label label --weight w --loss $loss)" "$once" 0.03
    learn doubled doubled.csv --label label --weight w --loss $loss
    learn small small.csv --label label --weight w --loss $loss
    echo "$loss"
    same weighted.model doubled.model
    same weighted.model small.model
done
echo "equal weights are none"
awk 'BEGIN {
    print "y,w,a,b"
    for (i = 1; i <= 3000; i++) {
        a = i * 37 % 101 / 50 - 1; b = i * 53 % 97 / 48 - 1
        print (a + b / 2 + i * 29 % 83 / 83 > 0.5) ",0.01," a "," b
    }
}' >hundredth.csv
cut -d , -f 1,3,4 hundredth.csv >repeated.csv
measure=log_loss
near "$(measured hundredth hundredth.csv --weight w)" "$(measured plain repeated.csv)" 0.001
echo "0.01 is near 1"
