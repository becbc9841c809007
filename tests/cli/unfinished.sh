# What a run that was killed while it saved has left is removed by the next with the same model, and nothing else is.
. "$PRELUDE"
greedystep generate --rows 200 --features 20 --nnz 5 -o data.svm
mkdir there kept
: >there/.m.abc123.tmp
: >there/.m.state.abc123.tmp
: >there/.mm.abc123.tmp
: >there/.m.notours.tmp
: >there/m.abc123.tmp
: >kept/.m.state.abc123.tmp
: >kept/.m.state.old.abc123.tmp
: >.m.abc123.tmp
greedystep train data.svm -o there/m --checkpoint kept --quiet >log || fail train
find there kept . -maxdepth 1 -type f -name '*.tmp' | sort
greedystep train data.svm -o m --quiet >log || fail train
absent .m.abc123.tmp
