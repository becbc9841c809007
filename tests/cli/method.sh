# The methods of train: what auto chooses, and what each refuses; gsa learns small files as it learns streams.
. "$PRELUDE"
greedystep generate --rows 70000 --features 50 --nnz 8 -o long.svm
head -n 2000 long.svm >2000.svm
head -n 150 long.svm >150.svm
head -n 12 long.svm >12.svm

# What a run says, without its time.
learn()
{
    try greedystep train "$@" 2>&1 | grep -v "^pass " | grep -v '^time'
}

for n in 12 150 2000; do
    echo "$n rows"
    learn $n.svm -o m --method gsa
    cat $n.svm | greedystep train - -o stream --method gsa --passes 1 --quiet >log || fail stream
    greedystep train $n.svm -o file --method gsa --passes 1 --order file --quiet >log || fail file
    same stream file
    same stream.state file.state
done
greedystep inspect m | grep '^method'
greedystep evaluate m long.svm | grep '^log_loss'

echo "one class, numbers, and rows that are all held out"
sed 's/^[^ ]*/1/' 150.svm >one.svm
learn one.svm -o m --method gsa
awk '{ $1 = 10 + NR % 7 + substr($2, index($2, ":") + 1); print }' 150.svm >numbers.svm
learn numbers.svm -o m --method gsa --loss squared
for label in 1 1 0 1 1 1; do echo "$label 5:1"; done >held.svm
learn held.svm -o m --method gsa
greedystep predict m held.svm | uniq

echo "auto solves files that fit in memory, and gsa learns streams"
learn 2000.svm -o auto
learn 2000.svm -o optimum --method optimum
same auto optimum
cat 2000.svm | try greedystep train - -o stream | paragraph model
cat 2000.svm | try greedystep train - -o stream --method optimum | paragraph model
same stream optimum
greedystep inspect auto | grep '^method'

echo "neither the seed, the order of rows, the threads nor copies of all rows change an optimum"
greedystep train 2000.svm -o seed --seed 7 --threads 3 --quiet >log || fail seed
same seed optimum
sort 2000.svm >sorted.svm
greedystep train sorted.svm -o sorted --quiet >log || fail sorted
same sorted optimum
cat 2000.svm 2000.svm 2000.svm >copies.svm
greedystep train copies.svm -o copies --quiet >log || fail copies
same copies optimum

echo "options of greedy step averaging choose it, or are refused"
# Averages of the paper's method are no others'.
for method in auto gsa optimum; do
    try greedystep train 2000.svm -o refused --method $method --average full
done
for option in "--passes 2" "--average last" "--holdout none" "--order file"; do
    greedystep train 2000.svm -o m $option 2>log | paragraph model
    try greedystep train 2000.svm -o refused --method optimum $option --quiet
    absent refused
done

echo "auto and gsa merge, paper does not"
tail -n 2000 long.svm >other.svm
greedystep train 2000.svm -o auto --quiet >log || fail auto
for method in gsa paper; do
    greedystep train other.svm -o $method --method $method --quiet >log || fail $method
done
greedystep merge auto gsa -o merged >log || fail merge
try greedystep merge auto paper -o refused
absent refused
try greedystep train 12.svm -o refused --method team
absent refused
