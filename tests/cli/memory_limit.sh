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
