# Several methods on the same rows: the file, its shape, and that it is what train and evaluate say.
. "$PRELUDE"
greedystep generate --rows 12000 --features 200 --nnz 10 -o all.svm
head -n 10000 all.svm >train.svm
tail -n 2000 all.svm >test.svm
try greedystep compare train.svm --test test.svm --methods paper,paper:suffix,paper:full,paper-shards:4,gsa,sgd:0.02 --passes 2 \
    --seeds 3 -o a.csv
count_lines a.csv
head -n 1 a.csv
cut -d, -f1-6 a.csv | sed -n -e 2,6p -e '$p'

echo "paper and gsa are train and evaluate, to every digit that the file has"
for what in paper:last paper:suffix paper:full gsa:recent; do
    method=${what%:*} average=${what#*:}
    for seed in 0 2; do
        greedystep train train.svm --method $method -o m --average $average --order shuffled --seed $seed --passes 2 --quiet >log ||
            fail train
        greedystep evaluate m test.svm --json >metrics || fail evaluate
        for metric in log_loss accuracy auc; do
            sed -n "s/.*\"$metric\": \([0-9.]*\).*/\1/p" metrics
        done | awk '{ printf ",%.9g", $1 }' >expected
        grep "^train.svm,$method,average=$average,2,$seed,test$(cat expected)," a.csv >found || fail "$what $seed"
        count_lines found
    done
done
step=$(greedystep train train.svm --method paper -o m --average last --seed 0 --passes 2 --quiet --json |
    sed -n 's/.*"mean_step": \([0-9.]*\).*/\1/p')
grep ',average=last,2,0,test,' a.csv | cut -d, -f10 |
    awk -v step="$step" '{ print ($1 == sprintf("%.9g", step)) ? "same step" : "DIFFERENT STEP" }'

echo "the same again, apart from the time"
greedystep compare train.svm --test test.svm --methods paper,paper:suffix,paper:full,paper-shards:4,gsa,sgd:0.02 --passes 2 \
    --seeds 3 -o b.csv >table 2>log
cut -d, -f1-10 a.csv >a.values
cut -d, -f1-10 b.csv >b.values
same a.values b.values
count_lines table
awk -F, 'NR > 1 && $11 + 0 <= 0 { print "no time:", $0 }' a.csv
awk -F, 'NR > 1 && $4 > 1 && $11 <= last[$2 $3 $5 $6] { print "time went back:", $0 } { last[$2 $3 $5 $6] = $11 }' a.csv

echo "one shard is the state itself; more are not"
greedystep compare train.svm --test test.svm --methods paper,paper-shards:1,paper-shards:7 --passes 1 --seeds 1 -o one.csv \
    --quiet >log
grep test one.csv | cut -d, -f2,3,7,8

echo "every method runs, and learns something"
greedystep help compare | sed -n '/^Methods:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p' | while read -r name; do
    case $name in
    paper | gsa | dog | coin | polyak | fregata) echo "$name" ;;
    paper-shards) echo "$name:2" ;;
    scsg) echo "$name:0.02:100" ;;
    sgd-decay) echo "$name:0.5:1000" ;;
    adadelta) echo "$name:1e-4" ;;
    schedule-free) echo "$name:0.2" ;;
    *) echo "$name:0.02" ;;
    esac
done >names
greedystep compare train.svm --test test.svm --methods "$(paste -s -d , names)" --passes 1 --seeds 1 -o all.csv \
    --quiet >log || fail "all methods"
count_lines names
awk -F, 'NR > 1 && $6 == "test" && !($8 > 0.58) { print "has learned nothing:", $2, $8 }' all.csv

echo "several files, a name with a comma, an ending of a codec, and standard output"
head -n 100 train.svm >'some,rows.svm.gz'
sed -n 101,200p train.svm >more.svm
greedystep compare some,rows.svm.gz more.svm --test test.svm --methods paper --passes 1 --seeds 1 -o - --quiet >out
sed 's/,[^,]*$//' out
greedystep compare train.svm --test test.svm --methods paper --seeds 1 --quiet --intercept off -o off.csv >log
greedystep compare train.svm --test test.svm --methods paper --seeds 1 --quiet --intercept on -o on.csv >log
cut -d, -f1-10 off.csv >off.values
cut -d, -f1-10 on.csv >on.values
different off.values on.values
