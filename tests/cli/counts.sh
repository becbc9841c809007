# Counts and rates: --loss poisson, and --exposure, through every format.
. "$PRELUDE"
# Claims per policy: 600 rows of two numbers and a word, years of exposure, and a count around e^(0.3 a - 0.5 b) years.
awk 'BEGIN {
    print "claims,years,a,b,town"
    for (i = 1; i <= 600; i++) {
        a = i * 37 % 101 / 50 - 1; b = i * 53 % 97 / 48 - 1; years = (1 + i % 8) / 4
        mean = exp(0.3 * a - 0.5 * b) * years; u = i * 29 % 83 / 83
        print int(mean + 2 * u * u + 0.2) "," years "," a "," b ",t" i % 3
    }
}' >claims.csv
echo "the summary has the deviance, and so has evaluate"
greedystep train claims.csv --label claims --exposure years --loss poisson -o csv.model >log || fail train
grep -oE 'cross-validated poisson deviance|baseline' log
greedystep evaluate csv.model claims.csv | cut -c 1-19
echo "every format, any number of threads: the same model"
tr , '\t' <claims.csv >claims.tsv
awk -F , 'NR > 1 { print "{\"claims\":" $1 ",\"years\":" $2 ",\"a\":" $3 ",\"b\":" $4 ",\"town\":\"" $5 "\"}" }' \
    claims.csv >claims.jsonl
greedystep convert claims.csv --label claims --exposure years -o claims.gsac --quiet || fail convert
for data in claims.tsv claims.jsonl claims.gsac; do
    columns="--label claims --exposure years"
    [ $data = claims.gsac ] && columns=
    greedystep train $data $columns --loss poisson -o other.model --threads 3 --quiet || fail $data
    same csv.model other.model
done
for method in gsa paper; do
    for threads in 1 4; do
        greedystep train claims.csv --label claims --exposure years --loss poisson --method $method --passes 2 \
            --threads $threads -o $method-$threads.model --quiet || fail $method
    done
    same $method-1.model $method-4.model
done
echo "the unit of exposure changes no expected count"
awk -F , -v OFS=, 'NR > 1 { $2 *= 1024 } { print }' claims.csv >days.csv
greedystep train days.csv --label claims --exposure years --loss poisson -o days.model --quiet || fail days
greedystep predict csv.model claims.csv | cut -c 1-5 >years.txt
greedystep predict days.model days.csv | cut -c 1-5 >days.txt
same years.txt days.txt
echo "a row of count y and exposure E is one of label y / E and weight E"
awk -F , -v OFS=, -v CONVFMT=%.17g 'NR > 1 { $1 = $1 / $2 "" } { print }' claims.csv >rates.csv
sed '1s/claims,years/rate,weight/' rates.csv >weighted.csv
greedystep train weighted.csv --label rate --weight weight --loss poisson -o rates.model --quiet || fail rates
greedystep evaluate rates.model weighted.csv >rates.txt
greedystep evaluate csv.model claims.csv >counts.txt
same rates.txt counts.txt
echo "predictions are expected counts where there is an exposure, and rates where there is none"
cut -d , -f 2- claims.csv | head -n 3 >exposed.csv
cut -d , -f 3- claims.csv | head -n 3 >bare.csv
greedystep predict csv.model exposed.csv >counts.txt
greedystep predict csv.model bare.csv >rates.txt
awk 'NR == FNR { rate[FNR] = $1; next } { print ($1 / rate[FNR] - (1 + FNR) / 4) ^ 2 < 1e-12 ? "times years" : "WRONG" }' \
    rates.txt counts.txt
greedystep predict rates.model bare.csv | cut -c 1-5 >plain.txt
cut -c 1-5 rates.txt >rounded.txt
same plain.txt rounded.txt
echo "what cannot be is refused"
try greedystep train claims.csv --label claims --exposure years -o never --quiet
try greedystep train claims.csv --label claims --exposure year --loss poisson -o never --quiet
try greedystep train claims.csv --label claims --exposure years,a --loss poisson -o never --quiet
try greedystep train claims.csv --label town --exposure years --loss poisson -o never --quiet
sed '3s/,[^,]*/,0/' claims.csv >bad.csv
try greedystep train bad.csv --label claims --exposure years --loss poisson -o never --quiet
sed '4s/[^,]*/-1/' claims.csv >bad.csv
try greedystep train bad.csv --label claims --exposure years --loss poisson -o never --quiet
try greedystep evaluate csv.model bad.csv
cut -d, -f1,3- claims.csv >bare.csv
try greedystep evaluate csv.model bare.csv

echo "a prediction that no double holds is the largest one"
awk 'BEGIN { print "y,x"; for (i = 0; i < 200; i++) print int(i / 40) "," i / 100 }' >near.csv
printf 'x\n1e6\n1\n' >far.csv
greedystep train near.csv --label y --loss poisson --curves off -o near.model --quiet || fail near
try greedystep predict near.model far.csv --format jsonl
