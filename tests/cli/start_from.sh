# A new run that begins with what another has learned.
. "$PRELUDE"
greedystep generate --rows 4000 --features 100 --nnz 10 -o all.svm
head -n 2000 all.svm >monday.svm
tail -n 2000 all.svm >tuesday.svm
greedystep train monday.svm -o monday --quiet >log || fail monday
try greedystep train tuesday.svm -o tuesday --start-from monday --passes 1
try greedystep inspect tuesday --top 3
greedystep train tuesday.svm -o alone --passes 1 --quiet >log || fail alone
different tuesday alone
try greedystep train tuesday.svm -o solved --start-from monday
try greedystep train tuesday.svm -o learned --start-from solved --method gsa
try greedystep train tuesday.svm -o again --start-from learned --method auto
try greedystep train tuesday.svm -o wednesday --start-from missing
rm monday.state
try greedystep train tuesday.svm -o wednesday --start-from monday
echo 'not a state' >monday.state
try greedystep train tuesday.svm -o wednesday --start-from monday
ls
