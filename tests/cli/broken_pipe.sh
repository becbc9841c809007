# A reader of standard output that ends first is not told, exit code 141; other output that cannot be written is
# reported, exit code 1.
. "$PRELUDE"
greedystep generate --rows 100000 --features 20 --nnz 5 -o data.svm
greedystep train data.svm -o m --quiet --passes 1 >log || fail train
{ greedystep predict m data.svm; echo "[exit $?]" >&2; } 2>err | head -n 1
cat err
{ greedystep generate --rows 100000 -o -; echo "[exit $?]" >&2; } 2>err | head -c 20
echo
cat err
if [ -c /dev/full ]; then
    greedystep predict m data.svm >/dev/full
    echo "[exit $?]"
    head -n 10 data.svm >short.svm
    greedystep predict m short.svm >/dev/full
    echo "[exit $?]"
    greedystep predict m short.svm -o /dev/full
    echo "[exit $?]"
    greedystep inspect m --json >/dev/full
    echo "[exit $?]"
    greedystep --help >/dev/full
    echo "[exit $?]"
    greedystep generate -o /dev/full
    echo "[exit $?]"
fi
