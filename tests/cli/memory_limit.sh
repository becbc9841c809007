# A table that would take more than the limit is refused, with what to do.
. "$PRELUDE"
# How much is in use depends on the sizes of structs.
try_limit() { try "$@" 2>&1 | sed -E 's/[0-9.]+ [KM]iB are in use/SOME are in use/'; }
printf '1 1:1 4000000000:1\n0 2:1\n' >huge.svm
try greedystep train huge.svm -o m --memory-limit 64M
try_limit greedystep train huge.svm -o m --memory_limit=1_000_000
printf '1 1:1 1000:1\n0 2:1\n' >small.svm
try greedystep train small.svm -o m --memory-limit 64M
try greedystep train small.svm -o m --memory-limit none
try greedystep train small.svm -o m --memory-limit 8 --order file
# The folds of a solution count together.
greedystep generate --rows 1000 --features 300000 --nnz 100 -o wide.svm --quiet
try_limit greedystep train wide.svm -o m --memory-limit 16M --threads 1
greedystep train wide.svm -o m --memory-limit 256M --quiet >log && echo "fine with more"
# The limit never chooses the method: the message does what it says.
greedystep generate --rows 60000 --features 5000 --nnz 20 -o long.svm --quiet
try_line "greedystep train long.svm -o m --memory-limit 28M 2>&1 | grep -oE '^[^:]*: [^:]*|choose.*'"
greedystep train long.svm -o m --memory-limit 28M --method gsa --quiet >log && echo "fine with --method gsa"
awk 'BEGIN { print "y,a,b"; for (i = 0; i < 3000; i++) print (i % 3 ? "no" : "yes") ",w" i % 500 "," i % 7 }' >words.csv
for method in auto gsa; do
    try_line "greedystep train words.csv --label y -o m --memory-limit 64M --method $method -q 2>&1 | grep -o 'above.*'"
    greedystep train words.csv --label y -o m --memory-limit 64M --method $method --bits 19 --quiet >log && echo "fine with --bits 19"
done
